//! An order's story, as `explain` tells it.

use paidonce_engine::Explanation;
use paidonce_ledger::OrderId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::clock::rfc3339;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EntryShown {
    /// When.
    pub at: String,
    /// `order`, `event`, `task`, `entitlement` or `case`.
    pub kind: String,
    /// What.
    pub what: String,
}

/// An order's story.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExplanationShown {
    /// Which order.
    pub order: String,
    /// What happened, oldest first.
    pub timeline: Vec<EntryShown>,
    /// Where it stands and why.
    pub sentence: String,
    /// What to run next, if a person has to do something.
    pub next: Option<String>,
}

impl ExplanationShown {
    /// Writes a story.
    #[must_use]
    pub fn of(order: &OrderId, story: &Explanation) -> Self {
        let entry = |entry: &paidonce_engine::Entry| EntryShown {
            at: rfc3339(entry.at),
            kind: entry.kind.to_owned(),
            what: entry.what.clone(),
        };
        Self {
            order: order.to_string(),
            timeline: story.timeline.iter().map(entry).collect(),
            sentence: story.sentence.clone(),
            next: story.next.clone(),
        }
    }
}
