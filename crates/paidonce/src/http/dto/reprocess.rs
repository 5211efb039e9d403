//! Stored events read again: what is asked, and what would become or became of each.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::case::CaseShown;
use super::entitlement::EntitlementShown;
use super::task::TaskShown;

/// Which stored events to read again, and whether to apply what is found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReprocessRequest {
    /// Only those that this source received first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Only those of this id, at any account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// Those that were ignored too, not only those that were unreadable.
    #[serde(default)]
    pub ignored: bool,
    /// Commit what would change, one event after another. Without it nothing is changed.
    #[serde(default)]
    pub apply: bool,
    /// For the audit; needed to apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "the contract has learnt payment.done")]
    pub reason: Option<String>,
    /// Events in one answer, 1 to 500.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// The `next` of the answer before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// Where an order stands, and where it would stand or stands then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StandingChange {
    /// In one word.
    pub before: String,
    /// In one word.
    pub after: String,
}

/// A stored event, read again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReadAgain {
    /// The source that received it first.
    pub source: String,
    /// The provider's id.
    pub id: String,
    /// Its type, as the contract reads it now.
    pub kind: String,
    /// How it stands in the store before: `unreadable` or `ignored`.
    pub before: String,
    /// What becomes of it: `accepted`, `unbound`, `ignored`, `unreadable`, `held` or `rejected`.
    pub becomes: String,
    /// Why it stays unreadable or is held.
    pub detail: Option<String>,
    /// Whether anything changes by it.
    pub changes: bool,
    /// The order that its payment serves.
    pub order: Option<String>,
    /// Where that order stands.
    pub standing: Option<StandingChange>,
    /// Tasks that change, as they are then.
    pub tasks: Vec<TaskShown>,
    /// Entitlements that change, as they are then.
    pub entitlements: Vec<EntitlementShown>,
    /// Cases that are opened or ended, as they are then.
    pub cases: Vec<CaseShown>,
}

/// What came of reading stored events again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Reprocessed {
    /// Whether it was committed.
    pub applied: bool,
    /// How many events were looked at. Those that were ignored and stay so are not among the rows.
    pub looked_at: usize,
    /// Newest first. Without `apply` each as if it alone were applied.
    pub rows: Vec<ReadAgain>,
    /// Pass this as `after` to go on; null at the end.
    pub next: Option<String>,
}
