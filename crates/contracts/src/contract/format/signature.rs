//! `[signature]`: where a signature stands, how it is written, and what it covers.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use super::short::{Texts, short_or_table};
use crate::code::Code;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignatureFormat {
    /// A provider whose verification is a Rust module.
    pub(crate) code: Option<Code>,
    /// From where `code` may ask for a certificate.
    #[serde(default)]
    pub(crate) certificate_hosts: Texts,
    pub(crate) header: Option<String>,
    /// The signature stands in the body (or in each item of a batch), at this path.
    pub(crate) member: Option<String>,
    /// Nothing is signed.
    #[serde(default)]
    pub(crate) unsigned: bool,
    /// Texts of the source that are signed or that choose a key: a URL, an id, a public key.
    #[serde(default)]
    pub(crate) values: BTreeMap<String, String>,
    /// Headers that have to be there although they are not signed.
    #[serde(default)]
    pub(crate) require_headers: Vec<String>,
    #[serde(default)]
    pub(crate) require_body: bool,
    pub(crate) header_list: Option<HeaderListFormat>,
    pub(crate) key_id: Option<KeyIdFormat>,
    /// What the provider sends and the signature does not cover. For people, and never read.
    #[serde(default)]
    pub(crate) uncovered: Texts,
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
    /// `keyId/SHA256/signature`: a key's id, a version, a signature.
    Triples,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimestampFormat {
    pub(crate) key: Option<String>,
    pub(crate) header: Option<String>,
    #[serde(default)]
    pub(crate) unit: TimeUnit,
}

/// How a signed time is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TimeUnit {
    #[default]
    S,
    Ms,
    Rfc3339,
}

/// The names of the headers that are signed stand in the signature's own header.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HeaderListFormat {
    pub(crate) key: String,
    pub(crate) separator: String,
    pub(crate) join: String,
}

/// Which of the source's keys signed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyIdFormat {
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
    /// No MAC: the header is the secret itself.
    #[serde(rename = "static")]
    Static,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SignatureEncoding {
    /// Lower case and nothing else, as providers write it.
    Hex,
    /// For the provider that says no more than "Base16".
    HexAnyCase,
    Base64,
    /// As it is, for a static secret.
    Text,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KeyEncoding {
    Utf8,
    /// The SHA-1 of the text.
    Sha1,
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
