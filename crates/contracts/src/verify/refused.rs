//! Why a request was refused.

use std::fmt;

/// Why a request is not genuine. For counters, logs and the operator; the public answer is one and the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// There is no signature header, or it is empty.
    MissingSignature,
    /// Another header that is signed is not there, or is empty.
    MissingHeader,
    /// The signature header cannot be taken apart, a header is repeated that must not be, or there are more
    /// signatures than are tried.
    MalformedHeader,
    /// The signature's text cannot be one.
    MalformedSignature,
    /// There is no body, where a body is always sent.
    MissingBody,
    /// What is signed has no one meaning: the body cannot be read, or not in one way only.
    AmbiguousBody,
    /// Characters in a signed field that its sender never writes.
    IllegalCharacters,
    /// No signature is under the public key of this source.
    NoMatchingPublicKey,
    /// A test of the endpoint that is no test of this provider's.
    InvalidChallenge,
    /// Another algorithm than the provider's.
    Algorithm,
    /// The certificate's address is not one of the provider's. Nothing was fetched.
    CertificateUrlNotAllowed,
    /// The certificate has to be fetched first: `Verifier::certificate_url` says from where.
    NeedsCertificate,
    /// The certificate is not the provider's, or not valid now.
    Certificate,
    /// The timestamp is not of the contract's form.
    MalformedTimestamp,
    /// There are signatures, but of no version that counts or for which there is a key.
    NoSignatureOfExpectedScheme,
    /// No signature fits: a forgery, another secret, or changed bytes.
    SignatureMismatch,
    /// Genuine once, but signed too long ago: a replay, or a clock that is wrong.
    TimestampTooOld {
        /// Seconds between the signed time and now.
        age_s: i64,
    },
    /// Genuine, but signed in the future: a clock that is wrong, here or there.
    TimestampInFuture {
        /// Seconds between now and the signed time.
        ahead_s: i64,
    },
}

impl Refused {
    /// The stable word, for metrics.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::MissingSignature => "missing_signature",
            Self::MissingHeader => "missing_header",
            Self::MalformedHeader => "malformed_header",
            Self::MalformedTimestamp => "malformed_timestamp",
            Self::MalformedSignature => "malformed_signature",
            Self::MissingBody => "missing_body",
            Self::AmbiguousBody => "ambiguous_body",
            Self::IllegalCharacters => "illegal_characters",
            Self::NoMatchingPublicKey => "no_matching_public_key",
            Self::InvalidChallenge => "invalid_challenge",
            Self::Algorithm => "algorithm",
            Self::CertificateUrlNotAllowed => "cert_url_not_allowed",
            Self::NeedsCertificate => "needs_certificate",
            Self::Certificate => "certificate",
            Self::NoSignatureOfExpectedScheme => "no_signature_of_expected_scheme",
            Self::SignatureMismatch => "signature_mismatch",
            Self::TimestampTooOld { .. } => "timestamp_too_old",
            Self::TimestampInFuture { .. } => "timestamp_in_future",
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())?;
        match self {
            Self::TimestampTooOld { age_s } => write!(f, " ({age_s} s old by this host's clock)"),
            Self::TimestampInFuture { ahead_s } => write!(f, " ({ahead_s} s ahead of this host's clock)"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Refused {}
