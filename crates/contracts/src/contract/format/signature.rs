//! `[signature]`: where a signature stands, how it is written, and what it covers.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use super::short::{Texts, short_or_table};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignatureFormat {
    pub(crate) header: Option<String>,
    #[serde(default)]
    pub(crate) aliases: BTreeMap<String, Texts>,
    #[serde(default)]
    pub(crate) grammar: Grammar,
    pub(crate) prefix: Option<String>,
    pub(crate) optional_prefix: Option<String>,
    #[serde(default)]
    pub(crate) repeatable: bool,
    pub(crate) item_separator: Option<String>,
    pub(crate) key_separator: Option<String>,
    pub(crate) timestamp: Option<TimestampFormat>,
    pub(crate) signed: Option<Vec<String>>,
    pub(crate) max_age_s: Option<i64>,
    pub(crate) max_future_s: Option<i64>,
    pub(crate) mac: Option<MacKind>,
    pub(crate) key: Option<KeyFormat>,
    pub(crate) encoding: Option<SignatureEncoding>,
    #[serde(default)]
    pub(crate) versions: BTreeMap<String, VersionFormat>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Grammar {
    #[default]
    Plain,
    List,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimestampFormat {
    pub(crate) key: Option<String>,
    pub(crate) header: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VersionFormat {
    pub(crate) mac: Option<MacKind>,
    pub(crate) key: Option<KeyFormat>,
    pub(crate) encoding: Option<SignatureEncoding>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) enum MacKind {
    #[serde(rename = "hmac-sha1")]
    HmacSha1,
    #[serde(rename = "hmac-sha256")]
    HmacSha256,
    #[serde(rename = "hmac-sha512")]
    HmacSha512,
    #[serde(rename = "ed25519")]
    Ed25519,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SignatureEncoding {
    Hex,
    Base64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KeyEncoding {
    Utf8,
    Base64,
    Hex,
}

/// `key = "utf8"`, or a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyFormat {
    pub(crate) encoding: KeyEncoding,
    pub(crate) prefix: Option<String>,
    pub(crate) require_prefix: bool,
    pub(crate) refuse_prefix: Vec<String>,
}

impl<'de> Deserialize<'de> for KeyFormat {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            encoding: KeyEncoding,
            prefix: Option<String>,
            #[serde(default)]
            require_prefix: bool,
            #[serde(default)]
            refuse_prefix: Texts,
        }
        let whole =
            |encoding| Self { encoding, prefix: None, require_prefix: false, refuse_prefix: Vec::new() };
        let table = |Table { encoding, prefix, require_prefix, refuse_prefix }: Table| {
            Ok(Self { encoding, prefix, require_prefix, refuse_prefix: refuse_prefix.0 })
        };
        short_or_table(from, "a key encoding (utf8, base64, hex) or a table with it", whole, table)
    }
}
