//! Asking a provider for a payment. The program implements it from the contracts; the engine leases, asks and submits
//! the answer as `Observe`.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use paidonce_ledger::{EventId, Fact, PaymentKey, ReferenceId, Timestamp};

/// One question.
#[derive(Debug, Clone)]
pub struct Question {
    /// Which payment.
    pub payment: PaymentKey,
    /// Other objects of the provider's that its events named.
    pub references: Vec<ReferenceId>,
    /// The newest event about it.
    pub event: Option<EventId>,
    /// When the answer must be here: before the lease's end.
    pub deadline: Instant,
}

/// What the provider said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// Its present account of the payment.
    Account {
        /// Whether it lists everything. What does not settles that the payment was asked about, and retires nothing else.
        complete: bool,
        /// The provider's own revision of its object, where it has one.
        provider_revision: Option<u64>,
        /// Everything it says of it.
        facts: Vec<Fact>,
    },
    /// Nothing that counts: asked again, not before this moment where it said one.
    Nothing {
        /// Not before.
        not_before: Option<Timestamp>,
        /// Why, for people: at most 500 characters, and no secret.
        detail: String,
        /// Whether the provider answered at all: a word that is not understood is no trouble of the line.
        answered: bool,
    },
}

/// The future of an answer.
pub type Asking<'a> = Pin<Box<dyn Future<Output = Told> + Send + 'a>>;

/// A provider that can be asked about its payments.
pub trait Lookup: Send + Sync {
    /// Asks. Must be over by the deadline; dropping the future ends the call.
    fn ask(&self, question: Question) -> Asking<'_>;
}

impl<T: Lookup + ?Sized> Lookup for Arc<T> {
    fn ask(&self, question: Question) -> Asking<'_> {
        (**self).ask(question)
    }
}
