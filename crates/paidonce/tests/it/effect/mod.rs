//! The outside effects against real sockets: a mail server with faults, a mail API, and the brokers of this machine.

mod api;
mod config;
mod nats;
mod news;
mod proxy;
mod rabbitmq;
mod resend;
mod sink;
mod smtp;
mod story;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use paidonce_engine::{Answer, Destination, News, Sending};
use paidonce_ledger::{Body, Outcome};

use proxy::Proxy;

/// Long enough for everything that answers at all.
const PATIENT: Duration = Duration::from_secs(30);
/// For what never answers: the test waits so long, once.
const SHORT: Duration = Duration::from_millis(700);

/// What the engine would hand over: the bytes that were rendered once.
fn sending(to: &dyn Destination, news: &News) -> Sending {
    Sending {
        key: news.key.clone(),
        body: Body::new(to.render(news).unwrap()),
        revision: news.revision,
        attempt: 1,
        trace: None,
        deadline: Instant::now() + PATIENT,
    }
}

/// Sends it by a deadline from now on.
fn send_within(to: &dyn Destination, sending: &Sending, time: Duration) -> Answer {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let sending = Sending { deadline: Instant::now() + time, ..sending.clone() };
    let answer = runtime.block_on(to.send(sending));
    // What was left to be done beside, such as a farewell.
    runtime.shutdown_timeout(Duration::from_secs(1));
    answer
}

fn send(to: &dyn Destination, news: &News) -> Answer {
    send_within(to, &sending(to, news), PATIENT)
}

/// `outcome: detail`, for tables.
fn said(answer: &Answer) -> String {
    format!("{}: {}", answer.outcome.as_str(), answer.detail)
}

/// A destination that keeps a connection, and the runtime that the connection lives in.
struct Kept<D> {
    to: D,
    runtime: tokio::runtime::Runtime,
}

impl<D: Destination> Kept<D> {
    fn new(to: D) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Self { to, runtime }
    }

    fn send(&self, news: &News) -> Answer {
        self.send_within(&sending(&self.to, news), PATIENT)
    }

    fn send_within(&self, sending: &Sending, time: Duration) -> Answer {
        let sending = Sending { deadline: Instant::now() + time, ..sending.clone() };
        self.runtime.block_on(self.to.send(sending))
    }

    /// Tries until it is done, as the engine would. What was uncertain stays so.
    fn send_until_done(&self, news: &News) -> Answer {
        let (sending, end) = (sending(&self.to, news), Instant::now() + PATIENT);
        loop {
            let answer = self.send_within(&sending, PATIENT);
            if !is_retry(&answer) {
                return answer;
            }
            assert!(Instant::now() < end, "still {}", said(&answer));
        }
    }

    /// Cuts the broker off and sends all the same. The client may notice only while it sends: that one is uncertain.
    /// From then on nothing leaves.
    fn send_while_cut(&self, proxy: &Proxy, all: &[News]) {
        proxy.cut();
        let first = self.send(&all[0]);
        assert!(is_retry(&first) || first.outcome == Outcome::Uncertain, "{}", said(&first));
        for news in all {
            let answer = self.send(news);
            assert!(is_retry(&answer), "{}", said(&answer));
        }
    }

    /// Sends all of them at once.
    fn send_together(&self, all: &[News]) -> Vec<Answer> {
        let sending = |news| Sending { deadline: Instant::now() + PATIENT, ..sending(&self.to, news) };
        let sendings: Vec<_> = all.iter().map(|news| self.to.send(sending(news))).collect();
        self.runtime.block_on(async {
            let mut sendings = sendings;
            let mut answers: Vec<Option<Answer>> = vec![None; sendings.len()];
            std::future::poll_fn(|context| {
                for (sending, answer) in sendings.iter_mut().zip(&mut answers) {
                    if answer.is_none()
                        && let std::task::Poll::Ready(ready) = sending.as_mut().poll(context)
                    {
                        *answer = Some(ready);
                    }
                }
                if answers.iter().all(Option::is_some) {
                    std::task::Poll::Ready(())
                } else {
                    std::task::Poll::Pending
                }
            })
            .await;
            answers.into_iter().flatten().collect()
        })
    }
}

/// Where a server of this machine is, if it answers: at `variable` (`host:port`), else at its usual port. Otherwise
/// the test is skipped and says so; under `PAIDONCE_TEST_REQUIRE=1` that is a failure.
// What a test prints is for whoever runs it.
#[allow(clippy::print_stderr)]
fn server(variable: &str, usual: u16) -> Option<(String, u16)> {
    let stated = std::env::var(variable).unwrap_or_else(|_| format!("127.0.0.1:{usual}"));
    let (_, address) = stated.rsplit_once("//").unwrap_or(("", &stated));
    let (host, port) = address.trim_end_matches('/').rsplit_once(':').expect("host:port");
    let port: u16 = port.parse().expect("host:port");
    if std::net::TcpStream::connect((host, port)).is_ok() {
        return Some((host.to_owned(), port));
    }
    let required = std::env::var("PAIDONCE_TEST_REQUIRE").is_ok_and(|value| value == "1");
    assert!(!required, "nothing answers at {variable}={stated}, and it is required");
    eprintln!("SKIPPED: nothing answers at {variable}={stated}");
    None
}

/// A name that no other run uses.
fn unique(what: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("paidonce-{what}-{}-{since}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

fn is_retry(answer: &Answer) -> bool {
    matches!(answer.outcome, Outcome::Retry(_))
}
