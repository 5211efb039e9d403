//! Tasks as they are shown, and the answer to putting one back to work or stopping it.

use paidonce_ledger::{Attempt, Task, TaskKey, TaskState};
use paidonce_store::{Result as StoreResult, Store};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::clock::rfc3339;

/// A committed intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskShown {
    /// Its short name.
    pub handle: String,
    /// Whose work, if it is an order's.
    pub order: Option<String>,
    /// What it is about: an order, a payment or an event.
    pub subject: String,
    /// `order`, or `line:N`; null for a lookup.
    pub unit: Option<String>,
    /// What work: `grant`, `lookup`, `sync` or `send`.
    #[schema(example = "grant")]
    pub kind: String,
    /// The effect that carries it out; null for grants and lookups.
    pub effect: Option<String>,
    /// What is said, if one thing is said once.
    pub occasion: Option<String>,
    /// `pending`, `calling`, `uncertain`, `done`, `cancelled`, `parked`, `held` or `stopped`.
    pub state: String,
    /// When it was (last) needed anew.
    pub created_at: String,
    /// Not before this moment.
    pub due_at: String,
    /// How often it was tried.
    pub attempts: u32,
    /// The order's revision that made it necessary.
    pub order_revision: u64,
}

impl TaskShown {
    /// What it does, in one line: `grant order`, `send order_paid by mail`.
    #[must_use]
    pub fn work(&self) -> String {
        let parts = [
            Some(self.kind.as_str()),
            self.unit.as_deref(),
            self.effect.as_deref(),
            self.occasion.as_deref(),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// Writes a task.
    #[must_use]
    pub fn of(key: &TaskKey, task: &Task) -> Self {
        Self {
            handle: key.handle(),
            order: key.order().map(ToString::to_string),
            subject: key.subject.to_string(),
            unit: key.unit().map(|unit| unit.to_string()),
            kind: key.kind().as_str().to_owned(),
            effect: key.effect().map(ToString::to_string),
            occasion: key.occasion().map(ToString::to_string),
            state: task.state.as_str().to_owned(),
            created_at: rfc3339(task.created_at),
            due_at: rfc3339(task.due_at),
            attempts: task.attempts,
            order_revision: task.order_revision,
        }
    }
}

/// One try of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AttemptShown {
    /// The version of the lease under which it was tried.
    pub version: u64,
    /// When its outcome was recorded.
    pub at: String,
    /// `done`, `retry`, `uncertain`, `refused` or `not_configured`.
    pub outcome: String,
    /// How long it took, in milliseconds; 0 where nobody came back to say.
    pub took_ms: u64,
    /// What was answered, capped.
    pub detail: String,
    /// Who tried.
    pub owner: String,
}

/// A task and its tries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskStory {
    /// The task.
    pub task: TaskShown,
    /// The key under which it is sent; null for grants and lookups.
    pub idempotency_key: Option<String>,
    /// Whether something may have arrived of which nobody knows.
    pub may_have_arrived: bool,
    /// Its tries, newest first.
    pub tries: Vec<AttemptShown>,
}

impl TaskStory {
    /// Reads the task with this short name and its tries; `None` if there is none.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn load(store: &dyn Store, handle: &str) -> StoreResult<Option<Self>> {
        let Some((key, task)) = store.task(handle)? else { return Ok(None) };
        let revision = task.request.as_ref().map_or(task.order_revision, |request| request.revision);
        let tried = |(version, attempt): (u64, Attempt)| AttemptShown {
            version,
            at: rfc3339(attempt.at),
            outcome: attempt.outcome.to_string(),
            took_ms: attempt.took_ms,
            detail: attempt.detail.to_string(),
            owner: attempt.owner.to_string(),
        };
        Ok(Some(Self {
            idempotency_key: key.effect().map(|_| key.idempotency_key(revision)),
            may_have_arrived: task.state == TaskState::Calling
                || task.request.as_ref().is_some_and(|request| request.uncertain),
            tries: store.attempts(&key)?.into_iter().map(tried).collect(),
            task: TaskShown::of(&key, &task),
        }))
    }
}

/// A task that a person put back to work, or stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskSet {
    /// Its short name.
    pub task: String,
    /// Whose work: an order, a payment or an event.
    pub subject: String,
    /// What work.
    pub kind: String,
    /// `pending` or `stopped`.
    pub state: String,
}

impl TaskSet {
    /// Writes it.
    #[must_use]
    pub fn of(key: &TaskKey, state: TaskState) -> Self {
        Self {
            task: key.handle(),
            subject: key.subject.to_string(),
            kind: key.kind().as_str().to_owned(),
            state: state.as_str().to_owned(),
        }
    }
}
