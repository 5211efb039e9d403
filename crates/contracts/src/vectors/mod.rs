//! Signature vectors: requests with the verdict that a contract has to give, and the one way to run them.
//!
//! The command line and this crate's own tests share it, so that a person who writes a contract proves it as we do.
//! The shape is a JSON list of objects; `docs/guides/add-a-provider.md` describes it. It reads no file: certificates are handed in.

mod parse;

use std::collections::BTreeMap;

use crate::code::{Certificates, is_self_signed};
use crate::contract::signature::SignaturePlace;
use crate::contract::{Contract, ContractError};
use crate::read::Delivery;
use crate::secret::Secret;
use crate::verify::{Refused, Verifier};

pub use parse::VectorError;

/// The member of a vector's context that names the certificate's file.
const CERTIFICATE_FILE: &str = "cert_pem_file";

/// One request and what has to be said of it.
#[derive(Debug)]
pub struct Vector {
    /// Its name.
    pub id: String,
    /// What it shows, for people.
    pub description: String,
    /// Whether it has to be accepted.
    pub valid: bool,
    /// The reason that the vector itself gives for a refusal.
    pub reason: Option<String>,
    /// The contract that it is for, where the file has vectors of several.
    pub scheme: Option<String>,
    /// The signature is genuine, the content is not what was sent: another layer has to catch it.
    pub attack: bool,
    secrets: Vec<Secret>,
    headers: Vec<(String, String)>,
    body: String,
    now_unix_s: i64,
    tolerance_s: Option<i64>,
    method: Option<String>,
    url: Option<String>,
    context: BTreeMap<String, String>,
    answer: Option<String>,
}

/// What a contract said of a vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Whether it was accepted.
    pub valid: bool,
    /// `valid`, or the stable word for the refusal.
    pub reason: String,
    /// Whether that is what the vector expects.
    pub as_expected: bool,
}

/// What vectors are run against.
pub struct Bench<'b> {
    /// Makes the contract, with a vector's own settings over it.
    pub contract: &'b dyn Fn(&toml::Table) -> Result<Contract, ContractError>,
    /// The certificate files beside the vectors, by name. Those that issued themselves are trusted: for vectors only.
    pub certificates: &'b BTreeMap<String, Vec<u8>>,
}

/// Reads the vectors of a file.
///
/// # Errors
/// The first mistake, and which vector has it.
pub fn parse(text: &str) -> Result<Vec<Vector>, VectorError> {
    parse::vectors(text)
}

impl Vector {
    /// Its request's body.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        self.body.as_bytes()
    }

    /// Its request's header lines.
    #[must_use]
    pub fn headers(&self) -> Vec<(&str, &[u8])> {
        self.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect()
    }

    /// When its request is received.
    #[must_use]
    pub fn now_unix_s(&self) -> i64 {
        self.now_unix_s
    }

    /// The verifier that its own settings make of a contract.
    ///
    /// # Errors
    /// The contract or the vector's secret cannot be used, in words.
    pub fn verifier(&self, bench: &Bench<'_>) -> Result<Verifier, String> {
        // What the vector says is passed on as far as the contract has a use for it.
        let bare = (bench.contract)(&toml::Table::new()).ok();
        let contract = (bench.contract)(&self.settings(bare.as_ref())).map_err(|error| error.to_string())?;
        Verifier::of_signatures(&contract, &self.secrets).map_err(|error| error.to_string())
    }

    /// Runs it.
    ///
    /// # Errors
    /// As [`Self::verifier`], or a certificate is not there: it could not be run at all, which is no verdict.
    pub fn run(&self, bench: &Bench<'_>) -> Result<Outcome, String> {
        let verifier = self.verifier(bench)?;
        let verdict = match &self.method {
            Some(method) if method == "GET" => self.challenge(&verifier),
            _ => {
                let certificates = self.certificates(bench)?;
                let headers = self.headers();
                let verdict = verifier.verify_with(&headers, self.body(), self.now_unix_s, &certificates);
                verdict.map(|_| ()).map_err(|refused| refused.reason().to_owned())
            }
        };
        let valid = verdict.is_ok();
        let reason = verdict.err().unwrap_or_else(|| "valid".to_owned());
        Ok(Outcome { valid, reason, as_expected: valid == self.valid })
    }

    /// Verifies its request and reads it.
    ///
    /// # Errors
    /// As [`Self::run`], or it is refused.
    pub fn read(&self, bench: &Bench<'_>) -> Result<Delivery, String> {
        let verifier = self.verifier(bench)?;
        let (headers, certificates) = (self.headers(), self.certificates(bench)?);
        let verified = verifier.verify_with(&headers, self.body(), self.now_unix_s, &certificates);
        verified.map(|verified| verified.read()).map_err(|refused| refused.reason().to_owned())
    }

    fn challenge(&self, verifier: &Verifier) -> Result<(), String> {
        let query = self.url.as_deref().and_then(|url| url.split_once('?')).map_or("", |(_, query)| query);
        let answer = verifier.challenge(query).map_err(|refused: Refused| refused.reason().to_owned())?;
        match &self.answer {
            Some(expected) if *expected != answer => Err("another_answer".to_owned()),
            _ => Ok(()),
        }
    }

    /// What the vector says beside the secret, as a source's settings.
    fn settings(&self, bare: Option<&Contract>) -> toml::Table {
        let mut signature = toml::Table::new();
        let timed = bare.is_none_or(|bare| bare.signature().timestamp.is_some());
        if let Some(tolerance) = self.tolerance_s.filter(|_| timed) {
            signature.insert("max_age_s".to_owned(), toml::Value::Integer(tolerance));
        }
        let code = match bare.map(|bare| &bare.signature().place) {
            Some(SignaturePlace::Code { code, .. }) => Some(*code),
            _ => None,
        };
        let taken = |name: &str| match code {
            Some(code) => code.values().iter().any(|(known, _)| *known == name),
            None => name != CERTIFICATE_FILE,
        };
        let values = self.context.iter().filter(|(name, _)| taken(name));
        let values: toml::Table =
            values.map(|(name, value)| (name.clone(), toml::Value::String(value.clone()))).collect();
        if !values.is_empty() {
            signature.insert("values".to_owned(), toml::Value::Table(values));
        }
        let mut settings = toml::Table::new();
        if !signature.is_empty() {
            settings.insert("signature".to_owned(), toml::Value::Table(signature));
        }
        settings
    }

    /// The certificate under the address that the request names, and the way to a root.
    ///
    /// # Errors
    /// Its file is not there, in words.
    pub fn certificates(&self, bench: &Bench<'_>) -> Result<Certificates, String> {
        let mut certificates = Certificates::none();
        let Some(file) = self.context.get(CERTIFICATE_FILE) else { return Ok(certificates) };
        let leaf =
            bench.certificates.get(file).ok_or_else(|| format!("there is no file {file} beside it"))?;
        let mut chain = leaf.clone();
        for (name, pem) in bench.certificates {
            if is_self_signed(pem) {
                certificates.trust(pem).map_err(|error| format!("{name}: {error}"))?;
            } else if name != file {
                chain.push(b'\n');
                chain.extend_from_slice(pem);
            }
        }
        let named = self.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("paypal-cert-url"));
        if let Some((_, url)) = named {
            certificates.insert(url, &chain).map_err(|error| format!("{file}: {error}"))?;
        }
        Ok(certificates)
    }
}
