//! `[lookup]`: where a provider is asked for a payment, and how its answer becomes facts.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use super::event::{ConditionFormat, EventFormat, MoneyFormat};
use super::read::ModeFormat;
use super::short::{Texts, short_or_table};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LookupFormat {
    pub(crate) url: ByMode,
    pub(crate) auth: AuthFormat,
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    /// The member that repeats the payment's id.
    pub(crate) id: Texts,
    /// The member whose word picks the row of `event`.
    pub(crate) status: Texts,
    pub(crate) mode: Option<ModeFormat>,
    pub(crate) revision: Option<String>,
    #[serde(default)]
    pub(crate) references: Texts,
    #[serde(default)]
    pub(crate) hints: Texts,
    /// When the answer lists all that there is. Without it, it never does.
    #[serde(default)]
    pub(crate) complete_when: BTreeMap<String, ConditionFormat>,
    /// The statuses that say that there is no such payment.
    #[serde(default = "gone")]
    pub(crate) not_found: Vec<u16>,
    pub(crate) money: Option<MoneyFormat>,
    #[serde(default)]
    pub(crate) event: Vec<EventFormat>,
}

fn gone() -> Vec<u16> {
    vec![404]
}

/// `"https://..."` for both modes, or `{ live = "...", test = "..." }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ByMode {
    pub(crate) live: String,
    pub(crate) test: String,
}

impl<'de> Deserialize<'de> for ByMode {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            live: String,
            test: String,
        }
        let both = |text: String| Self { live: text.clone(), test: text };
        let table = |Table { live, test }: Table| Ok(Self { live, test });
        short_or_table(from, "an https address, or { live = \"...\", test = \"...\" }", both, table)
    }
}

/// `"bearer"`, `"basic"`, `{ header = "X-Api-Key" }` or `{ token_url = "..." }` (OAuth 2 client credentials).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AuthFormat {
    Bearer,
    Basic,
    Header { name: String, prefix: String },
    OAuth2(ByMode),
}

impl<'de> Deserialize<'de> for AuthFormat {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "lowercase")]
        enum Word {
            Bearer,
            Basic,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            header: Option<String>,
            #[serde(default)]
            prefix: String,
            token_url: Option<ByMode>,
        }
        let word = |word| match word {
            Word::Bearer => Self::Bearer,
            Word::Basic => Self::Basic,
        };
        let table = |Table { header, prefix, token_url }: Table| match (header, token_url) {
            (Some(name), None) => Ok(Self::Header { name, prefix }),
            (None, Some(url)) if prefix.is_empty() => Ok(Self::OAuth2(url)),
            _ => Err("write { header = \"...\" } or { token_url = \"...\" }"),
        };
        short_or_table(from, "\"bearer\", \"basic\", { header = ... } or { token_url = ... }", word, table)
    }
}
