//! Asking a provider for a payment: the request that a program has to send, and what its answer says.
//!
//! Pure: nothing is sent here. The host is the contract's, ids are percent-encoded, and an answer that is not about
//! the payment that was asked for, or has a status that the contract does not know, is refused and never guessed.

mod answer;
mod recent;
mod request;

use std::fmt;

use crate::contract::Contract;
use crate::contract::lookup::LookupRule;

pub use answer::{Answer, Snapshot, Token};
pub use recent::{Page, Recent};
pub use request::{Asked, Request};

/// How one contract's payments are looked up.
#[derive(Debug, Clone, Copy)]
pub struct Lookup<'c> {
    rule: &'c LookupRule,
}

impl Contract {
    /// How payments are looked up, where the contract says it.
    #[must_use]
    pub fn lookup(&self) -> Option<Lookup<'_>> {
        self.lookup_rule().map(|rule| Lookup { rule })
    }
}

/// Why there is no request, or why an answer says nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LookupRefused {
    /// The address needs an id that is not there, or one that would change the path.
    #[error("the address cannot be made: {0}")]
    NoAddress(&'static str),
    /// The key has not the form that the provider's authentication needs.
    #[error("the key for lookups {0}")]
    Key(&'static str),
    /// The provider does not accept the key. Trying again does not help.
    #[error("the provider does not accept the key (status {0})")]
    Unauthorized(u16),
    /// Too many requests, or trouble at the provider: try again later.
    #[error("the provider cannot answer now (status {0})")]
    Later(u16),
    /// A status that is no answer.
    #[error("status {0} is no answer")]
    Status(u16),
    /// The body is not what the contract says. It names the member, never its value.
    #[error("{0}")]
    Unreadable(String),
    /// It is about another payment than the one that was asked for.
    #[error("the answer is about another payment")]
    AnotherPayment,
    /// It is of another mode than the one that was asked in.
    #[error("the answer is of another mode")]
    AnotherMode,
    /// The provider's word for the state is not in the contract.
    #[error("a status that the contract does not know")]
    UnknownStatus,
}

impl LookupRefused {
    /// Whether the same question may have an answer later.
    #[must_use]
    pub fn retryable(&self) -> bool {
        matches!(self, Self::Later(_))
    }
}

/// Text that is filled in and must not show in logs.
struct Hidden;

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
