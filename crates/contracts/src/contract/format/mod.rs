//! The contract file as it is written: what TOML may say, and nothing that the interpreter would pass over.
//!
//! Every table denies unknown members, so what the format cannot do is refused where it is written. Members are optional
//! here wherever an overlay may bring them; `compile` says what is still missing.

mod event;
mod lookup;
mod read;
mod recent;
mod short;
mod signature;

use std::collections::BTreeMap;

use serde::Deserialize;

pub(crate) use event::{ConditionFormat, EventFormat, FactFormat, FactKind, MoneyFormat, Shape, StateFormat};
pub(crate) use lookup::{AuthFormat, ByMode, LookupFormat};
pub(crate) use read::{IdFormat, ModeFormat, ReadFormat, Syntax, TypeFormat};
pub(crate) use recent::{NextFormat, RecentFormat};
pub(crate) use short::Texts;
pub(crate) use signature::{
    Grammar, HeaderListFormat, KeyEncoding, KeyFormat, MacKind, SignatureEncoding, SignatureFormat, TimeUnit,
    TimestampFormat,
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
    pub(crate) strength: StrengthFormat,
    #[serde(default)]
    pub(crate) signature: SignatureFormat,
    #[serde(default)]
    pub(crate) read: ReadFormat,
    #[serde(default)]
    pub(crate) money: MoneyFormat,
    #[serde(default)]
    pub(crate) event: Vec<EventFormat>,
    pub(crate) lookup: Option<LookupFormat>,
    pub(crate) recent: Option<RecentFormat>,
    #[serde(default)]
    pub(crate) acknowledge: AcknowledgeFormat,
    #[serde(default)]
    pub(crate) redelivery: RedeliveryFormat,
}

/// Whose word counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Truth {
    /// The event's own facts are applied.
    #[default]
    Event,
    /// Every event only owes a lookup: its own facts are never applied.
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
    /// The statuses that this provider takes for "received", if not every 2xx.
    #[serde(default)]
    pub(crate) accepted: Vec<u16>,
    /// Statuses that do harm: they end the retries, or the endpoint.
    #[serde(default)]
    pub(crate) avoid: Vec<u16>,
    /// The status for what is not genuine, where the provider has one of its own.
    pub(crate) refused_status: Option<u16>,
}

fn ok() -> u16 {
    200
}

impl Default for AcknowledgeFormat {
    fn default() -> Self {
        Self {
            status: ok(),
            body: String::new(),
            conflict_status: None,
            accepted: Vec::new(),
            avoid: Vec::new(),
            refused_status: None,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RedeliveryFormat {
    pub(crate) window_h: Option<u32>,
    /// Where hours are too coarse: the whole window in seconds.
    pub(crate) window_s: Option<u32>,
    /// Seconds from one try to the next.
    #[serde(default)]
    pub(crate) schedule_s: Vec<u32>,
    /// How long the provider waits for an answer.
    pub(crate) timeout_s: Option<u32>,
}

/// A limit of what an event's word is worth, beyond what the signature shows by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strength {
    /// Identity, type and content are covered by the signature.
    Full,
    /// The content is covered; something that is needed to understand it is not, or is not known well enough.
    Partial,
    /// What comes is only a reason to ask: nothing of its content is proved.
    HintOnly,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StrengthFormat {
    pub(crate) level: Option<Strength>,
    pub(crate) why: Option<String>,
}
