//! What a contract reads out of one verified event: the only shape in which a provider's words enter the ledger.

use std::sync::Arc;

use crate::digest::{Body, Digest};
use crate::fact::Fact;
use crate::id::{EventId, Hint, Mode, Name, PaymentId, ReferenceId};

/// One event of a delivery.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Notice {
    /// The provider's id, or one derived from members that the signature covers. A genuine body without a
    /// readable id has `sha256:<hex of the body>`.
    pub id: EventId,
    /// The provider's word for the type, for people; empty if there is none.
    pub kind: Arc<str>,
    /// The merchant account that the payload names, where the contract says how.
    pub account: Option<Name>,
    /// The mode that the payload names, where the contract says how.
    pub mode: Option<Mode>,
    /// What it means.
    pub reading: Reading,
    /// Digest of what two deliveries of this event must have in common (contract: all bytes, or all but named members).
    pub content: Digest,
    /// The bytes it came in: the whole delivery for a single event, the item for a batch.
    pub body: Body,
}

/// What an event means to the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Reading {
    /// It says something about a payment.
    Facts(Claims),
    /// A type that the contract does not list, or lists as irrelevant. Stored, and never looked at again.
    Ignored,
    /// A type that matters, or no type at all, and something that must be there is absent or malformed.
    /// The text names the member, never its value.
    Unreadable(String),
}

/// What an event asserts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Claims {
    /// The payment it is about. (A session that took no money is its own payment.)
    pub payment: PaymentId,
    /// Other objects of the provider that it names: session, intent, invoice.
    pub references: Vec<ReferenceId>,
    /// Texts of the payload that may name an order.
    pub hints: Vec<Hint>,
    /// What it says about the payment.
    pub facts: Vec<Fact>,
}
