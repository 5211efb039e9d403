//! Tasks as they are shown, and the answer to putting one back to work or stopping it.

use paidonce_ledger::{Task, TaskKey};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::clock::rfc3339;

/// A committed intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskShown {
    /// Whose work.
    pub order: String,
    /// `order`, or `line:N`.
    pub unit: String,
    /// What work.
    #[schema(example = "grant")]
    pub kind: String,
    /// `pending`, `done`, `cancelled` or `stopped`.
    pub state: String,
    /// When it was first needed.
    pub created_at: String,
    /// Not before this moment.
    pub due_at: String,
    /// How often it was tried.
    pub attempts: u32,
    /// The order's revision that made it necessary.
    pub order_revision: u64,
}

impl TaskShown {
    /// Writes a task.
    #[must_use]
    pub fn of(key: &TaskKey, task: &Task) -> Self {
        Self {
            order: key.order.to_string(),
            unit: key.unit.to_string(),
            kind: key.kind.as_str().to_owned(),
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
