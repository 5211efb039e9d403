//! `[read]`: where identity, type, account and mode stand in a delivery.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use super::event::ConditionFormat;
use super::short::{Texts, short_or_table};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadFormat {
    #[serde(default)]
    pub(crate) syntax: Syntax,
    pub(crate) id: Option<IdFormat>,
    #[serde(rename = "type")]
    pub(crate) kind: Option<TypeFormat>,
    pub(crate) account: Option<Texts>,
    pub(crate) mode: Option<ModeFormat>,
    pub(crate) test: Option<String>,
    /// A delivery is a test notification if all of these hold.
    #[serde(default)]
    pub(crate) test_when: BTreeMap<String, ConditionFormat>,
    pub(crate) items: Option<String>,
    /// The provider sends batches without events: they are none, and not unreadable.
    #[serde(default)]
    pub(crate) empty_items: bool,
    pub(crate) same_content: Option<SameContentFormat>,
    #[serde(default)]
    pub(crate) ignore_when: BTreeMap<String, ConditionFormat>,
    pub(crate) payment: Option<Texts>,
    #[serde(default)]
    pub(crate) references: Texts,
    #[serde(default)]
    pub(crate) hints: Texts,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Syntax {
    #[default]
    Json,
    Form,
}

/// `id = "id"`, `{ header = "webhook-id" }`, `{ derived = ["type", "data.id"], optional = ["data.status"] }`,
/// `{ body = true }` (the bytes themselves) or `{ none = true }`.
#[derive(Debug)]
pub(crate) enum IdFormat {
    Member(Texts),
    Header(String),
    Derived { members: Texts, optional: Texts },
    Body,
    None,
}

impl<'de> Deserialize<'de> for IdFormat {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            header: Option<String>,
            derived: Option<Texts>,
            #[serde(default)]
            optional: Texts,
            #[serde(default)]
            body: bool,
            #[serde(default)]
            none: bool,
        }
        let table = |table: Table| match (table.header, table.derived, table.body, table.none) {
            (None, Some(members), false, false) => Ok(Self::Derived { members, optional: table.optional }),
            _ if !table.optional.0.is_empty() => Err("`optional` belongs to `derived`"),
            (Some(name), None, false, false) => Ok(Self::Header(name)),
            (None, None, true, false) => Ok(Self::Body),
            (None, None, false, true) => Ok(Self::None),
            _ => Err("write one of `header`, `derived`, `body = true` and `none = true`"),
        };
        short_or_table(
            from,
            "a member, { header = \"...\" }, { derived = [...] }, { body = true } or { none = true }",
            Self::Member,
            table,
        )
    }
}

/// `type = "type"`, `{ join = ["resource_type", "action"], separator = "." }`, `{ header = "X-Topic" }` or
/// `{ fixed = "payment" }`, or `{ value = "topic" }`, which the source states.
#[derive(Debug)]
pub(crate) enum TypeFormat {
    Member(Texts),
    Join {
        members: Texts,
        separator: String,
    },
    Header(String),
    Fixed(String),
    /// What the source says: one endpoint for each type.
    Value(String),
}

impl<'de> Deserialize<'de> for TypeFormat {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            join: Option<Texts>,
            separator: Option<String>,
            header: Option<String>,
            fixed: Option<String>,
            value: Option<String>,
        }
        let table = |table: Table| match (table.join, table.separator, table.header, table.fixed, table.value)
        {
            (Some(members), Some(separator), None, None, None) => Ok(Self::Join { members, separator }),
            (Some(_), None, None, None, None) => Err("`join` needs a `separator`"),
            (None, None, Some(name), None, None) => Ok(Self::Header(name)),
            (None, None, None, Some(word), None) => Ok(Self::Fixed(word)),
            (None, None, None, None, Some(name)) => Ok(Self::Value(name)),
            _ => Err("write one of `join` (with `separator`), `header`, `fixed` and `value`"),
        };
        let expected =
            "a member, { join = [...], separator = \".\" }, { header = \"...\" } or { fixed = \"...\" }";
        short_or_table(from, expected, Self::Member, table)
    }
}

/// `mode = "livemode"` (a boolean), or the words of a text member.
#[derive(Debug)]
pub(crate) enum ModeFormat {
    Livemode(Texts),
    /// A boolean that is true in test mode.
    Testmode(Texts),
    Words {
        member: Texts,
        live: Vec<String>,
        test: Vec<String>,
    },
}

impl<'de> Deserialize<'de> for ModeFormat {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            testmode: Option<Texts>,
            member: Option<Texts>,
            live: Option<Texts>,
            test: Option<Texts>,
        }
        let expected = "a boolean member, { testmode = \"test\" } or { member = \"mode\", live = \"live\", test = \"test\" }";
        let table = |table: Table| match (table.testmode, table.member, table.live, table.test) {
            (Some(members), None, None, None) => Ok(Self::Testmode(members)),
            (None, Some(member), Some(live), Some(test)) => {
                Ok(Self::Words { member, live: live.0, test: test.0 })
            }
            _ => Err(
                "write { testmode = \"test\" } or { member = \"mode\", live = \"live\", test = \"test\" }",
            ),
        };
        short_or_table(from, expected, Self::Livemode, table)
    }
}

/// `same_content = "all"`, `{ without = [...] }` or `{ only = [...] }`.
#[derive(Debug)]
pub(crate) struct SameContentFormat {
    pub(crate) without: Vec<String>,
    pub(crate) only: Vec<String>,
}

impl<'de> Deserialize<'de> for SameContentFormat {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "lowercase")]
        enum Word {
            All,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            #[serde(default)]
            without: Texts,
            #[serde(default)]
            only: Texts,
        }
        let all = |Word::All| Self { without: Vec::new(), only: Vec::new() };
        let table = |table: Table| match (table.without.0.is_empty(), table.only.0.is_empty()) {
            (false, false) => Err("write either `without` or `only`"),
            _ => Ok(Self { without: table.without.0, only: table.only.0 }),
        };
        short_or_table(from, "\"all\", { without = [members] } or { only = [members] }", all, table)
    }
}
