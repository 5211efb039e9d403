//! Cases: what is held for a person. Unique by (subject, reason, evidence), so that repetition opens nothing new.

use std::fmt;
use std::sync::Arc;

use crate::digest::{Body, Digest};
use crate::id::{EventKey, OrderId, PaymentKey};
use crate::key::Key;
use crate::time::Timestamp;

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $text:literal)+) => {
        /// Why a case is open. The text is stable: people and programs match on it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
        pub enum Reason { $($(#[$doc])* $name,)+ }

        impl Reason {
            /// Every reason there is.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The stable code.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// Reads what [`Reason::as_str`] writes.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|reason| reason.as_str() == text)
            }
        }
    };
}

reasons! {
    /// One event id came with two contents.
    PayloadConflict = "payload_conflict"
    /// The payload names another merchant account than its source.
    WrongAccount = "wrong_account"
    /// A test event on a live source, or the reverse.
    WrongMode = "wrong_mode"
    /// Genuine, and not readable by the contract.
    Unreadable = "unreadable"
    /// The payment found no order, and the source says to hold such payments.
    Unbound = "unbound"
    /// What a payment names belongs to two orders.
    NamesTwoOrders = "names_two_orders"
    /// A hint names an order that this payment may not serve.
    HintRefused = "hint_refused"
    /// Money in another unit than the order's.
    WrongMoneyUnit = "wrong_money_unit"
    /// Less than the total.
    AmountShort = "amount_short"
    /// A capture whose amount or unit was not said.
    NoTotal = "no_total"
    /// One payment both ended without money and was captured.
    Contradictory = "contradictory"
    /// Two payments each cover the order.
    PaidTwice = "paid_twice"
    /// More than the total.
    Overpaid = "overpaid"
    /// Money for an order that was closed.
    PaidLate = "paid_late"
    /// Money for an order whose pieces are gone.
    SoldOut = "sold_out"
    /// Money went back in a unit or amount that could not be matched.
    RefundUnclear = "refund_unclear"
    /// More went back than came.
    RefundAhead = "refund_ahead"
    /// One payment was disputed in two ways that exclude each other.
    DisputeContradictory = "dispute_contradictory"
    /// What was granted is no longer paid for: the money went back.
    RefundAfterGrant = "refund_after_grant"
    /// What was granted is disputed or charged back.
    DisputeAfterGrant = "dispute_after_grant"
    /// What was granted was paid by a capture that the bank took back.
    ReversalAfterGrant = "reversal_after_grant"
    /// A task was refused, or was tried as often as it may be.
    TaskFailed = "task_failed"
    /// A request may have arrived, and the receiver can no longer be asked again without doing it twice.
    OutcomeUnknown = "outcome_unknown"
    /// The provider could not be asked for longer than `lookup_patience`.
    LookupFailing = "lookup_failing"
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a case is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Subject {
    /// An event.
    Event(EventKey),
    /// A payment.
    Payment(PaymentKey),
    /// An order.
    Order(OrderId),
}

impl Subject {
    /// The aggregate that its cases are loaded with.
    #[must_use]
    pub fn key(&self) -> Key {
        match self {
            Self::Event(event) => Key::Event(event.clone()),
            Self::Payment(payment) => Key::Payment(payment.clone()),
            Self::Order(order) => Key::Order(order.clone()),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(key) => write!(f, "event {key}"),
            Self::Payment(key) => write!(f, "payment {key}"),
            Self::Order(id) => write!(f, "order {id}"),
        }
    }
}

/// A case's identity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CaseKey {
    /// What it is about.
    pub subject: Subject,
    /// Why.
    pub reason: Reason,
    /// Digest of what was found: other findings are another case.
    pub evidence: Digest,
}

impl CaseKey {
    /// A short name for people: 12 hexadecimal digits of the key's digest.
    #[must_use]
    pub fn handle(&self) -> String {
        let subject = self.subject.to_string();
        let parts = [subject.as_bytes(), self.reason.as_str().as_bytes(), &self.evidence.0];
        Digest::of_parts(parts).to_hex()[..12].to_owned()
    }
}

/// How a case ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Resolution {
    /// When.
    pub at: Timestamp,
    /// Who; `None` if later facts settled it.
    pub by: Option<Arc<str>>,
    /// What was said.
    pub note: String,
}

/// Something held for a person.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Case {
    /// When it was opened.
    pub opened_at: Timestamp,
    /// One sentence with the figures.
    pub detail: String,
    /// The order it concerns, where one is known.
    pub order: Option<OrderId>,
    /// The second version of a body, for a payload conflict.
    pub body: Option<Body>,
    /// How it ended; `None` while it is open.
    pub resolution: Option<Resolution>,
}
