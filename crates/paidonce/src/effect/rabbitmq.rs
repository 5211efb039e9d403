//! RabbitMQ: published persistent and mandatory, done when the broker has confirmed. AMQP has no keys, so what may have
//! been taken is not published again by itself (P11).
//!
//! One connection, and on it one channel for each message in flight. A confirm and a returned message name no message
//! of ours that the client library could tell apart when several share a channel: it hands a return to whichever
//! confirm comes next, so that an unroutable message could pass for delivered. A channel that carries one message at a
//! time cannot mistake it, and an error that closes a channel is that message's own.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lapin::options::{BasicPublishOptions, ConfirmSelectOptions, ExchangeDeclareOptions};
use lapin::protocol::{AMQPErrorKind, AMQPSoftError};
use lapin::tcp::OwnedTLSConfig;
use lapin::types::{AMQPValue, FieldTable, ShortString};
use lapin::uri::{AMQPAuthority, AMQPQueryString, AMQPScheme, AMQPUri, AMQPUserInfo};
use lapin::{
    BasicProperties, Channel, Confirmation, Connection, ConnectionProperties, ErrorKind, ExchangeKind,
};
use paidonce_engine::{Answer, Answering, Destination, News, Sending};

use super::answer::{Mask, done, not_configured, refused, retry, shown, uncertain};
use super::broker::{self, Head};
use super::certificate;
use super::deadline::by;
use super::link::Link;
use super::login::Login;
use super::parcel::Parcel;
use super::template::Template;

/// How long making a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Seconds between signs of life: two that fail to come end the connection.
const HEARTBEAT_S: u16 = 10;
/// AMQP's mark of a message that is written to disk.
const PERSISTENT: u8 = 2;

/// Which broker.
#[derive(Debug, Clone)]
pub struct RabbitServer {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Whether it is spoken to over TLS.
    pub tls: bool,
    /// A file of certificates in PEM that are trusted besides the system's.
    pub ca_file: Option<PathBuf>,
    /// The virtual host.
    pub vhost: String,
    /// Who asks.
    pub login: Login,
}

/// What `kind = "rabbitmq"` needs.
#[derive(Debug, Clone)]
pub struct RabbitSettings {
    /// Which broker; `None` while that is not configured.
    pub server: Option<RabbitServer>,
    /// The exchange, which must exist; empty for the default one.
    pub exchange: String,
    /// The template of the routing key, such as `paidonce.{{ happening }}`.
    pub routing_key: Template,
}

/// Messages by RabbitMQ.
pub struct Rabbit {
    settings: RabbitSettings,
    link: Link<Connected>,
}

#[derive(Clone)]
struct Connected {
    connection: Arc<Connection>,
    /// Channels that carry nothing at present.
    idle: Arc<Mutex<Vec<Channel>>>,
}

impl Rabbit {
    /// Keeps the settings; connects when the first message is sent.
    #[must_use]
    pub fn new(settings: RabbitSettings) -> Self {
        Self { settings, link: Link::default() }
    }

    async fn deliver(&self, sending: Sending) -> Answer {
        let Some(server) = &self.settings.server else {
            return shown(not_configured("no RabbitMQ broker is configured"), []);
        };
        let parcel = match Parcel::<Head>::unpack(sending.body.bytes()) {
            Ok(parcel) => parcel,
            Err(error) => return shown(refused(error), []),
        };
        let left = AtomicBool::new(false);
        let answer = match by(sending.deadline, self.publish(server, &sending, &parcel, &left)).await {
            Some(answer) => answer,
            None if left.load(Ordering::Relaxed) => {
                // Whoever is silent once is not asked again over the same connection.
                self.link.forget();
                uncertain("it was published, and the broker confirmed nothing in time")
            }
            None => retry("no time was left to publish it: the broker is slow or silent"),
        };
        shown(answer, [Mask::Secret(&server.login.password)])
    }

    async fn publish(
        &self,
        server: &RabbitServer,
        sending: &Sending,
        parcel: &Parcel<Head>,
        left: &AtomicBool,
    ) -> Answer {
        let alive = |connected: &Connected| connected.connection.status().connected();
        let connected = match self.link.get(Instant::now(), alive, server.connect()).await {
            Ok(connected) => connected,
            Err(why) => return retry(why),
        };
        if connected.connection.status().blocked() {
            return retry("the broker takes nothing at present: it is short of memory or disk");
        }
        let channel = match connected.channel(&self.settings.exchange).await {
            Ok(channel) => channel,
            Err(why) => return retry(why),
        };
        let exchange = ShortString::from(self.settings.exchange.clone());
        let routing_key = ShortString::from(parcel.head.to.clone());
        let options = BasicPublishOptions { mandatory: true, immediate: false };
        let properties = properties(&parcel.head, sending);
        left.store(true, Ordering::Relaxed);
        let published = channel.basic_publish(exchange, routing_key, options, &parcel.content, properties);
        let confirmed = match published.await {
            Ok(confirm) => confirm.await,
            Err(error) => Err(error),
        };
        if confirmed.is_ok() {
            connected.idle().push(channel);
        }
        meaning(confirmed, &parcel.head.to)
    }
}

impl Destination for Rabbit {
    fn render(&self, news: &News) -> Result<Vec<u8>, String> {
        broker::render(&self.settings.routing_key, news)
    }

    fn send(&self, sending: Sending) -> Answering<'_> {
        Box::pin(self.deliver(sending))
    }
}

impl RabbitServer {
    async fn connect(&self) -> Result<Connected, String> {
        let uri = AMQPUri {
            scheme: if self.tls { AMQPScheme::AMQPS } else { AMQPScheme::AMQP },
            authority: AMQPAuthority {
                userinfo: AMQPUserInfo {
                    username: self.login.user.clone(),
                    password: self.login.password.expose().to_owned(),
                },
                host: self.host.clone(),
                port: self.port,
            },
            vhost: self.vhost.clone(),
            query: AMQPQueryString { heartbeat: Some(HEARTBEAT_S), ..AMQPQueryString::default() },
        };
        let cert_chain = self.ca_file.as_deref().map(certificate::read).transpose()?;
        let tls = OwnedTLSConfig { identity: None, cert_chain };
        let properties = ConnectionProperties::default().with_connection_name("paidonce".into());
        let runtime = lapin::runtime::default_runtime().map_err(|error| error.to_string())?;
        let connecting = Connection::connect_uri_with_config(uri, properties, tls, runtime);
        let connected = tokio::time::timeout(CONNECT_TIMEOUT, connecting).await;
        let connection = connected
            .map_err(|_| "no connection: the broker said nothing in time".to_owned())?
            .map_err(|error| format!("no connection: {error}"))?;
        Ok(Connected { connection: Arc::new(connection), idle: Arc::default() })
    }
}

impl Connected {
    fn idle(&self) -> MutexGuard<'_, Vec<Channel>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A channel that carries nothing, on which the broker confirms, and for which the exchange was seen.
    async fn channel(&self, exchange: &str) -> Result<Channel, String> {
        let idle = {
            let mut idle = self.idle();
            idle.retain(|channel| channel.status().connected());
            idle.pop()
        };
        if let Some(channel) = idle {
            return Ok(channel);
        }
        let channel =
            self.connection.create_channel().await.map_err(|error| format!("no channel: {error}"))?;
        if !exchange.is_empty() {
            let passive = ExchangeDeclareOptions { passive: true, ..ExchangeDeclareOptions::default() };
            let kind = ExchangeKind::Direct;
            let seen = channel.exchange_declare(exchange.into(), kind, passive, FieldTable::default()).await;
            seen.map_err(|error| format!("the exchange {exchange}: {error}"))?;
        }
        let confirms = channel.confirm_select(ConfirmSelectOptions::default()).await;
        confirms.map_err(|error| format!("the broker does not confirm: {error}"))?;
        Ok(channel)
    }
}

fn properties(head: &Head, sending: &Sending) -> BasicProperties {
    let mut headers = FieldTable::default();
    for (name, value) in broker::headers(head, sending) {
        headers.insert(name.into(), AMQPValue::LongString(value.into()));
    }
    let at_s = u64::try_from(head.at_ms / 1_000).unwrap_or(0);
    BasicProperties::default()
        .with_message_id(sending.key.clone().into())
        .with_type(head.happening.clone().into())
        .with_app_id("paidonce".into())
        .with_content_type("application/json".into())
        .with_delivery_mode(PERSISTENT)
        .with_timestamp(at_s)
        .with_headers(headers)
}

/// What the broker's confirm, or its failing, means.
fn meaning(confirmed: lapin::Result<Confirmation>, routing_key: &str) -> Answer {
    match confirmed {
        Ok(Confirmation::Ack(None)) => done("confirmed"),
        Ok(Confirmation::Ack(Some(returned)) | Confirmation::Nack(Some(returned))) => retry(format!(
            "returned: no queue takes the routing key {routing_key} ({} {})",
            returned.reply_code, returned.reply_text
        )),
        Ok(Confirmation::Nack(None)) => retry("the broker could not keep it (nack)"),
        Ok(Confirmation::NotRequested) => uncertain("the broker was not asked to confirm"),
        Err(error) => {
            let detail = format!("{error}");
            match error.kind() {
                // Nothing was written to a channel that was not open.
                ErrorKind::InvalidChannelState(..) | ErrorKind::InvalidConnectionState(_) => retry(detail),
                // The broker closed the channel because of what was published on it: it was not taken.
                ErrorKind::ProtocolError(said) => match said.kind() {
                    AMQPErrorKind::Soft(AMQPSoftError::CONTENTTOOLARGE) => refused(detail),
                    AMQPErrorKind::Soft(AMQPSoftError::NOTFOUND | AMQPSoftError::ACCESSREFUSED) => {
                        retry(detail)
                    }
                    _ => uncertain(detail),
                },
                _ => uncertain(format!("the connection was lost before the broker confirmed: {detail}")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use lapin::protocol::AMQPError;

    use super::*;

    #[test]
    fn what_a_confirm_or_its_failing_means() {
        let soft = |kind: AMQPSoftError| {
            Err(lapin::Error::from(ErrorKind::ProtocolError(AMQPError::new(kind.into(), "because".into()))))
        };
        let lost = || {
            let cause = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
            Err(lapin::Error::from(ErrorKind::IOError(Arc::new(cause))))
        };
        for (confirmed, outcome) in [
            (Ok(Confirmation::Ack(None)), "done"),
            (Ok(Confirmation::Nack(None)), "retry"),
            (Ok(Confirmation::NotRequested), "uncertain"),
            (soft(AMQPSoftError::NOTFOUND), "retry"),
            (soft(AMQPSoftError::ACCESSREFUSED), "retry"),
            (soft(AMQPSoftError::CONTENTTOOLARGE), "refused"),
            (soft(AMQPSoftError::PRECONDITIONFAILED), "uncertain"),
            (lost(), "uncertain"),
        ] {
            let answer = meaning(confirmed, "orders");
            assert_eq!(answer.outcome.as_str(), outcome, "{}", answer.detail);
        }
    }
}
