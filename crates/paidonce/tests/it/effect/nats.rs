//! NATS JetStream: a real server, cut off and restored by a proxy.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use async_nats::jetstream::{self, stream::Config};
use paidonce::effect::login::Login;
use paidonce::effect::nats::{Nats, NatsAuth, NatsServer, NatsSettings};
use paidonce::effect::template::{Template, Writes};
use paidonce_contracts::Secret;
use paidonce_ledger::Outcome;
use serde_json::Value;

use super::news::paid;
use super::proxy::Proxy;
use super::{Kept, PATIENT, SHORT, is_retry, said, sending, server, unique};

const WINDOW: Duration = Duration::from_secs(120);

/// A stream of its own on the server, and what is in it.
pub(super) struct Place {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) name: String,
    runtime: tokio::runtime::Runtime,
    context: jetstream::Context,
}

impl Place {
    pub(super) fn open(duplicate_window: Duration) -> Option<Self> {
        let (host, port) = server("PAIDONCE_TEST_NATS", 4222)?;
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let name = unique("nats");
        let context = runtime.block_on(async {
            let context = jetstream::new(async_nats::connect(format!("{host}:{port}")).await.unwrap());
            let subjects = vec![format!("{name}.>")];
            let config = Config { name: name.clone(), subjects, duplicate_window, ..Config::default() };
            context.create_stream(config).await.unwrap();
            context
        });
        Some(Self { host, port, name, runtime, context })
    }

    fn at(&self, port: u16) -> NatsServer {
        NatsServer { host: self.host.clone(), port, tls: false, ca_file: None, auth: NatsAuth::Open }
    }

    fn sender(&self, server: NatsServer) -> Kept<Nats> {
        let subject = format!("{}.{{{{ happening }}}}", self.name);
        Kept::new(nats(Some(server), subject))
    }

    fn through(&self, proxy: &Proxy) -> Kept<Nats> {
        self.sender(NatsServer { host: "127.0.0.1".to_owned(), ..self.at(proxy.port) })
    }

    /// Subject, headers and payload of everything in the stream.
    pub(super) fn messages(&self) -> Vec<(String, async_nats::HeaderMap, Value)> {
        self.runtime.block_on(async {
            let stream = self.context.get_stream(&self.name).await.unwrap();
            let mut all = Vec::new();
            for sequence in 1..=stream.cached_info().state.last_sequence {
                let message = stream.get_raw_message(sequence).await.unwrap();
                let payload = serde_json::from_slice(&message.payload).unwrap();
                all.push((message.subject.to_string(), message.headers, payload));
            }
            all
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = self.runtime.block_on(self.context.delete_stream(&self.name));
    }
}

fn nats(server: Option<NatsServer>, subject: String) -> Nats {
    let subject = Template::parse("subject", subject, Writes::Text).unwrap();
    Nats::new(NatsSettings { server, subject, key_window: WINDOW })
}

#[test]
fn p11_a_message_is_in_the_stream_once_however_often_it_is_sent() {
    let Some(place) = Place::open(WINDOW) else { return };
    let sender = place.sender(place.at(place.port));
    let news = paid("order-1", Some("customer-7"));
    let mut sending = sending(&sender.to, &news);
    sending.trace = Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".into());
    let first = sender.send_within(&sending, PATIENT);
    assert_eq!(said(&first), format!("done: stream {}, message 1", place.name));
    let again = sender.send_within(&sending, PATIENT);
    assert_eq!(said(&again), format!("done: stream {} has it already, as message 1", place.name));
    let messages = place.messages();
    let [(subject, headers, payload)] = &messages[..] else { panic!("{messages:?}") };
    assert_eq!(*subject, format!("{}.order_paid", place.name));
    for (name, value) in [
        ("Nats-Msg-Id", news.key.as_str()),
        ("Idempotency-Key", &news.key),
        ("Paidonce-Revision", "3"),
        ("Paidonce-Happening", "order_paid"),
        ("traceparent", sending.trace.as_deref().unwrap()),
    ] {
        assert_eq!(headers.get(name).map(|value| value.as_str()), Some(value), "{name}");
    }
    assert_eq!(payload["key"], news.key.as_str());
    assert_eq!(payload["order"]["total"], serde_json::json!({"amount": "19.90", "unit": "EUR"}));
    assert_eq!(payload["order"]["items"], serde_json::json!([{"sku": "ebook <1>", "quantity": 2}]));
}

#[test]
fn what_stands_in_the_way_is_said_and_nothing_has_left() {
    let Some(place) = Place::open(Duration::from_secs(60)) else { return };
    let short = place.sender(place.at(place.port)).send(&paid("order-1", None));
    assert!(is_retry(&short), "{}", said(&short));
    assert!(short.detail.contains("forgets message ids after 60 s"), "{}", said(&short));
    let elsewhere = Kept::new(nats(Some(place.at(place.port)), unique("nowhere")));
    let nowhere = elsewhere.send(&paid("order-1", None));
    assert!(is_retry(&nowhere) && nowhere.detail.contains("no JetStream stream takes"), "{}", said(&nowhere));
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let nobody = place.sender(place.at(free)).send(&paid("order-1", None));
    assert!(is_retry(&nobody) && nobody.detail.starts_with("no connection"), "{}", said(&nobody));
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let sender = place.sender(place.at(silent.local_addr().unwrap().port()));
    let waiting = sender.send_within(&sending(&sender.to, &paid("order-1", None)), SHORT);
    assert!(is_retry(&waiting) && waiting.detail.starts_with("no time was left"), "{}", said(&waiting));
    assert!(place.messages().is_empty());
}

#[test]
fn not_configured_is_said() {
    let sender = Kept::new(nats(None, "paidonce.{{ happening }}".to_owned()));
    assert_eq!(sender.send(&paid("order-1", None)).outcome, Outcome::NotConfigured);
}

#[test]
fn p11_a_lost_acknowledgement_is_uncertain_and_the_same_key_settles_it() {
    let Some(place) = Place::open(WINDOW) else { return };
    let proxy = Proxy::to(place.host.clone(), place.port);
    let sender = place.through(&proxy);
    assert_eq!(sender.send(&paid("order-0", None)).outcome, Outcome::Done);
    proxy.lose_the_answer();
    let news = paid("order-1", None);
    let lost = sender.send(&news);
    assert_eq!(lost.outcome, Outcome::Uncertain, "{}", said(&lost));
    let again = sender.send_until_done(&news);
    assert!(again.detail.contains("has it already"), "{}", said(&again));
    assert_eq!(place.messages().len(), 2);
}

#[test]
fn a_broker_that_was_away_gets_everything_and_nothing_behind_our_back() {
    let Some(place) = Place::open(WINDOW) else { return };
    let proxy = Proxy::to(place.host.clone(), place.port);
    let sender = place.through(&proxy);
    let orders: Vec<_> = (0..20).map(|n| paid(&format!("order-{n}"), None)).collect();
    assert_eq!(sender.send(&orders[0]).outcome, Outcome::Done);
    sender.send_while_cut(&proxy, &orders[1..]);
    proxy.restore();
    let last = sender.send_until_done(&orders[19]);
    assert_eq!(last.outcome, Outcome::Done, "{}", said(&last));
    let ids = |place: &Place| -> Vec<String> {
        let key = |(_, _, payload): &(_, _, Value)| payload["order"]["id"].as_str().unwrap().to_owned();
        place.messages().iter().map(key).collect()
    };
    assert_eq!(ids(&place), ["order-0", "order-19"], "what was a retry has not been sent by anybody else");
    for (answer, news) in sender.send_together(&orders[1..19]).iter().zip(&orders[1..19]) {
        assert_eq!(answer.outcome, Outcome::Done, "{} {}", news.key, said(answer));
    }
    let mut all = ids(&place);
    all.sort();
    let mut expected: Vec<_> = (0..20).map(|n| format!("order-{n}")).collect();
    expected.sort();
    assert_eq!(all, expected);
}

/// A server of the test's own, with TLS and a password, that can be killed and started again.
struct Own {
    child: Child,
    port: u16,
    folder: tempfile::TempDir,
}

impl Own {
    fn start() -> Option<Self> {
        server("PAIDONCE_TEST_NATS", 4222)?;
        let folder = tempfile::tempdir().unwrap();
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        std::fs::write(folder.path().join("cert.pem"), made.cert.pem()).unwrap();
        std::fs::write(folder.path().join("key.pem"), made.signing_key.serialize_pem()).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        Some(Self { child: Self::run(folder.path(), port), port, folder })
    }

    fn run(folder: &Path, port: u16) -> Child {
        let at = |name: &str| folder.join(name).display().to_string();
        let child = Command::new("nats-server")
            .args(["-js", "-a", "127.0.0.1", "-p", &port.to_string(), "-sd", &at("data")])
            .args(["--user", "shop", "--pass", "correct-horse"])
            .args(["--tls", "--tlscert", &at("cert.pem"), "--tlskey", &at("key.pem")])
            .stderr(Stdio::null())
            .spawn()
            .expect("nats-server is installed where one answers");
        let end = Instant::now() + PATIENT;
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < end, "nats-server does not start");
            std::thread::yield_now();
        }
        child
    }

    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn ca_file(&self) -> PathBuf {
        self.folder.path().join("cert.pem")
    }

    /// Makes a stream, and tells how many messages it has.
    async fn stream(&self) -> u64 {
        let options =
            async_nats::ConnectOptions::with_user_and_password("shop".into(), "correct-horse".into());
        let options = options.require_tls(true).add_root_certificates(self.ca_file());
        let client = options.connect(format!("localhost:{}", self.port)).await.unwrap();
        let subjects = vec!["orders".to_owned()];
        let config =
            Config { name: "orders".to_owned(), subjects, duplicate_window: WINDOW, ..Config::default() };
        let stream = jetstream::new(client).get_or_create_stream(config).await.unwrap();
        stream.get_info().await.unwrap().state.messages
    }

    fn server(&self, password: &str, ca_file: Option<&Path>) -> NatsServer {
        NatsServer {
            host: "localhost".to_owned(),
            port: self.port,
            tls: true,
            ca_file: ca_file.map(Path::to_owned),
            auth: NatsAuth::Login(Login { user: "shop".to_owned(), password: Secret::new(password) }),
        }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        self.kill();
    }
}

#[test]
fn a_broker_that_is_killed_and_started_again_has_everything_once() {
    let Some(mut own) = Own::start() else { return };
    let sender =
        Kept::new(nats(Some(own.server("correct-horse", Some(&own.ca_file()))), "orders".to_owned()));
    assert_eq!(sender.runtime.block_on(own.stream()), 0);
    let orders: Vec<_> = (0..10).map(|n| paid(&format!("order-{n}"), None)).collect();
    for news in &orders[..5] {
        assert_eq!(sender.send(news).outcome, Outcome::Done);
    }
    own.kill();
    for news in &orders[4..] {
        let answer = sender.send(news);
        assert!(is_retry(&answer) || answer.outcome == Outcome::Uncertain, "{}", said(&answer));
    }
    own.child = Own::run(own.folder.path(), own.port);
    for news in &orders {
        let answer = sender.send_until_done(news);
        assert_eq!(answer.outcome, Outcome::Done, "{}", said(&answer));
    }
    assert_eq!(sender.runtime.block_on(own.stream()), 10, "what was there before is known again by its id");
}

#[test]
fn p14_over_tls_it_logs_in_and_the_password_is_nowhere_else() {
    let Some(own) = Own::start() else { return };
    let ca_file = own.ca_file();
    let try_it = |server| Kept::new(nats(Some(server), "orders".to_owned())).send(&paid("order-1", None));
    let right = own.server("correct-horse", Some(&ca_file));
    assert!(!format!("{right:?}").contains("correct-horse"));
    // It came as far as asking for streams, of which there are none.
    let answer = try_it(right);
    assert!(is_retry(&answer) && answer.detail.contains("no JetStream stream"), "{}", said(&answer));
    let wrong = try_it(own.server("wrong-horse", Some(&ca_file)));
    assert!(is_retry(&wrong) && wrong.detail.starts_with("no connection"), "{}", said(&wrong));
    let stranger = try_it(own.server("correct-horse", None));
    assert!(is_retry(&stranger) && stranger.detail.starts_with("no connection"), "{}", said(&stranger));
    for answer in [answer, wrong, stranger] {
        assert!(!answer.detail.contains("-horse"), "{}", said(&answer));
    }
}
