//! The outside effects against real sockets: a mail server with faults, a mail API, and the brokers of this machine.

mod news;
mod sink;
mod smtp;

use std::time::{Duration, Instant};

use paidonce_engine::{Answer, Destination, News, Sending};
use paidonce_ledger::{Body, Outcome};

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

fn is_retry(answer: &Answer) -> bool {
    matches!(answer.outcome, Outcome::Retry(_))
}
