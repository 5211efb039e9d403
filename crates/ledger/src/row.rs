//! The other rows of the ledger: events, payments, references, entitlements, commands, audit, keys.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::case::Reason;
use crate::digest::{Body, Digest};
use crate::id::{CommandId, Customer, OrderId, PaymentId, PaymentKey, ReferenceKey, SourceName};
use crate::money::Money;
use crate::order::Line;
use crate::reply::Reply;
use crate::time::Timestamp;

/// What became of an event when it was first received.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum EventOutcome {
    /// Its facts were joined.
    Applied,
    /// Not a type that matters.
    Ignored,
    /// Genuine, and something that must be there is absent or malformed. Not processed.
    Unreadable(String),
    /// Genuine, and not for this source. Its facts were not joined.
    Held(Reason),
}

impl EventOutcome {
    /// The stable word.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Ignored => "ignored",
            Self::Unreadable(_) => "unreadable",
            Self::Held(_) => "held",
        }
    }

    /// Whether the event has been worked off. (`received` and `processed` are two marks.)
    #[must_use]
    pub fn processed(&self) -> bool {
        !matches!(self, Self::Unreadable(_))
    }
}

/// One verified notification, kept byte for byte until its bytes are dropped, if they ever are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Event {
    /// The source that received it first.
    pub source: SourceName,
    /// The provider's word for its type.
    pub kind: Arc<str>,
    /// What became of it.
    pub outcome: EventOutcome,
    /// The payment it is about, if it was read.
    pub payment: Option<PaymentId>,
    /// Digest of what a redelivery must have in common with it.
    pub content: Digest,
    /// Its bytes; none, under the same digest, once they were dropped.
    pub body: Body,
    /// When its bytes were dropped.
    pub dropped_at: Option<Timestamp>,
    /// When it was first received.
    pub received_at: Timestamp,
    /// How many more times it came with the same content.
    pub duplicates: u32,
    /// When it last came.
    pub last_at: Timestamp,
    /// Trace context of its first delivery.
    pub trace: Option<Arc<str>>,
}

impl Event {
    /// Whether its bytes are here and nothing will read them again. One that was ignored or could not be read may be read
    /// under a later contract.
    #[must_use]
    pub fn body_is_spent(&self) -> bool {
        self.dropped_at.is_none() && matches!(self.outcome, EventOutcome::Applied | EventOutcome::Held(_))
    }
}

/// A provider's payment object. What is known of it are its facts; this row says whose it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Payment {
    /// The order it serves, for ever; `None` while it is unbound.
    pub order: Option<OrderId>,
    /// Everything that its events named and that may lead to an order.
    pub mentions: BTreeSet<ReferenceKey>,
    /// When it was first heard of.
    pub first_at: Timestamp,
    /// The number of the last lookup that was asked; 0 if none was.
    pub asked: u32,
    /// The number of the newest lookup whose complete answer was taken in.
    pub listing: u32,
    /// When that answer was taken in.
    pub listed_at: Option<Timestamp>,
    /// The provider's own revision in that answer, where it has one. It never falls.
    pub provider_revision: Option<u64>,
}

impl Payment {
    /// A payment that nothing is known of but that it exists.
    #[must_use]
    pub fn new(first_at: Timestamp) -> Self {
        Self {
            order: None,
            mentions: BTreeSet::new(),
            first_at,
            asked: 0,
            listing: 0,
            listed_at: None,
            provider_revision: None,
        }
    }
}

/// Where a payment's mention and an order's reference meet.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Reference {
    /// The order it was registered for.
    pub order: Option<OrderId>,
    /// What was expected when it was issued.
    pub expected: Option<Money>,
    /// Payments that named it and were bound to nothing then.
    pub payments: BTreeSet<PaymentKey>,
}

/// The durable grant of one unit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Entitlement {
    /// Who may have it.
    pub customer: Option<Customer>,
    /// What they may have.
    pub lines: Vec<Line>,
    /// When it was granted.
    pub granted_at: Timestamp,
    /// The order's revision at which its state last changed.
    pub order_revision: u64,
    /// When it was taken back, if it is.
    pub revoked_at: Option<Timestamp>,
    /// The person who took it back; `None` if the policy did, which gives it back when the standing is restored.
    pub revoked_by: Option<Arc<str>>,
    /// The person who gave it back: the policy does not take it again.
    pub kept_by: Option<Arc<str>>,
}

/// The trace that a command leaves, so that its second execution finds its first one's answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CommandRecord {
    /// Digest of what was asked.
    pub fingerprint: Digest,
    /// What was answered.
    pub reply: Reply,
    /// When.
    pub at: Timestamp,
}

/// An audit row's identity, ordered by time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AuditKey {
    /// When it was done.
    pub at: Timestamp,
    /// The command.
    pub command: CommandId,
}

/// Who did what, and why (P16).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Audit {
    /// The API key's, the user's or the operating system user's name.
    pub by: Arc<str>,
    /// The command's name.
    pub action: Arc<str>,
    /// What it was done to.
    pub subject: String,
    /// The order that this concerned, if any.
    pub order: Option<OrderId>,
    /// The reason that was given.
    pub reason: Option<Arc<str>>,
}

/// What a key may do. Each includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Scope {
    /// Read.
    View,
    /// Place and cancel orders, register references, retry.
    Operate,
    /// Manage keys.
    Admin,
}

impl Scope {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Operate => "operate",
            Self::Admin => "admin",
        }
    }

    /// Reads what [`Scope::as_str`] writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::View, Self::Operate, Self::Admin].into_iter().find(|scope| scope.as_str() == text)
    }
}

/// An API key, of which only a digest is kept. (The key is 256 random bits: nothing to guess from the digest.)
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ApiKey {
    /// SHA-256 of the key's text.
    pub digest: Digest,
    /// What it may do.
    pub scope: Scope,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it stopped working.
    pub revoked_at: Option<Timestamp>,
}
