//! A provider's secret, or its public key: text that never shows itself.
//!
//! It does not know where it came from (`env:`, `file:`) nor what it opens: forms of keys are `verify::key`'s.

use std::fmt;

use zeroize::Zeroizing;

/// A secret as it was issued by the provider. Prints as `***`; wiped from memory when dropped. P14
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Keeps `text` as it is: nothing is trimmed or decoded here.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// The text itself: for what is sent to whoever the secret is shared with, and for nothing else.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

/// Why a source's secrets cannot be used. Never shows them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// There is no secret: a source that would verify nothing does not start.
    #[error("there is no secret; state at least one ({expected})")]
    None {
        /// The forms that the contract knows.
        expected: String,
    },
    /// A secret has no characters. Anyone can sign with it.
    #[error("secret {position} is empty (is its variable or file empty?); expected {expected}")]
    Empty {
        /// Counted from 1, as a person would.
        position: usize,
        /// The forms that the contract knows.
        expected: String,
    },
    /// A secret fits none of the contract's forms.
    #[error("secret {position} {problem}; expected {expected}")]
    Malformed {
        /// Counted from 1, as a person would.
        position: usize,
        /// What is wrong with it.
        problem: &'static str,
        /// The forms that the contract knows.
        expected: String,
    },
    /// More secrets than a rotation needs: each costs time on every forged request.
    #[error("there are {count} secrets; at most {most} are tried")]
    TooMany {
        /// How many were given.
        count: usize,
        /// How many are of use: none where nothing is signed.
        most: usize,
    },
    /// A configured value that the contract's code needs.
    #[error("signature.values.{name} {problem}; the source has to state it")]
    Value {
        /// Its name.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Signing was asked for with a key that can only verify, or a header that only the provider can fill.
    #[error("cannot sign: {problem}")]
    CannotSign {
        /// Why not.
        problem: &'static str,
    },
}
