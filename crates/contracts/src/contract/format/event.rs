//! `[money]` and `[[event]]`: which types matter, under which conditions, and what they assert.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use super::short::{Texts, short_or_table};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MoneyFormat {
    pub(crate) shape: Option<Shape>,
    #[serde(default)]
    pub(crate) currency: Texts,
    pub(crate) network: Option<String>,
    pub(crate) asset: Option<String>,
    pub(crate) decimals: Option<String>,
    #[serde(default)]
    pub(crate) exponents: BTreeMap<String, u8>,
    /// The currency of amounts whose event names none, because the provider has only one.
    pub(crate) fixed_currency: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Shape {
    Minor,
    Decimal,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventFormat {
    #[serde(rename = "type")]
    pub(crate) kind: Texts,
    #[serde(default)]
    pub(crate) when: BTreeMap<String, ConditionFormat>,
    #[serde(default)]
    pub(crate) ignore: bool,
    /// It names a payment and says nothing of it: only a lookup tells.
    #[serde(default)]
    pub(crate) lookup: bool,
    pub(crate) payment: Option<Texts>,
    pub(crate) references: Option<Texts>,
    pub(crate) hints: Option<Texts>,
    #[serde(default)]
    pub(crate) facts: Vec<FactFormat>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FactFormat {
    pub(crate) kind: FactKind,
    pub(crate) state: Option<StateFormat>,
    pub(crate) stage: Option<u8>,
    pub(crate) id: Option<Texts>,
    #[serde(default)]
    pub(crate) amount: Texts,
    pub(crate) currency: Option<Texts>,
    /// How this one amount is written, if not as the contract's are.
    pub(crate) shape: Option<Shape>,
    pub(crate) each: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FactKind {
    Pending,
    Authorized,
    Captured,
    AttemptFailed,
    Ended,
    Refunded,
    Disputed,
    TotalCaptured,
    TotalRefunded,
}

/// `state = "settled"`, or the words of a member: `{ member = "status", values = { succeeded = ["paid"] } }`.
#[derive(Debug)]
pub(crate) enum StateFormat {
    Fixed(String),
    Words { member: String, values: BTreeMap<String, Texts> },
}

impl<'de> Deserialize<'de> for StateFormat {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            member: String,
            values: BTreeMap<String, Texts>,
        }
        let expected = "a state, or { member = \"status\", values = { succeeded = [\"paid\"] } }";
        let table = |Table { member, values }: Table| Ok(Self::Words { member, values });
        short_or_table(from, expected, Self::Fixed, table)
    }
}

/// What a member must be: one of these texts, this boolean, there, or not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ConditionFormat {
    Texts(Vec<String>),
    Bool(bool),
    Present,
    Absent,
}

impl<'de> Deserialize<'de> for ConditionFormat {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Short {
            Bool(bool),
            Texts(Texts),
        }
        let expected = "a text, a list of texts, a boolean, { present = true } or { absent = true }";
        let short = |short| match short {
            Short::Bool(value) => Self::Bool(value),
            Short::Texts(texts) => Self::Texts(texts.0),
        };
        // Not a struct: a path without its quotes is a table too, and deserves a better answer than "unknown field".
        let table = |table: toml::Table| {
            let mut members = table.iter().map(|(name, value)| (name.as_str(), value.as_bool()));
            match (members.next(), members.next()) {
                (Some(("present", Some(true)) | ("absent", Some(false))), None) => Ok(Self::Present),
                (Some(("present", Some(false)) | ("absent", Some(true))), None) => Ok(Self::Absent),
                _ => Err("write { present = true } or { absent = true }; \
                          a path stands in quotes: \"data.object.status\" = \"paid\""),
            }
        };
        short_or_table(from, expected, short, table)
    }
}
