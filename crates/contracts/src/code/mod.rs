//! What the contract format cannot say, as code: one small module for each provider that needs one.
//!
//! All of them stand behind one interface. `Code` is the word in the contract; [`Code::prepare`] makes a [`Scheme`]
//! of a source's secrets and settings, and [`Code::document`] turns a proved body into the JSON that paths walk.
//! Nothing here reaches the network: a certificate that is needed is named, and the program fetches it.

mod braintree;
mod canonical;
mod certificate;
mod nowpayments;
mod paypal;
mod xml;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

pub(crate) use certificate::is_self_signed;
pub use certificate::{CertificateError, Certificates};

use crate::secret::{Secret, SecretError};
use crate::verify::Refused;
use crate::verify::key::lower_hex;

/// A provider whose verification is code: `signature.code` in a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Code {
    /// Form fields, a key that is a digest, XML inside base64.
    Braintree,
    /// The signature covers the body's members, written again in order.
    NowPayments,
    /// RSA under a certificate that the request names.
    PayPal,
}

/// What a scheme looks at.
pub(crate) struct Request<'r> {
    pub(crate) headers: &'r [(&'r str, &'r [u8])],
    pub(crate) body: &'r [u8],
    pub(crate) now_unix_s: i64,
    pub(crate) certificates: &'r Certificates,
}

/// One provider's way of proving a request, with a source's secrets.
pub(crate) trait Scheme: fmt::Debug + Send + Sync {
    /// The position of the secret that fitted; 0 where there are none.
    fn verify(&self, request: &Request<'_>) -> Result<usize, Refused>;

    /// The answer to the provider's test of the endpoint, from the query of its GET request.
    fn challenge(&self, _query: &str) -> Result<String, Refused> {
        Err(Refused::InvalidChallenge)
    }

    /// The certificate's address, if the request may name it.
    fn certificate_url<'h>(&self, _headers: &[(&'h str, &'h [u8])]) -> Result<Option<&'h str>, Refused> {
        Ok(None)
    }
}

impl Code {
    /// What a source has to state under `signature.values`: names and what they are.
    pub(crate) fn values(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Braintree => &[("public_key", "the public key that belongs to the private key")],
            Self::NowPayments => &[],
            Self::PayPal => &[("webhook_id", "the id of the webhook, as the dashboard shows it")],
        }
    }

    /// Whether the signature covers the content well enough for an event's word to count.
    pub(crate) fn covers_content(self) -> bool {
        // Any body can be padded to a given CRC-32: vector paypal-08 does it.
        self != Self::PayPal
    }

    /// Whether the bytes themselves are unsigned, so that "the same content" is asked of the document.
    pub(crate) fn signs_document(self) -> bool {
        self != Self::PayPal
    }

    /// Prepares the keys of one source.
    pub(crate) fn prepare(
        self,
        values: &BTreeMap<String, String>,
        hosts: &[String],
        secrets: &[Secret],
    ) -> Result<Box<dyn Scheme>, SecretError> {
        let value = |name: &'static str| match values.get(name).map(String::as_str) {
            Some(text) if !text.is_empty() && !text.contains(['|', '&']) && text.trim() == text => {
                Ok(text.to_owned())
            }
            Some(_) => {
                let problem = "is empty or holds |, & or outer white space";
                Err(SecretError::Value { name: name.to_owned(), problem })
            }
            None => Err(SecretError::Value { name: name.to_owned(), problem: "is not stated" }),
        };
        Ok(match self {
            Self::Braintree => Box::new(braintree::Braintree::new(value("public_key")?, secrets)?),
            Self::NowPayments => Box::new(nowpayments::NowPayments::new(secrets)?),
            Self::PayPal => Box::new(paypal::PayPal::new(value("webhook_id")?, hosts.to_vec(), secrets)?),
        })
    }

    /// The JSON that the contract's paths walk.
    pub(crate) fn document(self, body: &[u8]) -> Result<Cow<'_, [u8]>, &'static str> {
        match self {
            Self::Braintree => braintree::document(body).map(Cow::Owned),
            Self::NowPayments | Self::PayPal => Ok(Cow::Borrowed(body)),
        }
    }
}

/// The one line of a header. Two of them are none: it is not known which one the sender meant.
fn header<'h>(headers: &[(&'h str, &'h [u8])], name: &str) -> Result<&'h str, Refused> {
    let mut lines = headers.iter().filter(|(have, _)| have.eq_ignore_ascii_case(name));
    let (_, value) = lines.next().ok_or(Refused::MissingHeader)?;
    if lines.next().is_some() {
        return Err(Refused::MalformedHeader);
    }
    match std::str::from_utf8(value) {
        Ok("") => Err(Refused::MissingHeader),
        Ok(text) => Ok(text),
        Err(_) => Err(Refused::MalformedHeader),
    }
}

/// The secrets' texts, checked as all secrets are.
fn texts<'s>(secrets: &'s [Secret], expected: &str) -> Result<Vec<&'s str>, SecretError> {
    if secrets.is_empty() {
        return Err(SecretError::None { expected: expected.to_owned() });
    }
    let mut texts = Vec::with_capacity(secrets.len());
    for (index, secret) in secrets.iter().enumerate() {
        let (text, position) = (secret.text(), index + 1);
        if text.is_empty() {
            return Err(SecretError::Empty { position, expected: expected.to_owned() });
        }
        if text.trim() != text || text.chars().any(char::is_control) {
            let problem = "begins or ends with white space, or holds a line break or control character";
            return Err(SecretError::Malformed { position, problem, expected: expected.to_owned() });
        }
        texts.push(text);
    }
    Ok(texts)
}
