//! Certificates that a program fetched, and the roots that they have to lead to.
//!
//! Nothing is fetched here and nothing expires here: a certificate is checked at the time of each request. Chain, usage
//! and validity are webpki's; the name is ours, because the provider's own libraries look at the subject's common name.

use std::collections::BTreeMap;
use std::time::Duration;

use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, TrustAnchor, UnixTime};
use webpki::{EndEntityCert, KeyUsage, anchor_from_trusted_cert, ring as algorithm};
use x509_cert::der::Decode as _;
use x509_cert::der::asn1::{PrintableStringRef, Utf8StringRef};
use x509_cert::der::oid::ObjectIdentifier;

/// `id-at-commonName`.
const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");

/// The most certificates of one answer: the leaf and what leads to a root.
const CHAIN_MAX: usize = 8;

/// The most certificates that are kept. A provider has two or three at a time.
const KEPT_MAX: usize = 64;

/// Why a fetched text is no certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CertificateError(&'static str);

/// Fetched certificates by their addresses, and trusted roots.
#[derive(Debug, Clone)]
pub struct Certificates {
    by_url: BTreeMap<String, Chain>,
    anchors: Vec<TrustAnchor<'static>>,
}

impl Default for Certificates {
    /// No certificate; the roots that browsers trust.
    fn default() -> Self {
        Self { by_url: BTreeMap::new(), anchors: webpki_roots::TLS_SERVER_ROOTS.to_vec() }
    }
}

impl Certificates {
    /// Nothing is trusted until [`Self::trust`] says so.
    #[must_use]
    pub fn none() -> Self {
        Self { by_url: BTreeMap::new(), anchors: Vec::new() }
    }

    /// Keeps what was fetched from `url`: PEM, the leaf first, then what leads to a root.
    ///
    /// # Errors
    /// No certificate is in it, more than a chain has, or more addresses than are kept.
    pub fn insert(&mut self, url: &str, pem: &[u8]) -> Result<(), CertificateError> {
        if self.by_url.len() >= KEPT_MAX && !self.by_url.contains_key(url) {
            return Err(CertificateError("more certificates than are kept"));
        }
        self.by_url.insert(url.to_owned(), Chain(read(pem)?));
        Ok(())
    }

    /// Trusts the certificates of a PEM text as roots.
    ///
    /// # Errors
    /// One of them is none.
    pub fn trust(&mut self, pem: &[u8]) -> Result<(), CertificateError> {
        for one in read(pem)? {
            let anchor =
                anchor_from_trusted_cert(&one).map_err(|_| CertificateError("no root certificate"))?;
            self.anchors.push(anchor.to_owned());
        }
        Ok(())
    }

    /// Whether something was fetched from there.
    #[must_use]
    pub fn contains(&self, url: &str) -> bool {
        self.by_url.contains_key(url)
    }

    pub(super) fn get(&self, url: &str) -> Option<&Chain> {
        self.by_url.get(url)
    }

    pub(super) fn anchors(&self) -> &[TrustAnchor<'static>] {
        &self.anchors
    }
}

fn read(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).take(CHAIN_MAX + 1).collect();
    match all.map_err(|_| CertificateError("not PEM"))? {
        all if all.is_empty() => Err(CertificateError("no certificate in it")),
        all if all.len() > CHAIN_MAX => Err(CertificateError("more certificates than a chain has")),
        all => Ok(all),
    }
}

/// A leaf and its intermediates. At least the leaf.
#[derive(Debug, Clone)]
pub(super) struct Chain(Vec<CertificateDer<'static>>);

/// It leads to no root, is out of time, or is issued for another name.
#[derive(Debug)]
pub(super) struct Untrusted;

impl Chain {
    /// Chain, validity at `now`, usage, and a name with this ending.
    pub(super) fn check(
        &self,
        anchors: &[TrustAnchor<'static>],
        ending: &str,
        now_unix_s: i64,
    ) -> Result<(), Untrusted> {
        let now = u64::try_from(now_unix_s).map_err(|_| Untrusted)?;
        let leaf = EndEntityCert::try_from(&self.0[0]).map_err(|_| Untrusted)?;
        leaf.verify_for_usage(
            webpki::ALL_VERIFICATION_ALGS,
            anchors,
            &self.0[1..],
            UnixTime::since_unix_epoch(Duration::from_secs(now)),
            KeyUsage::server_auth(),
            None,
            None,
        )
        .map_err(|_| Untrusted)?;
        let mut names: Vec<String> = leaf.valid_dns_names().map(str::to_owned).collect();
        if names.is_empty() {
            names.extend(common_name(&self.0[0]));
        }
        // Every name that it is issued for: one of another's beside it would be somebody else's certificate.
        let fits = !names.is_empty() && names.iter().all(|name| name.to_ascii_lowercase().ends_with(ending));
        if fits { Ok(()) } else { Err(Untrusted) }
    }

    /// Whether the leaf's key signed `message`: RSA, PKCS #1 v1.5, SHA-256.
    pub(super) fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Untrusted> {
        let leaf = EndEntityCert::try_from(&self.0[0]).map_err(|_| Untrusted)?;
        leaf.verify_signature(algorithm::RSA_PKCS1_2048_8192_SHA256, message, signature)
            .map_err(|_| Untrusted)
    }
}

/// Whether the first certificate of a PEM text is its own issuer: for the vectors, where such a one is a root.
pub(crate) fn is_self_signed(pem: &[u8]) -> bool {
    let Some(first) = read(pem).ok().map(|mut all| all.remove(0)) else { return false };
    x509_cert::Certificate::from_der(&first).is_ok_and(|certificate| {
        certificate.tbs_certificate().issuer() == certificate.tbs_certificate().subject()
    })
}

fn common_name(der: &CertificateDer<'_>) -> Option<String> {
    let certificate = x509_cert::Certificate::from_der(der).ok()?;
    let subject = certificate.tbs_certificate().subject();
    let mut names = subject.iter().filter(|attribute| attribute.oid == COMMON_NAME);
    let value = &names.next()?.value;
    if let Ok(text) = value.decode_as::<Utf8StringRef<'_>>() {
        return Some(text.as_str().to_owned());
    }
    value.decode_as::<PrintableStringRef<'_>>().ok().map(|text| text.as_str().to_owned())
}
