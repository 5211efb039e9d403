//! Destinations: what lies outside and takes messages. The program implements them; the engine leases, prepares, calls
//! and settles.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use paidonce_ledger::{Body, Case, Outcome, TaskKey, Timestamp};

use crate::view::OrderView;

/// What a message is about: everything that a destination may tell.
#[derive(Debug, Clone)]
pub struct News {
    /// Whose message.
    pub task: TaskKey,
    /// The `Idempotency-Key` of the message (P11): the same for every try.
    pub key: String,
    /// The order's revision that made it necessary; for a copy of an entitlement, the desired revision.
    pub revision: u64,
    /// When it became necessary.
    pub at: Timestamp,
    /// The order as it stands now; `None` where it is not about one.
    pub order: Option<Arc<OrderView>>,
    /// The case, where it tells that one was opened.
    pub case: Option<Case>,
}

/// One try.
#[derive(Debug, Clone)]
pub struct Sending {
    /// The `Idempotency-Key`.
    pub key: String,
    /// What [`Destination::render`] made, byte for byte, however long ago.
    pub body: Body,
    /// The revision that it was rendered for.
    pub revision: u64,
    /// Which try this is, from 1.
    pub attempt: u32,
    /// Trace context of the event that made it necessary.
    pub trace: Option<Arc<str>>,
    /// When the call must be over: before the lease's end.
    pub deadline: Instant,
}

/// What came of a try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What it means for the task. Whatever may have arrived is `Uncertain`, never `Retry`.
    pub outcome: Outcome,
    /// What was answered, for people: at most 500 characters, and no secret.
    pub detail: String,
}

/// The future of an answer.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// Something outside that takes messages.
pub trait Destination: Send + Sync {
    /// Why it will never take this, as it is configured. Nothing is rendered or stored then, and the task is a case at
    /// once: retried by a person when that is mended, it is rendered as if it were new.
    fn objection(&self, news: &News) -> Option<String> {
        let _ = news;
        None
    }

    /// Renders a message: the bytes that are stored, and sent at every try.
    ///
    /// # Errors
    /// What is wrong with the template or with what it is about, for people.
    fn render(&self, news: &News) -> Result<Vec<u8>, String>;

    /// Sends it. Must be over by the deadline; dropping the future ends the call.
    fn send(&self, sending: Sending) -> Answering<'_>;

    /// Whether it has said that it takes nothing any more (HTTP's 410): nothing is sent until the program is started
    /// anew, and what is due waits in plain view.
    fn is_gone(&self) -> bool {
        false
    }

    /// Asks whether a message of unknown outcome has arrived: `Done`, `Retry` (it has not), or `Uncertain` (nobody can
    /// say). `None` where the destination cannot be asked.
    fn ask(&self, sending: Sending) -> Option<Answering<'_>> {
        let _ = sending;
        None
    }
}
