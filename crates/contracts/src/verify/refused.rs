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
    /// The timestamp is not plain digits.
    MalformedTimestamp,
    /// There are signatures, but of no version that counts or for which there is a key.
    NoSignatureOfExpectedScheme,
    /// The signature cannot be taken apart where it stands in the body, or stands there twice.
    MalformedSignature,
    /// There is no body, where a body is always sent.
    MissingBody,
    /// There are signatures, but none under the public key that is ours.
    NoMatchingPublicKey,
    /// The signed text holds characters that its encoding does not have.
    IllegalCharacters,
    /// The provider's test of the endpoint is not of its form. (Free text is never signed.)
    InvalidChallenge,
    /// Another algorithm is announced than the one that counts.
    Algorithm,
    /// The certificate's address is not one that may be fetched.
    CertificateUrlNotAllowed,
    /// The certificate is not there yet: fetch [`crate::Verifier::certificate_url`] and verify again.
    NeedsCertificate,
    /// The certificate leads to no trusted root, is out of time, or is issued for another name.
    Certificate,
    /// What is signed is a form of the body that this body does not have just one of.
    AmbiguousBody,
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
            Self::NoSignatureOfExpectedScheme => "no_signature_of_expected_scheme",
            Self::MalformedSignature => "malformed_signature",
            Self::MissingBody => "missing_body",
            Self::NoMatchingPublicKey => "no_matching_public_key",
            Self::IllegalCharacters => "illegal_characters",
            Self::InvalidChallenge => "invalid_challenge",
            Self::Algorithm => "algorithm",
            Self::CertificateUrlNotAllowed => "cert_url_not_allowed",
            Self::NeedsCertificate => "needs_certificate",
            Self::Certificate => "certificate",
            Self::AmbiguousBody => "ambiguous_body",
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
