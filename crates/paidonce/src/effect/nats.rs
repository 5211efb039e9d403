//! NATS JetStream: published under a message id, done when the stream has acknowledged.
//!
//! JetStream drops a repeated message id for as long as the stream's `duplicate_window`. That is read for every
//! connection: a stream that forgets earlier than the ledger was told gets nothing (P11).

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_nats::client::{Request, RequestErrorKind};
use async_nats::connection::State;
use async_nats::jetstream::context::GetStreamByNameErrorKind;
use async_nats::{Auth, AuthError, Client, ConnectOptions, HeaderMap, jetstream};
use paidonce_contracts::Secret;
use paidonce_engine::{Answer, Answering, Destination, News, Sending};
use serde::Deserialize;

use super::answer::{Mask, done, not_configured, refused, retry, shown, uncertain};
use super::broker::{self, Head};
use super::deadline::by;
use super::link::Link;
use super::login::Login;
use super::parcel::Parcel;
use super::template::Template;

/// How long making a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// JetStream's code for a message that is larger than its stream allows.
const TOO_LARGE_FOR_STREAM: u64 = 10_054;

/// How a NATS server is told who asks.
#[derive(Debug, Clone)]
pub enum NatsAuth {
    /// Nobody in particular.
    Open,
    /// A name and a password.
    Login(Login),
    /// A token.
    Token(Secret),
}

/// Which server.
#[derive(Debug, Clone)]
pub struct NatsServer {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Whether it must be spoken to over TLS. (It may insist by itself.)
    pub tls: bool,
    /// A file of certificates in PEM that are trusted besides the system's.
    pub ca_file: Option<PathBuf>,
    /// Who asks.
    pub auth: NatsAuth,
}

/// What `kind = "nats"` needs.
#[derive(Debug, Clone)]
pub struct NatsSettings {
    /// Which server; `None` while that is not configured.
    pub server: Option<NatsServer>,
    /// The template of the subject, such as `paidonce.{{ happening }}`.
    pub subject: Template,
    /// For how long the stream must know a message id again: the ledger's key window.
    pub key_window: Duration,
}

/// Messages by NATS JetStream.
pub struct Nats {
    settings: NatsSettings,
    link: Link<Connected>,
}

#[derive(Clone)]
struct Connected {
    client: Client,
    /// The subjects whose streams were found to remember for long enough.
    checked: Arc<Mutex<BTreeSet<String>>>,
}

/// What JetStream says to a message.
#[derive(Deserialize)]
#[serde(untagged)]
enum Said {
    No {
        error: Error,
    },
    Yes {
        stream: String,
        seq: u64,
        #[serde(default)]
        duplicate: bool,
    },
}

#[derive(Deserialize)]
struct Error {
    #[serde(default)]
    err_code: u64,
    #[serde(default)]
    description: String,
}

impl Nats {
    /// Keeps the settings; connects when the first message is sent.
    #[must_use]
    pub fn new(settings: NatsSettings) -> Self {
        Self { settings, link: Link::default() }
    }

    async fn deliver(&self, sending: Sending) -> Answer {
        let Some(server) = &self.settings.server else {
            return shown(not_configured("no NATS server is configured"), []);
        };
        let parcel = match Parcel::<Head>::unpack(sending.body.bytes()) {
            Ok(parcel) => parcel,
            Err(error) => return shown(refused(error), []),
        };
        let left = AtomicBool::new(false);
        let answer = match by(sending.deadline, self.publish(server, &sending, parcel, &left)).await {
            Some(answer) => answer,
            None if left.load(Ordering::Relaxed) => {
                // Whoever is silent once is not asked again over the same connection.
                self.link.forget();
                uncertain("it was published, and the stream acknowledged nothing in time")
            }
            None => retry("no time was left to publish it: the server is slow or silent"),
        };
        shown(answer, server.auth.secret().map(Mask::Secret))
    }

    async fn publish(
        &self,
        server: &NatsServer,
        sending: &Sending,
        parcel: Parcel<Head>,
        left: &AtomicBool,
    ) -> Answer {
        let alive = |connected: &Connected| connected.client.connection_state() == State::Connected;
        let connected = match self.link.get(Instant::now(), alive, server.connect()).await {
            Ok(connected) => connected,
            Err(why) => return retry(why),
        };
        let subject = parcel.head.to.clone();
        if let Err(why) = connected.check(&subject, self.settings.key_window).await {
            return retry(why);
        }
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Msg-Id", sending.key.as_str());
        for (name, value) in broker::headers(&parcel.head, sending) {
            headers.insert(name, value.as_str());
        }
        let request = Request::new().headers(headers).payload(parcel.content.into()).timeout(None);
        left.store(true, Ordering::Relaxed);
        match connected.client.send_request(subject.clone(), request).await {
            Ok(message) => acknowledged(&message.payload),
            Err(error) => match error.kind() {
                RequestErrorKind::NoResponders => retry(no_stream(&subject)),
                RequestErrorKind::MaxPayloadExceeded => {
                    refused(format!("the server takes no message so large: {error}"))
                }
                RequestErrorKind::InvalidSubject => refused(format!("{subject}: {error}")),
                RequestErrorKind::TimedOut | RequestErrorKind::Other => {
                    uncertain(format!("the connection was lost before the stream acknowledged: {error}"))
                }
            },
        }
    }
}

impl Destination for Nats {
    fn render(&self, news: &News) -> Result<Vec<u8>, String> {
        broker::render(&self.settings.subject, news)
    }

    fn send(&self, sending: Sending) -> Answering<'_> {
        Box::pin(self.deliver(sending))
    }
}

impl NatsAuth {
    fn secret(&self) -> Option<&Secret> {
        match self {
            Self::Open => None,
            Self::Login(login) => Some(&login.password),
            Self::Token(token) => Some(token),
        }
    }

    fn auth(&self) -> Auth {
        let mut auth = Auth::new();
        match self {
            Self::Open => {}
            Self::Login(login) => {
                auth.username = Some(login.user.clone());
                auth.password = Some(login.password.expose().to_owned());
            }
            Self::Token(token) => auth.token = Some(token.expose().to_owned()),
        }
        auth
    }
}

impl NatsServer {
    async fn connect(&self) -> Result<Connected, String> {
        // The client would keep what it could not send and send it whenever it is connected again, long after the
        // deadline. So a connection logs in once, and one that is lost is given up: the next message makes another.
        let (auth, used) = (self.auth.auth(), AtomicBool::new(false));
        let log_in_once = move |_| {
            let first = !used.swap(true, Ordering::Relaxed);
            let auth = first.then(|| auth.clone());
            async move { auth.ok_or_else(|| AuthError::new("a lost connection is not taken up again")) }
        };
        let mut options = ConnectOptions::with_auth_callback(log_in_once)
            .name("paidonce")
            .require_tls(self.tls)
            .connection_timeout(CONNECT_TIMEOUT)
            .ignore_discovered_servers()
            .max_reconnects(1);
        if let Some(file) = &self.ca_file {
            options = options.add_root_certificates(file.clone());
        }
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        let connected = options.connect(format!("nats://{host}:{}", self.port)).await;
        let client = connected.map_err(|error| {
            let cause = std::error::Error::source(&error).map_or(String::new(), |cause| format!(": {cause}"));
            format!("no connection: {error}{cause}")
        })?;
        Ok(Connected { client, checked: Arc::default() })
    }
}

impl Connected {
    /// Whether a stream takes this subject and remembers message ids for long enough.
    async fn check(&self, subject: &str, key_window: Duration) -> Result<(), String> {
        if self.checked().contains(subject) {
            return Ok(());
        }
        let context = jetstream::new(self.client.clone());
        let name = context.stream_by_subject(subject).await.map_err(|error| match error.kind() {
            GetStreamByNameErrorKind::NotFound => no_stream(subject),
            _ => format!("the streams cannot be asked for: {error}"),
        })?;
        let stream = context.get_stream(&name).await.map_err(|error| format!("stream {name}: {error}"))?;
        let window = stream.cached_info().config.duplicate_window;
        if window < key_window {
            let (window, wanted) = (window.as_secs(), key_window.as_secs());
            return Err(format!(
                "stream {name} forgets message ids after {window} s (duplicate_window), and {wanted} s are \
                 configured (key_window_s)"
            ));
        }
        self.checked().insert(subject.to_owned());
        Ok(())
    }

    fn checked(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.checked.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn no_stream(subject: &str) -> String {
    format!("no JetStream stream takes the subject {subject}")
}

/// What the stream said.
fn acknowledged(payload: &[u8]) -> Answer {
    match serde_json::from_slice(payload) {
        Ok(Said::Yes { stream, seq, duplicate: false }) => done(format!("stream {stream}, message {seq}")),
        Ok(Said::Yes { stream, seq, duplicate: true }) => {
            done(format!("stream {stream} has it already, as message {seq}"))
        }
        Ok(Said::No { error }) if error.err_code == TOO_LARGE_FOR_STREAM => {
            refused(format!("the stream takes no message so large: {}", error.description))
        }
        Ok(Said::No { error }) => {
            retry(format!("the stream did not take it: {} ({})", error.description, error.err_code))
        }
        Err(_) => uncertain("something that is no stream answered: is a service subscribed to this subject?"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_stream_says() {
        for (payload, expected) in [
            (r#"{"stream":"S","seq":7}"#, "done: stream S, message 7"),
            (r#"{"stream":"S","seq":7,"duplicate":true}"#, "done: stream S has it already, as message 7"),
            (
                r#"{"error":{"code":400,"err_code":10054,"description":"message size exceeds maximum allowed"}}"#,
                "refused: the stream takes no message so large",
            ),
            (
                r#"{"error":{"code":400,"err_code":10077,"description":"maximum messages exceeded"},"stream":"S","seq":0}"#,
                "retry: the stream did not take it: maximum messages exceeded (10077)",
            ),
            (r#"{"error":{}}"#, "retry: the stream did not take it"),
            ("+OK", "uncertain: something that is no stream answered"),
            ("{}", "uncertain: something that is no stream answered"),
        ] {
            let answer = acknowledged(payload.as_bytes());
            let said = format!("{}: {}", answer.outcome.as_str(), answer.detail);
            assert!(said.starts_with(expected), "{payload}: {said}");
        }
    }
}
