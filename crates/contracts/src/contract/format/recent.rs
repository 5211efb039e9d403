//! `[recent]`: where a provider lists the events of late, for what was missed while the endpoint was down.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::event::ConditionFormat;
use super::lookup::{AuthFormat, ByMode};
use super::signature::TimeUnit;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecentFormat {
    pub(crate) url: ByMode,
    pub(crate) auth: AuthFormat,
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    /// The list in the answer; each item is an event as it is delivered.
    pub(crate) items: String,
    pub(crate) since: Option<SinceFormat>,
    pub(crate) next: Option<NextFormat>,
    /// When a further page follows. Without it: while the answer names one.
    #[serde(default)]
    pub(crate) more: BTreeMap<String, ConditionFormat>,
}

/// `{ parameter = "created[gte]", unit = "s" }`: only what is not older.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SinceFormat {
    pub(crate) parameter: String,
    #[serde(default)]
    pub(crate) unit: TimeUnit,
}

/// How the next page is asked for: `parameter` is what the answer says at `member`, or what its last item says at `last`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NextFormat {
    pub(crate) parameter: String,
    pub(crate) member: Option<String>,
    pub(crate) last: Option<String>,
}
