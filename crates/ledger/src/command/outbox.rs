//! What workers ask of the outbox: the right to try, what they are about to send, and what came of it.

use std::sync::Arc;

use crate::digest::Body;
use crate::id::Owner;
use crate::task::TaskKey;
use crate::time::Timestamp;

/// Ask for the right to try a task.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Claim {
    /// Which task.
    pub task: TaskKey,
    /// Who asks: another text for every claim, so that asking again is not asking twice.
    pub owner: Owner,
    /// For how long.
    pub lease_ms: i64,
}

/// Ask for more time.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Renew {
    /// Which task.
    pub task: TaskKey,
    /// The version that the claim gave.
    pub version: u64,
    /// For how long, from now.
    pub lease_ms: i64,
}

/// Say what is about to be sent, before it is: from here on its outcome may be unknown.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Prepare {
    /// Which task.
    pub task: TaskKey,
    /// The version that the claim gave.
    pub version: u64,
    /// The revision that it was rendered for.
    pub revision: u64,
    /// What will be sent. Where a request was stored before, that one is sent instead.
    pub body: Body,
}

/// What came of a try.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The receiver has it.
    Done,
    /// The receiver does not have it, and may take it later: not before this moment, where it said one. For a task that is
    /// uncertain and was not prepared in this try, only an answer to the question whether it arrived is this.
    Retry(Option<Timestamp>),
    /// It may have arrived.
    Uncertain,
    /// The receiver will never take it.
    Refused,
    /// There is nothing that could carry it out.
    NotConfigured,
}

impl Outcome {
    /// The stable word.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Retry(_) => "retry",
            Self::Uncertain => "uncertain",
            Self::Refused => "refused",
            Self::NotConfigured => "not_configured",
        }
    }
}

/// Record what came of a try.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Settle {
    /// Which task.
    pub task: TaskKey,
    /// The version that the claim gave.
    pub version: u64,
    /// What came of it.
    pub outcome: Outcome,
    /// How long it took.
    pub took_ms: u64,
    /// What was answered, for people: capped by whoever asked.
    pub detail: Arc<str>,
}

/// Record that the merchant's own statements refused a grant: nothing of it was committed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GrantFailed {
    /// Which task.
    pub task: TaskKey,
    /// Its version when it was tried: a failure that was recorded meanwhile is not counted again.
    pub version: u64,
    /// What the database said, for people: capped by whoever asked.
    pub detail: Arc<str>,
}
