//! What the contract format cannot say, as code: one small module for each provider that needs one.
//!
//! All of them stand behind one interface. `Code` is the word in the contract; [`Code::prepare`] makes a [`Scheme`]
//! of a source's secrets and values, and [`Code::document`] turns a proved body into the JSON that paths walk.
//! Nothing here reaches the network: a certificate that is needed is named, and the program fetches it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

use crate::secret::{Secret, SecretError};
use crate::verify::Refused;

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
#[allow(dead_code, reason = "read by the modules, which come from the branch beside this one")]
pub(crate) struct Request<'r> {
    pub(crate) headers: &'r [(&'r str, &'r [u8])],
    pub(crate) body: &'r [u8],
    pub(crate) now_unix_s: i64,
    pub(crate) certificates: &'r Certificates,
}

/// Fetched certificates by their addresses, and trusted roots.
#[derive(Debug, Clone, Default)]
pub struct Certificates {}

impl Certificates {
    /// Nothing is trusted.
    #[must_use]
    pub fn none() -> Self {
        Self {}
    }
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
        self != Self::PayPal
    }

    /// Prepares the keys of one source.
    pub(crate) fn prepare(
        self,
        _values: &BTreeMap<String, String>,
        _hosts: &[String],
        _secrets: &[Secret],
    ) -> Result<Box<dyn Scheme>, SecretError> {
        Err(SecretError::CannotSign { problem: "this build has not the provider's module" })
    }

    /// The JSON that the contract's paths walk.
    pub(crate) fn document(self, body: &[u8]) -> Result<Cow<'_, [u8]>, &'static str> {
        Ok(Cow::Borrowed(body))
    }
}
