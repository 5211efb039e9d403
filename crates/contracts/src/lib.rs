//! Delivery contracts: how a provider's notifications are proved genuine and what they assert, as data.
//!
//! ```text
//! contracts/*.toml ── parse, merge, check ──> Contract
//! Contract + secrets ──> Verifier ── headers, raw body, now ──> Verified ── read ──> notices for the ledger
//! ```
//!
//! It knows JSON and signatures and nothing else: no network, no clock, no store, no configuration file, no HTTP
//! library. A provider is added as a file; code only where the format cannot say it.
//!
//! Two limits are the caller's: how large a body may be, and who reads `Refused` (never the sender).

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

mod code;
mod contract;
mod form;
mod json;
mod lookup;
mod pointer;
mod read;
mod secret;
mod sign;
pub mod vectors;
mod verify;

pub use code::{CertificateError, Certificates};
pub use contract::{Acknowledgement, Certainty, Contract, ContractError, Redelivery, Strength, Truth};
pub use lookup::{Answer, Asked, Lookup, LookupRefused, Page, Recent, Request, Snapshot, Token};
pub use read::{Delivery, ITEMS_MAX, Stored};
pub use secret::{Secret, SecretError};
pub use verify::{Refused, SECRETS_MAX, SIGNATURES_MAX, Verified, Verifier};
