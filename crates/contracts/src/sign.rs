//! Signing by the contract's own data: for `paidonce send`, the demo, the torture kit and the tests.
//!
//! It is the verifier turned round, so a contract that can be verified by a shared secret can be signed for.
//! Public-key signatures are the provider's alone.

use crate::contract::Contract;
use crate::contract::format::TimeUnit;
use crate::contract::signature::{Grammar, Part, SignaturePlace, TimestampPlace};
use crate::secret::{Secret, SecretError};
use crate::verify::key::{encode, prepare};

impl Contract {
    /// The headers of a genuine delivery of `body`, signed now. `id` fills the signed header that identifies the
    /// event, where the contract has one.
    ///
    /// # Errors
    /// The secret has none of the contract's forms, or can only verify.
    pub fn sign(
        &self,
        secret: &Secret,
        id: &str,
        body: &[u8],
        now_unix_s: i64,
    ) -> Result<Vec<(String, String)>, SecretError> {
        let signature = self.signature();
        let plain = matches!(signature.place, SignaturePlace::Header)
            && signature.header_list.is_none()
            && signature.key_id.is_none();
        if !plain {
            return Err(SecretError::CannotSign { problem: "only what one header signs can be signed here" });
        }
        let timestamp = match &signature.timestamp {
            None | Some((_, TimeUnit::S)) => now_unix_s.to_string(),
            Some((_, TimeUnit::Ms)) => format!("{now_unix_s}000"),
            Some((_, TimeUnit::Rfc3339)) => {
                return Err(SecretError::CannotSign { problem: "its time is written in words" });
            }
        };
        let keys = prepare(&signature.schemes, secret, 0, false)?;
        let header_text = |index: usize| match &signature.timestamp {
            Some((TimestampPlace::Header(at), _)) if *at == index => timestamp.as_str(),
            _ => id,
        };
        let parts = || {
            signature.signed.iter().map(|part| match part {
                Part::Body => body,
                Part::Timestamp => timestamp.as_bytes(),
                Part::Header(index) => header_text(*index).as_bytes(),
                Part::Literal(text) => text.as_bytes(),
                Part::Member(_) | Part::HeaderNames | Part::HeaderValues => &[],
            })
        };
        let signed = keys.iter().find_map(|key| Some((&signature.schemes[key.scheme], key.sign(parts())?)));
        let (scheme, mac) = signed
            .ok_or(SecretError::CannotSign { problem: "a public key only verifies; use a shared secret" })?;
        let written = encode(scheme.encoding, &mac);
        let value = match &signature.grammar {
            Grammar::Plain { prefix, .. } => format!("{prefix}{written}"),
            Grammar::Triples { .. } => return Err(SecretError::CannotSign { problem: "its key has an id" }),
            Grammar::List { item, key } => match &signature.timestamp {
                Some((TimestampPlace::Key(name), _)) => {
                    format!("{name}{key}{timestamp}{item}{}{key}{written}", scheme.version)
                }
                _ => format!("{}{key}{written}", scheme.version),
            },
        };
        let names = signature.families[0].iter().enumerate();
        Ok(names
            .map(|(index, name)| {
                (name.clone(), if index == 0 { value.clone() } else { header_text(index).to_owned() })
            })
            .collect())
    }
}
