//! The contract file as it is written: what TOML may say, and nothing that the interpreter would pass over.
//!
//! Every table denies unknown members, so what the format cannot do yet (form fields, signatures inside items,
//! keys chosen by a header, tolerances in other units ...) is refused where it is written. Members are optional
//! here wherever an overlay may bring them; `compile` says what is still missing.

mod event;
mod read;
mod short;
mod signature;

use std::collections::BTreeMap;

use serde::Deserialize;

pub(crate) use event::{ConditionFormat, EventFormat, FactFormat, FactKind, MoneyFormat, Shape, StateFormat};
pub(crate) use read::{IdFormat, ModeFormat, ReadFormat};
pub(crate) use short::Texts;
pub(crate) use signature::{
    Grammar, KeyEncoding, KeyFormat, MacKind, SignatureEncoding, SignatureFormat, TimestampFormat,
};

/// A whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Format {
    pub(crate) format: u32,
    pub(crate) provider: String,
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) docs: Vec<String>,
    #[serde(default)]
    pub(crate) truth: Truth,
    #[serde(default)]
    pub(crate) certainty: BTreeMap<String, Certainty>,
    #[serde(default)]
    pub(crate) signature: SignatureFormat,
    #[serde(default)]
    pub(crate) read: ReadFormat,
    #[serde(default)]
    pub(crate) money: MoneyFormat,
    #[serde(default)]
    pub(crate) event: Vec<EventFormat>,
    #[serde(default)]
    pub(crate) acknowledge: AcknowledgeFormat,
    #[serde(default)]
    pub(crate) redelivery: RedeliveryFormat,
}

/// Whose word counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Truth {
    /// The event's own facts are applied.
    #[default]
    Event,
    /// Every event only owes a lookup. Refused until lookups exist.
    Fetch,
}

/// How well a part of a contract is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    /// Reproduced from the provider's own code or published values.
    Verified,
    /// Read in the provider's documentation, SDK or API description.
    Documented,
    /// Somebody else's word.
    Reported,
    /// From memory, or assumed.
    Unverified,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AcknowledgeFormat {
    #[serde(default = "ok")]
    pub(crate) status: u16,
    #[serde(default)]
    pub(crate) body: String,
    pub(crate) conflict_status: Option<u16>,
}

fn ok() -> u16 {
    200
}

impl Default for AcknowledgeFormat {
    fn default() -> Self {
        Self { status: ok(), body: String::new(), conflict_status: None }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RedeliveryFormat {
    pub(crate) window_h: Option<u32>,
}
