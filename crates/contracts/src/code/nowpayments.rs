//! NOWPayments: HMAC-SHA512 in lower-case hexadecimal over the body's members, sorted and written again.
//!
//! The bytes are not signed, so two deliveries are the same when their members are. Nested objects are ambiguous
//! (their own libraries disagree) and refused rather than guessed.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha512;

use super::{Request, Scheme, canonical, header, lower_hex, texts};
use crate::json::Document;
use crate::secret::{Secret, SecretError};
use crate::verify::Refused;

const EXPECTED: &str = "the IPN secret, the whole text as the provider shows it";
const HEADER: &str = "x-nowpayments-sig";

pub(super) struct NowPayments(Vec<Hmac<Sha512>>);

impl std::fmt::Debug for NowPayments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NowPayments({} keys, ***)", self.0.len())
    }
}

impl NowPayments {
    pub(super) fn new(secrets: &[Secret]) -> Result<Self, SecretError> {
        let mut keys = Vec::with_capacity(secrets.len());
        for (index, text) in texts(secrets, EXPECTED)?.into_iter().enumerate() {
            keys.push(Hmac::new_from_slice(text.as_bytes()).map_err(|_| SecretError::Malformed {
                position: index + 1,
                problem: "has no usable length",
                expected: EXPECTED.to_owned(),
            })?);
        }
        Ok(Self(keys))
    }
}

impl Scheme for NowPayments {
    fn verify(&self, request: &Request<'_>) -> Result<usize, Refused> {
        let text = match header(request.headers, HEADER) {
            Err(Refused::MissingHeader) => return Err(Refused::MissingSignature),
            other => other?,
        };
        let mac = lower_hex(text).ok_or(Refused::SignatureMismatch)?;
        // Parsed before it is proved, because the proof is over what it says. The reader is bounded in depth and work.
        let document = Document::parse(request.body).map_err(|_| Refused::AmbiguousBody)?;
        let canonical = canonical::text(document.root()).map_err(|_| Refused::AmbiguousBody)?;
        let mut fitting = None;
        for (position, key) in self.0.iter().enumerate() {
            if key.clone().chain_update(canonical.as_bytes()).verify_slice(&mac).is_ok() {
                fitting = fitting.or(Some(position));
            }
        }
        fitting.ok_or(Refused::SignatureMismatch)
    }
}
