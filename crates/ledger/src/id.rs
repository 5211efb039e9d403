//! Identifiers: short texts that are compared byte for byte and cloned cheaply, and the composed keys.
//!
//! Nothing here folds case, trims or hashes: `evt_A`, `evt_a` and `evt_A ` are three events.

use std::fmt;
use std::sync::Arc;

/// The most bytes an identifier may have. Longer ones are refused where they enter, never cut.
pub const ID_BYTES_MAX: usize = 255;

/// Why a text cannot be an identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdError {
    /// It has no bytes.
    Empty,
    /// It has more than [`ID_BYTES_MAX`] bytes; the number it has.
    TooLong(usize),
    /// It holds a control character, which no log, terminal or SQL text takes safely.
    Control,
}

impl fmt::Display for IdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "an id must not be empty"),
            Self::TooLong(n) => write!(f, "an id has at most {ID_BYTES_MAX} bytes, this one has {n}"),
            Self::Control => write!(f, "an id must not hold control characters"),
        }
    }
}

impl std::error::Error for IdError {}

/// Checks the rules that every identifier obeys.
fn checked(text: &str) -> Result<&str, IdError> {
    if text.is_empty() {
        return Err(IdError::Empty);
    }
    if text.len() > ID_BYTES_MAX {
        return Err(IdError::TooLong(text.len()));
    }
    if text.chars().any(char::is_control) {
        return Err(IdError::Control);
    }
    Ok(text)
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)+) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
        pub struct $name(Arc<str>);

        impl $name {
            /// Takes a text of 1 to 255 bytes without control characters, as it is.
            ///
            /// # Errors
            /// [`IdError`] says which rule it breaks.
            pub fn new(text: impl AsRef<str>) -> Result<Self, IdError> {
                checked(text.as_ref()).map(|text| Self(Arc::from(text)))
            }

            /// The text, byte for byte as it was given.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;
            fn try_from(text: String) -> Result<Self, IdError> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0.as_ref().to_owned()
            }
        }

        impl std::str::FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::new(text)
            }
        }
    )+};
}

ids! {
    /// A short name from the configuration: a provider, a merchant account.
    Name
    /// The name of a source, as in `/in/<source>`.
    SourceName
    /// A provider's id of one event, or one derived from what its signature covers.
    EventId
    /// A provider's id of one payment.
    PaymentId
    /// A provider's id of an object that was registered for an order: intent, session, invoice, address.
    ReferenceId
    /// A text in a signed payload that may name an order.
    Hint
    /// A provider's id of one capture, refund or dispute within a payment.
    FactId
    /// The merchant's id of an order, or a generated one.
    OrderId
    /// What the merchant sells.
    Sku
    /// Whoever the merchant sells to, in the merchant's own words.
    Customer
    /// The id of one command: an idempotency key scoped by who sent it.
    CommandId
    /// The name of an API key.
    KeyName
    /// The name of an effect in the configuration: a destination, a mailer, a broker.
    EffectName
    /// Who holds a lease: another text for every claim of every process.
    Owner
    /// Which of the server's secrets something was derived with. Says nothing of the secret.
    SecretId
}

/// Whether money is real. Facts of the two modes never share a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Mode {
    /// Real money.
    Live,
    /// A provider's sandbox.
    Test,
}

impl Mode {
    /// `live` or `test`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Test => "test",
        }
    }

    /// Reads what [`Mode::as_str`] writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "live" => Some(Self::Live),
            "test" => Some(Self::Test),
            _ => None,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The namespace of a provider's ids: provider, merchant account and mode.
///
/// It comes from the source's configuration, never from a payload.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Account {
    /// The contract's provider, for example `stripe`.
    pub provider: Name,
    /// The merchant's account there.
    pub name: Name,
    /// Live or test.
    pub mode: Mode,
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.provider, self.name, self.mode)
    }
}

/// An event's identity. It names neither the endpoint nor the secret that carried it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EventKey {
    /// The namespace of `id`.
    pub account: Account,
    /// The provider's id, or a derived one.
    pub id: EventId,
}

/// A payment's identity.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PaymentKey {
    /// The namespace of `id`.
    pub account: Account,
    /// The provider's id.
    pub id: PaymentId,
}

/// Something that can lead from a payment to an order. Both sides lock this row before either looks for the other.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ReferenceKey {
    /// A provider's object.
    Provider(Account, ReferenceId),
    /// A hint that paidonce issued: unguessable, so it may name an order by itself.
    Issued(Hint),
    /// The merchant's own order id, which counts only where the source says `hints = "own_ids"`.
    Own(Hint),
}

impl fmt::Display for ReferenceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Provider(account, id) => write!(f, "{account} {id}"),
            Self::Issued(hint) => write!(f, "hint {hint}"),
            Self::Own(hint) => write!(f, "own id {hint}"),
        }
    }
}
impl fmt::Display for EventKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.account, self.id)
    }
}
impl fmt::Display for PaymentKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.account, self.id)
    }
}

// By id first: ids differ early, accounts hardly ever.
impl Ord for EventKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.id.cmp(&other.id).then_with(|| self.account.cmp(&other.account))
    }
}
impl PartialOrd for EventKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

// By id first: ids differ early, accounts hardly ever.
impl Ord for PaymentKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.id.cmp(&other.id).then_with(|| self.account.cmp(&other.account))
    }
}
impl PartialOrd for PaymentKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl ReferenceKey {
    fn parts(&self) -> (u8, &str, Option<&Account>) {
        match self {
            Self::Provider(account, id) => (0, id.as_str(), Some(account)),
            Self::Issued(hint) => (1, hint.as_str(), None),
            Self::Own(hint) => (2, hint.as_str(), None),
        }
    }
}
impl Ord for ReferenceKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.parts().cmp(&other.parts())
    }
}
impl PartialOrd for ReferenceKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_by_every_byte() {
        let ids: std::collections::BTreeSet<_> =
            ["evt_A", "evt_a", "evt_A ", " evt_A"].into_iter().map(|t| EventId::new(t).unwrap()).collect();
        assert_eq!(ids.len(), 4);
    }

    #[test]
    fn ids_out_of_bounds_are_refused_not_cut() {
        assert_eq!(EventId::new(""), Err(IdError::Empty));
        assert_eq!(EventId::new("x".repeat(256)), Err(IdError::TooLong(256)));
        assert!(EventId::new("x".repeat(255)).is_ok());
        assert_eq!(EventId::new("a\0b"), Err(IdError::Control));
    }
}
