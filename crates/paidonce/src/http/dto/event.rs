//! Events as they are shown, and the answer to a delivery. Never a body: it holds personal data.

use paidonce_ledger::{Event, EventKey, EventOutcome, EventReply};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::clock::rfc3339;

/// A verified notification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EventShown {
    /// The source that received it first.
    pub source: String,
    /// Whose id it has.
    pub provider: String,
    /// The merchant's account there.
    pub account: String,
    /// `live` or `test`.
    pub mode: String,
    /// The provider's id.
    pub id: String,
    /// The provider's word for its type.
    pub kind: String,
    /// `applied`, `ignored`, `unreadable` or `held`.
    pub outcome: String,
    /// Why it is unreadable or held.
    pub detail: Option<String>,
    /// The payment it is about.
    pub payment: Option<String>,
    /// When it was first received.
    pub received_at: String,
    /// How many more times it came.
    pub duplicates: u32,
    /// When it last came.
    pub last_at: String,
    /// SHA-256 of its bytes as they came.
    pub body_sha256: String,
    /// How many bytes are kept of it; `null` once they were dropped.
    pub body_bytes: Option<u64>,
    /// When its bytes were dropped, as `[policy] body_retention_days` says.
    pub body_dropped_at: Option<String>,
}

impl EventShown {
    /// Writes an event.
    #[must_use]
    pub fn of(key: &EventKey, event: &Event) -> Self {
        let detail = match &event.outcome {
            EventOutcome::Unreadable(why) => Some(why.clone()),
            EventOutcome::Held(reason) => Some(reason.as_str().to_owned()),
            EventOutcome::Applied | EventOutcome::Ignored => None,
        };
        Self {
            source: event.source.to_string(),
            provider: key.account.provider.to_string(),
            account: key.account.name.to_string(),
            mode: key.account.mode.to_string(),
            id: key.id.to_string(),
            kind: event.kind.to_string(),
            outcome: event.outcome.as_str().to_owned(),
            detail,
            payment: event.payment.as_ref().map(ToString::to_string),
            received_at: rfc3339(event.received_at),
            duplicates: event.duplicates,
            last_at: rfc3339(event.last_at),
            body_sha256: event.body.digest().to_hex(),
            body_bytes: event.dropped_at.is_none().then(|| event.body.bytes().len() as u64),
            body_dropped_at: event.dropped_at.map(rfc3339),
        }
    }
}

/// What became of one event of a delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InEvent {
    /// The provider's id.
    pub id: String,
    /// `accepted`, `unbound`, `duplicate`, `conflict`, `ignored`, `unreadable`, `held` or `rejected`.
    pub outcome: String,
    /// The order that its payment serves.
    pub order: Option<String>,
}

/// The answer to a delivery, where the contract asks for none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InAnswer {
    /// Its events, in its order. Empty for a test notification.
    pub events: Vec<InEvent>,
}

impl InAnswer {
    /// Writes the replies to a delivery.
    #[must_use]
    pub fn of(replies: &[EventReply]) -> Self {
        let event = |reply: &EventReply| InEvent {
            id: reply.event.to_string(),
            outcome: reply.received.as_str().to_owned(),
            order: reply.order.as_ref().map(ToString::to_string),
        };
        Self { events: replies.iter().map(event).collect() }
    }
}
