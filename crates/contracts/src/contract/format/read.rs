//! `[read]`: where identity, type, account and mode stand in a delivery.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use super::event::ConditionFormat;
use super::short::{Texts, short_or_table};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadFormat {
    #[serde(default)]
    #[expect(dead_code, reason = "one syntax exists; the member keeps room for forms and XML")]
    pub(crate) syntax: Syntax,
    pub(crate) id: Option<IdFormat>,
    #[serde(rename = "type")]
    pub(crate) kind: Option<Texts>,
    pub(crate) account: Option<Texts>,
    pub(crate) mode: Option<ModeFormat>,
    pub(crate) test: Option<String>,
    pub(crate) items: Option<String>,
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
}

/// `id = "id"`, `id = { header = "webhook-id" }` or `id = { derived = ["type", "data.id"] }`.
#[derive(Debug)]
pub(crate) enum IdFormat {
    Member(Texts),
    Header(String),
    Derived(Texts),
}

impl<'de> Deserialize<'de> for IdFormat {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            header: Option<String>,
            derived: Option<Texts>,
        }
        let table = |table: Table| match (table.header, table.derived) {
            (Some(name), None) => Ok(Self::Header(name)),
            (None, Some(members)) => Ok(Self::Derived(members)),
            _ => Err("write either `header` or `derived`"),
        };
        short_or_table(from, "a member, { header = \"...\" } or { derived = [...] }", Self::Member, table)
    }
}

/// `mode = "livemode"` (a boolean), or the words of a text member.
#[derive(Debug)]
pub(crate) enum ModeFormat {
    Livemode(Texts),
    Words { member: Texts, live: Vec<String>, test: Vec<String> },
}

impl<'de> Deserialize<'de> for ModeFormat {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            member: Texts,
            live: Texts,
            test: Texts,
        }
        let expected = "a boolean member, or { member = \"mode\", live = \"live\", test = \"test\" }";
        let table =
            |Table { member, live, test }: Table| Ok(Self::Words { member, live: live.0, test: test.0 });
        short_or_table(from, expected, Self::Livemode, table)
    }
}

/// `same_content = "all"`, or `{ without = [...] }`.
#[derive(Debug)]
pub(crate) struct SameContentFormat {
    pub(crate) without: Vec<String>,
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
            without: Texts,
        }
        let all = |Word::All| Self { without: Vec::new() };
        let table = |table: Table| Ok(Self { without: table.without.0 });
        short_or_table(from, "\"all\" or { without = [members] }", all, table)
    }
}
