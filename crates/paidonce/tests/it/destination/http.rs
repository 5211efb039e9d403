//! The unlikely cases of an HTTP call, each on a real socket: what each means for the message.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use paidonce::effect::http::{Http, HttpSettings};
use paidonce::effect::outbound::{Connector, Dial, Dialling, Resolve, Resolving, Target};
use paidonce_contracts::Secret;
use paidonce_engine::{Answer, Destination, Sending};
use paidonce_ledger::{Body, Outcome};

use super::receiver::{Act, Call, Receiver, nobody, slammer};
use crate::shop::EFFECT_SECRET;

fn settings(url: &str, connector: Connector) -> HttpSettings {
    HttpSettings {
        target: Target::parse(url, true).unwrap(),
        status_url: None,
        allow_private: true,
        secret: Secret::new(EFFECT_SECRET),
        authorization: Some(Secret::new("Bearer canary-authorization")),
        template: None,
        content_type: "application/json".to_owned(),
        timeout: Duration::from_secs(10),
        connector: Arc::new(connector),
    }
}

fn sending(deadline: Duration) -> Sending {
    Sending {
        key: "po_1".to_owned(),
        body: Body::new(*b"{\"a\":1}"),
        revision: 7,
        attempt: 1,
        trace: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".into()),
        deadline: Instant::now() + deadline,
    }
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn send_by(http: &Http, deadline: Duration) -> Answer {
    wait(http.send(sending(deadline)))
}

fn send(url: &str) -> Answer {
    let http = Http::new(settings(url, Connector::new(None).unwrap()), &[]).unwrap();
    send_by(&http, Duration::from_secs(10))
}

fn at(address: SocketAddr) -> String {
    format!("http://{address}/hook")
}

#[test]
fn a_call_carries_its_signature_its_key_its_revision_and_its_bytes() {
    let receiver = Receiver::saying(204);
    assert_eq!(send(&receiver.url()).outcome, Outcome::Done);
    let call = receiver.calls().remove(0);
    assert_eq!((call.line.as_str(), call.body.as_str()), ("POST /hook HTTP/1.1", "{\"a\":1}"));
    assert!(call.is_genuine(), "{call:?}");
    assert!(!Call { body: "{\"a\":2}".to_owned(), ..call.clone() }.is_genuine());
    assert_eq!((call.key(), call.revision()), ("po_1", 7));
    assert_eq!(call.header("authorization"), "Bearer canary-authorization");
    assert!(call.header("traceparent").starts_with("00-0af7"));
    assert_eq!(call.header("host"), receiver.address.to_string());
    assert_eq!(call.header("accept-encoding"), "", "nothing is unpacked");
}

#[test]
fn a_status_means_one_thing() {
    for (status, expected) in [
        (200, "done"),
        (400, "refused"),
        (409, "retry"),
        (410, "refused"),
        (500, "retry"),
        (504, "uncertain"),
    ] {
        let receiver = Receiver::saying(status);
        let answer = send(&receiver.url());
        assert_eq!(answer.outcome.as_str(), expected, "{status}");
        assert!(answer.detail.starts_with(&format!("{status} ")), "{}", answer.detail);
        assert!(answer.detail.ends_with(": said"), "{}", answer.detail);
    }
}

#[test]
fn after_a_410_the_destination_is_gone() {
    let receiver = Receiver::saying(410);
    let http = Http::new(settings(&receiver.url(), Connector::new(None).unwrap()), &[]).unwrap();
    assert!(!http.is_gone());
    send_by(&http, Duration::from_secs(10));
    assert!(http.is_gone());
}

#[test]
fn a_429_says_when() {
    let receiver = Receiver::new(|_, _| Act::SayWith(429, "retry-after: 7".to_owned()));
    let before = paidonce_engine::Clock::now(&paidonce::clock::SystemClock);
    let Outcome::Retry(Some(at)) = send(&receiver.url()).outcome else { panic!("it says when") };
    let wait_ms = at.0 - before.0;
    assert!((7_000..7_000 + 20_000).contains(&wait_ms), "{wait_ms}");
}

#[test]
fn a_200_whose_connection_then_dies_is_done() {
    let receiver = Receiver::new(|_, _| Act::HalfAnswer(200));
    let answer = send(&receiver.url());
    assert_eq!((answer.outcome, answer.detail.as_str()), (Outcome::Done, "200 OK: ha"));
}

#[test]
fn p11_a_request_that_was_read_and_not_answered_is_uncertain() {
    let receiver = Receiver::new(|_, _| Act::Close);
    assert_eq!(send(&receiver.url()).outcome, Outcome::Uncertain);
    assert_eq!(receiver.calls().len(), 1);
    assert_eq!(send(&at(slammer())).outcome, Outcome::Uncertain);
}

#[test]
fn p11_a_receiver_that_never_answers_is_uncertain_by_the_deadline() {
    let receiver = Receiver::new(|_, _| Act::Hold);
    let http = Http::new(settings(&receiver.url(), Connector::new(None).unwrap()), &[]).unwrap();
    let answer = send_by(&http, Duration::from_millis(500));
    assert_eq!((answer.outcome, answer.detail.as_str()), (Outcome::Uncertain, "there was no answer in time"));
    receiver.release();
}

#[test]
fn what_cannot_have_left_is_tried_again() {
    assert_eq!(send(&at(nobody())).outcome, Outcome::Retry(None));
    let unknown = send("http://no-such-host.invalid/");
    assert_eq!(unknown.outcome, Outcome::Retry(None), "{unknown:?}");
    let http = Http::new(settings("http://127.0.0.1/", silent()), &[]).unwrap();
    let slow = send_by(&http, Duration::from_millis(300));
    assert_eq!(
        (slow.outcome, slow.detail.as_str()),
        (Outcome::Retry(None), "there was no connection in time")
    );
}

/// Connections that never come about.
fn silent() -> Connector {
    struct Silent;
    impl Dial for Silent {
        fn dial(&self, _: SocketAddr) -> Dialling<'_> {
            Box::pin(std::future::pending())
        }
    }
    Connector::with(Box::new(Names::default()), Box::new(Silent), None).unwrap()
}

#[test]
fn an_answer_without_end_is_cut_off() {
    let receiver = Receiver::new(|_, _| Act::Endless(200));
    let answer = send(&receiver.url());
    assert_eq!(answer.outcome, Outcome::Done);
    assert!(answer.detail.chars().count() <= 500);
    // What is in flight between two sockets, and no more.
    assert!(receiver.written() < 64 << 20, "{}", receiver.written());
    let receiver = Receiver::new(|_, _| Act::EndlessHead);
    assert_eq!(send(&receiver.url()).outcome, Outcome::Uncertain);
    assert!(receiver.written() < 64 << 20, "{}", receiver.written());
}

#[test]
fn p14_no_secret_that_is_repeated_to_us_is_kept() {
    let receiver = Receiver::new(|_, _| Act::Repeat(400));
    let answer = send(&receiver.url());
    assert_eq!(answer.detail, "400 Bad Request: you sent ***");
}

#[test]
fn tls_is_verified_before_anything_is_sent() {
    let receiver = Receiver::tls("localhost", |_, _| Act::Say(200));
    let url = |host: &str| format!("https://{host}:{}/", receiver.address.port());
    let trusting = || Connector::new(receiver.ca_pem.as_ref().map(String::as_bytes)).unwrap();
    let try_with = |url: &str, connector| {
        let http = Http::new(settings(url, connector), &[]).unwrap();
        send_by(&http, Duration::from_secs(10))
    };
    let good = try_with(&url("localhost"), trusting());
    assert_eq!(good.outcome, Outcome::Done, "{good:?}");
    assert_eq!(receiver.calls().len(), 1);
    for (what, answer) in [
        ("an unknown issuer", try_with(&url("localhost"), Connector::new(None).unwrap())),
        ("another name", try_with(&url("127.0.0.1"), trusting())),
        ("no TLS at all", try_with(&format!("https://{}/", slammer()), trusting())),
    ] {
        assert_eq!(answer.outcome, Outcome::Retry(None), "{what}: {answer:?}");
        assert!(answer.detail.contains("TLS"), "{what}: {answer:?}");
    }
    assert_eq!(receiver.calls().len(), 1);
}

/// Names as a test has them: each question gets the next answer.
#[derive(Default)]
struct Names(Mutex<VecDeque<Vec<SocketAddr>>>, Arc<AtomicUsize>);

impl Resolve for Names {
    fn resolve<'a>(&'a self, _: &'a str, _: u16) -> Resolving<'a> {
        self.1.fetch_add(1, SeqCst);
        let answer = self.0.lock().unwrap().pop_front().unwrap_or_default();
        Box::pin(async move { Ok(answer) })
    }
}

/// Connects nowhere, and writes down where it was to.
#[derive(Clone, Default)]
struct Dialled(Arc<Mutex<Vec<SocketAddr>>>);

impl Dial for Dialled {
    fn dial(&self, to: SocketAddr) -> Dialling<'_> {
        self.0.lock().unwrap().push(to);
        Box::pin(async { Err(io::Error::other("nothing is dialled in a test")) })
    }
}

/// Sends where only the public internet may be reached: the outcome, what was dialled, how often a name was asked for.
fn guarded(url: &str, answers: &[&[&str]]) -> (Outcome, Vec<SocketAddr>, usize) {
    let answers = answers.iter().map(|answer| answer.iter().map(|text| text.parse().unwrap()).collect());
    let (asked, dialled) = (Arc::new(AtomicUsize::new(0)), Dialled::default());
    let names = Names(Mutex::new(answers.collect()), asked.clone());
    let connector = Connector::with(Box::new(names), Box::new(dialled.clone()), None).unwrap();
    let settings = HttpSettings {
        target: Target::parse(url, false).unwrap(),
        allow_private: false,
        ..settings("http://x/", connector)
    };
    let answer = send_by(&Http::new(settings, &[]).unwrap(), Duration::from_secs(10));
    let dialled = dialled.0.lock().unwrap().clone();
    (answer.outcome, dialled, asked.load(SeqCst))
}

#[test]
fn g13_nothing_private_is_dialled_however_it_is_written() {
    for host in [
        "127.0.0.1",
        "169.254.169.254",
        "10.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[fd00::1]",
    ] {
        let (outcome, dialled, _) = guarded(&format!("https://{host}/"), &[]);
        assert_eq!((outcome, dialled), (Outcome::Refused, vec![]), "{host}");
    }
    // What the system's resolver reads as an address, it answers as one: decimal, octal, hexadecimal, short.
    for host in ["2130706433", "0177.0.0.1", "0x7f.1", "127.1", "localhost", "rebound.example"] {
        let (outcome, dialled, _) = guarded(&format!("https://{host}/"), &[&["127.0.0.1:443", "[::1]:443"]]);
        assert_eq!((outcome, dialled), (Outcome::Refused, vec![]), "{host}");
    }
}

#[test]
fn g13_a_name_that_changes_after_the_check_changes_nothing() {
    let answers: &[&[&str]] = &[&["8.8.8.8:443", "127.0.0.1:443"], &["127.0.0.1:443"]];
    let (outcome, dialled, asked) = guarded("https://rebinding.example/", answers);
    assert_eq!(outcome, Outcome::Retry(None));
    assert_eq!((dialled, asked), (vec!["8.8.8.8:443".parse().unwrap()], 1));
}

#[test]
fn g13_a_redirect_is_not_followed() {
    let inner = Receiver::saying(200);
    let location = format!("location: {}", inner.url());
    let receiver = Receiver::new(move |_, _| Act::SayWith(307, location.clone()));
    let answer = send(&receiver.url());
    assert_eq!(answer.outcome, Outcome::Refused);
    assert!(answer.detail.contains("redirects are not followed"), "{}", answer.detail);
    assert!(inner.calls().is_empty());
}

#[test]
fn p11_who_is_asked_says_whether_it_arrived() {
    for (status, expected) in [(200, "done"), (404, "retry"), (500, "uncertain")] {
        let receiver = Receiver::saying(status);
        let status_url = Some(format!("{}/{{key}}", receiver.url()));
        let settings =
            HttpSettings { status_url, ..settings(&receiver.url(), Connector::new(None).unwrap()) };
        let http = Http::new(settings, &[]).unwrap();
        let answer = wait(http.ask(sending(Duration::from_secs(10))).unwrap());
        assert_eq!(answer.outcome.as_str(), expected, "{status}");
        let call = receiver.calls().remove(0);
        assert_eq!((call.line.as_str(), call.body.as_str()), ("GET /hook/po_1 HTTP/1.1", ""));
        assert!(call.is_genuine(), "{call:?}");
    }
    let http = Http::new(settings("http://127.0.0.1/", silent()), &[]).unwrap();
    assert!(http.ask(sending(Duration::from_secs(1))).is_none());
}
