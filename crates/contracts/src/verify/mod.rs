//! Whether a request is genuine: decided over its raw bytes, before anything in them is read.
//!
//! Sans I/O and without a clock: headers, body and `now` come in, a [`Verified`] or a [`Refused`] goes out.
//! There is no entry point that takes a parsed value, and no setting that skips anything.

mod header;
pub(crate) mod key;
mod member;
mod refused;
mod time;

pub use refused::Refused;
pub(crate) use time::rfc3339_text;

use crate::code::{Certificates, Request, Scheme};
use crate::contract::Contract;
use crate::contract::plan::KindRule;
use crate::contract::signature::{Age, Part, Signature, SignaturePlace};
use crate::read::{Delivery, Received, read};
use crate::secret::{Secret, SecretError};
use header::{Claim, Located};
use key::Key;

/// The most secrets of one source: the current one, the next, and one for each of a few registrations.
pub const SECRETS_MAX: usize = 8;

/// The most signatures of one request that are tried. Providers send two while a secret is rolled.
pub const SIGNATURES_MAX: usize = 8;

/// A contract with the secrets of one source, prepared.
#[derive(Debug)]
pub struct Verifier {
    contract: Contract,
    keys: Vec<Key>,
    /// Where the contract's verification is code.
    code: Option<Box<dyn Scheme>>,
}

/// A delivery that was proved genuine. Made only by [`Verifier::verify`].
#[derive(Debug)]
pub struct Verified<'a> {
    contract: &'a Contract,
    body: &'a [u8],
    /// The headers that the contract names, by its numbers.
    headers: Vec<&'a [u8]>,
    received_unix_s: i64,
    timestamp_unix_s: Option<i64>,
    secret_position: usize,
}

impl Verifier {
    /// Prepares the keys. Several secrets are for a rotation, or for several registrations on one URL.
    ///
    /// # Errors
    /// No secret, an empty one, or one that has none of the forms that the contract knows; or the source does not state
    /// a value that the contract needs.
    pub fn new(contract: &Contract, secrets: &[Secret]) -> Result<Self, SecretError> {
        if let KindRule::Unstated(name) = &contract.plan().kind {
            return Err(SecretError::Value { name: name.clone(), problem: "is not stated" });
        }
        Self::of_signatures(contract, secrets)
    }

    /// As [`Self::new`], where nothing will be read: what only the reading needs may be unstated.
    pub(crate) fn of_signatures(contract: &Contract, secrets: &[Secret]) -> Result<Self, SecretError> {
        let signature = contract.signature();
        let mut verifier = Self { contract: contract.clone(), keys: Vec::new(), code: None };
        match &signature.place {
            SignaturePlace::Code { code, values, hosts } => {
                verifier.code = Some(code.prepare(values, hosts, secrets)?);
                return Ok(verifier);
            }
            // A secret that nothing would ever be compared with is a misunderstanding.
            SignaturePlace::Nowhere if !secrets.is_empty() => {
                return Err(SecretError::TooMany { count: secrets.len(), most: 0 });
            }
            SignaturePlace::Nowhere => return Ok(verifier),
            SignaturePlace::Header | SignaturePlace::Member(_) => {}
        }
        let schemes = &signature.schemes;
        if secrets.is_empty() {
            return Err(SecretError::None { expected: key::expected(schemes) });
        }
        if secrets.len() > SECRETS_MAX {
            return Err(SecretError::TooMany { count: secrets.len(), most: SECRETS_MAX });
        }
        let with_id = signature.key_id.is_some();
        for (position, secret) in secrets.iter().enumerate() {
            verifier.keys.extend(key::prepare(schemes, secret, position, with_id)?);
        }
        Ok(verifier)
    }

    /// The contract whose deliveries it verifies.
    #[must_use]
    pub fn contract(&self) -> &Contract {
        &self.contract
    }

    /// Verifies one request. `headers` are its header lines, in any case and order, repeated ones repeated.
    ///
    /// # Errors
    /// Why it is not genuine. That is for counters and logs: whoever sent it gets one answer for all of them.
    pub fn verify<'a>(
        &'a self,
        headers: &[(&'a str, &'a [u8])],
        body: &'a [u8],
        now_unix_s: i64,
    ) -> Result<Verified<'a>, Refused> {
        let signature = self.contract.signature();
        if signature.require_body && body.is_empty() {
            return Err(Refused::MissingBody);
        }
        match &signature.place {
            SignaturePlace::Header => {}
            SignaturePlace::Member(member) => {
                let position = self.matching_members(member, body)?;
                return Ok(self.verified(body, Vec::new(), now_unix_s, position));
            }
            SignaturePlace::Nowhere => return Ok(self.verified(body, Vec::new(), now_unix_s, 0)),
            SignaturePlace::Code { .. } => {
                return self.verify_with(headers, body, now_unix_s, &Certificates::none());
            }
        }
        let located = header::locate(signature, headers)?;
        let claim = header::claim(signature, &located, headers)?;
        let secret_position = self.matching_secret(signature, &located, &claim, body)?;
        // Only now is the timestamp anybody's word but the sender's.
        if let (Some(age), Some((_, at))) = (signature.age, claim.timestamp) {
            in_time(age, at, now_unix_s)?;
        }
        let verified = self.verified(body, located.headers, now_unix_s, secret_position);
        Ok(Verified { timestamp_unix_s: claim.timestamp.map(|(_, at)| at), ..verified })
    }

    /// Verifies one request of a provider that signs with a certificate, of which `certificates` holds those that
    /// were fetched. For every other provider it is [`Self::verify`].
    ///
    /// # Errors
    /// Why it is not genuine; [`Refused::NeedsCertificate`] if [`Self::certificate_url`] has to be fetched first.
    pub fn verify_with<'a>(
        &'a self,
        headers: &[(&'a str, &'a [u8])],
        body: &'a [u8],
        now_unix_s: i64,
        certificates: &Certificates,
    ) -> Result<Verified<'a>, Refused> {
        let Some(code) = &self.code else { return self.verify(headers, body, now_unix_s) };
        let position = code.verify(&Request { headers, body, now_unix_s, certificates })?;
        Ok(self.verified(body, Vec::new(), now_unix_s, position))
    }

    /// The address of the certificate that a request is signed with, if it is one that may be fetched.
    ///
    /// # Errors
    /// The request names an address that is not the provider's.
    pub fn certificate_url<'h>(&self, headers: &[(&'h str, &'h [u8])]) -> Result<Option<&'h str>, Refused> {
        self.code.as_ref().map_or(Ok(None), |code| code.certificate_url(headers))
    }

    /// The answer to the provider's test of the endpoint, from the query of its GET request.
    ///
    /// # Errors
    /// The provider has no such test, or this is none.
    pub fn challenge(&self, query: &str) -> Result<String, Refused> {
        self.code.as_ref().map_or(Err(Refused::InvalidChallenge), |code| code.challenge(query))
    }

    fn verified<'a>(
        &'a self,
        body: &'a [u8],
        headers: Vec<&'a [u8]>,
        received_unix_s: i64,
        secret_position: usize,
    ) -> Verified<'a> {
        let contract = &self.contract;
        Verified { contract, body, headers, received_unix_s, timestamp_unix_s: None, secret_position }
    }

    /// Tries every key on every signature of its kind, each in constant time.
    fn matching_secret(
        &self,
        signature: &Signature,
        located: &Located<'_>,
        claim: &Claim<'_>,
        body: &[u8],
    ) -> Result<usize, Refused> {
        let parts = || {
            signature.signed.iter().map(|part| match part {
                Part::Body => body,
                Part::Timestamp => claim.timestamp.map(|(text, _)| text.as_bytes()).unwrap_or_default(),
                Part::Header(index) => located.headers[*index],
                Part::Literal(text) => text.as_bytes(),
                Part::HeaderNames => claim.header_names.as_bytes(),
                Part::HeaderValues => &claim.header_values,
                // Only a signature that is a member itself covers members.
                Part::Member(_) => &[],
            })
        };
        let mut tried = false;
        let mut matching = None;
        for key in &self.keys {
            let encoding = signature.schemes[key.scheme].encoding;
            let of_its_kind = || {
                claim.signatures.iter().filter(|signed| {
                    signed.scheme == key.scheme && (key.id.is_none() || signed.key_id == key.id.as_deref())
                })
            };
            if of_its_kind().next().is_none() {
                continue;
            }
            tried = true;
            if key.fits_any(parts(), of_its_kind().map(|signed| signed.text), encoding) {
                matching = matching.or(Some(key.secret_position));
            }
        }
        match matching {
            Some(position) => Ok(position),
            None if tried => Err(Refused::SignatureMismatch),
            None => Err(Refused::NoSignatureOfExpectedScheme),
        }
    }
}

/// Both differences saturate: a timestamp of fifteen digits cannot overflow them, a clock of any value neither.
fn in_time(age: Age, at: i64, now: i64) -> Result<(), Refused> {
    let age_s = now.saturating_sub(at);
    if age_s > age.max_age_s {
        return Err(Refused::TimestampTooOld { age_s });
    }
    let ahead_s = at.saturating_sub(now);
    if age.max_future_s.is_some_and(|max| ahead_s > max) {
        return Err(Refused::TimestampInFuture { ahead_s });
    }
    Ok(())
}

impl<'a> Verified<'a> {
    /// Reads its events by the contract that verified it. Never fails: what cannot be read is a notice that
    /// says so.
    #[must_use]
    pub fn read(&self) -> Delivery {
        read(
            self.contract.plan(),
            self.body,
            Received { headers: &self.headers, at_unix_s: self.received_unix_s },
        )
    }

    /// The bytes that were signed.
    #[must_use]
    pub fn body(&self) -> &'a [u8] {
        self.body
    }

    /// Which of the source's secrets fitted, from 0.
    #[must_use]
    pub fn secret_position(&self) -> usize {
        self.secret_position
    }

    /// The signed time of the attempt, where the contract has one. (It orders nothing.)
    #[must_use]
    pub fn timestamp_unix_s(&self) -> Option<i64> {
        self.timestamp_unix_s
    }
}
