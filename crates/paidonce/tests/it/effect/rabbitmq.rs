//! RabbitMQ: a real broker, cut off and restored by a proxy.

use std::net::TcpListener;
use std::sync::Arc;

use lapin::message::BasicGetMessage;
use lapin::options::{
    BasicGetOptions, ExchangeDeclareOptions, ExchangeDeleteOptions, QueueBindOptions, QueueDeclareOptions,
    QueueDeleteOptions,
};
use lapin::types::{AMQPValue, FieldTable, ShortString};
use lapin::{Connection, ConnectionProperties, ExchangeKind};
use paidonce::effect::login::Login;
use paidonce::effect::rabbitmq::{Rabbit, RabbitServer, RabbitSettings};
use paidonce::effect::template::{Template, Writes};
use paidonce_contracts::Secret;
use paidonce_engine::News;
use paidonce_ledger::Outcome;
use rustls::ServerConfig;
use tokio_rustls::TlsAcceptor;

use super::news::paid;
use super::proxy::Proxy;
use super::sink::certificate;
use super::{Kept, SHORT, is_retry, said, sending, server, unique};

/// An exchange of its own on the broker, with one queue.
struct Place {
    host: String,
    port: u16,
    name: String,
    runtime: tokio::runtime::Runtime,
    connection: Connection,
}

impl Place {
    /// `keys` are what the queue is bound to; `arguments` are the queue's.
    fn open(keys: &[String], arguments: FieldTable) -> Option<Self> {
        let (host, port) = server("PAIDONCE_TEST_RABBITMQ", 5672)?;
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let name = unique("rabbitmq");
        let connection = runtime.block_on(async {
            let url = format!("amqp://guest:guest@{host}:{port}/%2f");
            let connection = Connection::connect(&url, ConnectionProperties::default()).await.unwrap();
            let channel = connection.create_channel().await.unwrap();
            let short = ShortString::from(name.clone());
            let durable = ExchangeDeclareOptions { durable: true, ..Default::default() };
            let (kind, none) = (ExchangeKind::Topic, FieldTable::default());
            channel.exchange_declare(short.clone(), kind, durable, none.clone()).await.unwrap();
            let durable = QueueDeclareOptions { durable: true, ..Default::default() };
            channel.queue_declare(short.clone(), durable, arguments).await.unwrap();
            for key in keys {
                let (exchange, options) = (short.clone(), QueueBindOptions::default());
                let key = ShortString::from(key.clone());
                channel.queue_bind(short.clone(), exchange, key, options, none.clone()).await.unwrap();
            }
            connection
        });
        Some(Self { host, port, name, runtime, connection })
    }

    fn everything() -> Option<Self> {
        Self::open(&["#".to_owned()], FieldTable::default())
    }

    fn at(&self, port: u16) -> RabbitServer {
        let login = Login { user: "guest".to_owned(), password: Secret::new("guest") };
        let (host, vhost) = (self.host.clone(), "/".to_owned());
        RabbitServer { host, port, tls: false, ca_file: None, vhost, login }
    }

    fn sender(&self, server: RabbitServer, exchange: &str) -> Kept<Rabbit> {
        Kept::new(rabbit(Some(server), exchange))
    }

    fn through(&self, proxy: &Proxy) -> Kept<Rabbit> {
        self.sender(RabbitServer { host: "127.0.0.1".to_owned(), ..self.at(proxy.port) }, &self.name)
    }

    /// Takes everything out of the queue.
    fn messages(&self) -> Vec<BasicGetMessage> {
        self.runtime.block_on(async {
            let channel = self.connection.create_channel().await.unwrap();
            let mut all = Vec::new();
            let options = BasicGetOptions { no_ack: true };
            while let Some(message) = channel.basic_get(self.name.as_str().into(), options).await.unwrap() {
                all.push(message);
            }
            all
        })
    }

    fn ids(&self) -> Vec<String> {
        let id = |message: &BasicGetMessage| message.properties.message_id().as_ref().unwrap().to_string();
        let mut ids: Vec<_> = self.messages().iter().map(id).collect();
        ids.sort();
        ids
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.runtime.block_on(async {
            let Ok(channel) = self.connection.create_channel().await else { return };
            let name = ShortString::from(self.name.clone());
            let _ = channel.queue_delete(name.clone(), QueueDeleteOptions::default()).await;
            let _ = channel.exchange_delete(name, ExchangeDeleteOptions::default()).await;
        });
    }
}

fn rabbit(server: Option<RabbitServer>, exchange: &str) -> Rabbit {
    let source = "{{ happening }}.{{ order.id }}".to_owned();
    let routing_key = Template::parse("routing_key", source, Writes::Text).unwrap();
    Rabbit::new(RabbitSettings { server, exchange: exchange.to_owned(), routing_key })
}

fn keys(all: &[News]) -> Vec<String> {
    let mut keys: Vec<_> = all.iter().map(|news| news.key.clone()).collect();
    keys.sort();
    keys
}

#[test]
fn a_message_is_persistent_and_carries_its_key_and_revision() {
    let Some(place) = Place::everything() else { return };
    let sender = place.sender(place.at(place.port), &place.name);
    let news = paid("order-1", Some("customer-7"));
    let answer = sender.send(&news);
    assert_eq!(said(&answer), "done: confirmed");
    let messages = place.messages();
    let [message] = &messages[..] else { panic!("{} messages", messages.len()) };
    assert_eq!(message.routing_key.to_string(), "order_paid.order-1");
    let properties = &message.properties;
    assert_eq!(properties.message_id().as_ref().unwrap().to_string(), news.key);
    assert_eq!(*properties.delivery_mode(), Some(2));
    assert_eq!(properties.kind().as_ref().unwrap().to_string(), "order_paid");
    assert_eq!(properties.content_type().as_ref().unwrap().to_string(), "application/json");
    assert_eq!(*properties.timestamp(), Some(1_772_366_400));
    let headers = properties.headers().as_ref().unwrap().inner();
    for (name, value) in [
        ("Idempotency-Key", news.key.as_str()),
        ("Paidonce-Revision", "3"),
        ("Paidonce-Happening", "order_paid"),
    ] {
        let found = headers.get(&ShortString::from(name));
        assert_eq!(found, Some(&AMQPValue::LongString(value.into())), "{name}");
    }
    let payload: serde_json::Value = serde_json::from_slice(&message.data).unwrap();
    assert_eq!(payload["order"]["id"], "order-1");
    assert_eq!(payload["revision"], 3);
}

#[test]
fn of_many_in_flight_each_has_its_own_outcome() {
    let orders: Vec<_> = (0..60).map(|n| paid(&format!("order-{n}"), None)).collect();
    // Every third is bound; the others are returned while those are confirmed.
    let bound: Vec<_> = (0..60).step_by(3).map(|n| format!("order_paid.order-{n}")).collect();
    let Some(place) = Place::open(&bound, FieldTable::default()) else { return };
    let sender = place.sender(place.at(place.port), &place.name);
    for _ in 0..3 {
        for (n, answer) in sender.send_together(&orders).iter().enumerate() {
            if n % 3 == 0 {
                assert_eq!(said(answer), "done: confirmed", "order-{n}");
            } else {
                let right = is_retry(answer) && answer.detail.contains(&format!("order_paid.order-{n} (312"));
                assert!(right, "order-{n}: {}", said(answer));
            }
        }
        let arrived: Vec<_> = orders.iter().step_by(3).cloned().collect();
        assert_eq!(place.ids(), keys(&arrived));
    }
}

#[test]
fn what_the_broker_does_not_keep_is_tried_later() {
    let mut arguments = FieldTable::default();
    arguments.insert("x-max-length".into(), AMQPValue::LongInt(1));
    arguments.insert("x-overflow".into(), AMQPValue::LongString("reject-publish".into()));
    let Some(place) = Place::open(&["#".to_owned()], arguments) else { return };
    let sender = place.sender(place.at(place.port), &place.name);
    assert_eq!(sender.send(&paid("order-1", None)).outcome, Outcome::Done);
    let full = sender.send(&paid("order-2", None));
    assert!(is_retry(&full) && full.detail.contains("nack"), "{}", said(&full));
    assert_eq!(place.messages().len(), 1);
    assert_eq!(sender.send(&paid("order-2", None)).outcome, Outcome::Done, "there is room again");
}

#[test]
fn what_stands_in_the_way_is_said_and_nothing_has_left() {
    let Some(place) = Place::everything() else { return };
    let missing = place.sender(place.at(place.port), "paidonce-no-such-exchange");
    let answer = missing.send(&paid("order-1", None));
    assert!(is_retry(&answer) && answer.detail.contains("no-such-exchange"), "{}", said(&answer));
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let nobody = place.sender(place.at(free), &place.name).send(&paid("order-1", None));
    assert!(is_retry(&nobody) && nobody.detail.starts_with("no connection"), "{}", said(&nobody));
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let sender = place.sender(place.at(silent.local_addr().unwrap().port()), &place.name);
    let waiting = sender.send_within(&sending(&sender.to, &paid("order-1", None)), SHORT);
    assert!(is_retry(&waiting) && waiting.detail.starts_with("no time was left"), "{}", said(&waiting));
    let login = Login { user: "guest".to_owned(), password: Secret::new("wrong-horse") };
    let wrong = RabbitServer { login, ..place.at(place.port) };
    assert!(!format!("{wrong:?}").contains("wrong-horse"));
    let answer = place.sender(wrong, &place.name).send(&paid("order-1", None));
    assert!(is_retry(&answer) && !answer.detail.contains("wrong-horse"), "{}", said(&answer));
    assert!(place.messages().is_empty());
}

#[test]
fn not_configured_is_said() {
    let sender = Kept::new(rabbit(None, ""));
    assert_eq!(sender.send(&paid("order-1", None)).outcome, Outcome::NotConfigured);
}

#[test]
fn p11_a_lost_confirm_is_uncertain() {
    let Some(place) = Place::everything() else { return };
    let proxy = Proxy::to(place.host.clone(), place.port);
    let sender = place.through(&proxy);
    assert_eq!(sender.send(&paid("order-0", None)).outcome, Outcome::Done);
    proxy.lose_the_answer();
    let news = paid("order-1", None);
    let lost = sender.send(&news);
    assert_eq!(lost.outcome, Outcome::Uncertain, "{}", said(&lost));
    assert_eq!(place.ids(), keys(&[paid("order-0", None), news]), "it had arrived");
}

#[test]
fn a_broker_that_was_away_gets_everything() {
    let Some(place) = Place::everything() else { return };
    let proxy = Proxy::to(place.host.clone(), place.port);
    let sender = place.through(&proxy);
    let orders: Vec<_> = (0..20).map(|n| paid(&format!("order-{n}"), None)).collect();
    assert_eq!(sender.send(&orders[0]).outcome, Outcome::Done);
    sender.send_while_cut(&proxy, &orders[1..]);
    assert_eq!(place.ids(), keys(&orders[..1]), "what was a retry has not been sent by anybody else");
    proxy.restore();
    assert_eq!(sender.send_until_done(&orders[1]).outcome, Outcome::Done);
    for (answer, news) in sender.send_together(&orders[2..]).iter().zip(&orders[2..]) {
        assert_eq!(answer.outcome, Outcome::Done, "{} {}", news.key, said(answer));
    }
    assert_eq!(place.ids(), keys(&orders[1..]));
}

/// TLS before the broker, which has none here. Ends with the runtime.
async fn tls_front(place: &Place, tls: Arc<ServerConfig>) -> u16 {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (acceptor, broker) = (TlsAcceptor::from(tls), (place.host.clone(), place.port));
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let (acceptor, broker) = (acceptor.clone(), broker.clone());
            tokio::spawn(async move {
                let Ok(mut outside) = acceptor.accept(socket).await else { return };
                let mut inside = tokio::net::TcpStream::connect(broker).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut outside, &mut inside).await;
            });
        }
    });
    port
}

#[test]
fn over_tls_only_a_broker_that_somebody_vouches_for_is_spoken_to() {
    let Some(place) = Place::everything() else { return };
    let (tls, ca_file) = certificate();
    let port = place.runtime.block_on(tls_front(&place, tls));
    let secured =
        |ca_file| RabbitServer { host: "localhost".to_owned(), tls: true, ca_file, ..place.at(port) };
    let stranger = place.sender(secured(None), &place.name).send(&paid("order-1", None));
    assert!(is_retry(&stranger) && stranger.detail.starts_with("no connection"), "{}", said(&stranger));
    assert!(place.messages().is_empty());
    let known = place.sender(secured(Some(ca_file.path().to_owned())), &place.name);
    let answer = known.send(&paid("order-1", None));
    assert_eq!(answer.outcome, Outcome::Done, "{}", said(&answer));
    assert_eq!(place.messages().len(), 1);
}
