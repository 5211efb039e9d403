//! Tasks as they are shown, and the answer to putting one back to work or stopping it.

use paidonce_ledger::{Task, TaskKey};
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

/// A task that a person put back to work, or stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskSet {
    /// Whose work.
    pub order: String,
    /// `order`, or `line:N`.
    pub unit: String,
    /// What work.
    pub kind: String,
    /// `pending` or `stopped`.
    pub state: String,
}
