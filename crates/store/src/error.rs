//! What can go wrong with a store. Whether it is worth trying again is decided here, where it is known.

use std::fmt;

/// What kind of failure it is, which says what to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// Somebody else holds it: try again.
    Busy,
    /// Others kept changing the rows that the batch rests on: try again, in smaller batches. Nothing was written.
    Conflict,
    /// The disk or quota is full: try again later; nothing was written.
    Full,
    /// The store's own limit: it takes no new work, and what finishes work goes on. Nothing was written.
    Limit,
    /// It cannot be reached or opened.
    Unavailable,
    /// Whether the commit took place is not known: run the batch again.
    Unknown,
    /// The data is damaged, or of a version that this program does not know.
    Corrupt,
    /// The caller's mistake: a cursor that is none.
    Usage,
    /// The merchant's own statement failed (`grant.sql`): nothing was committed. Mend it, or try later.
    Merchant,
    /// A bug: what was decided cannot be written.
    Internal,
}

/// A failure of a store. `Display` is one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub struct StoreError {
    kind: StoreErrorKind,
    what: String,
    /// Whether a merchant's own statement met it: that may raise it at every try, whatever others do.
    #[cfg(any(feature = "postgres", feature = "mysql"))]
    merchants: bool,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl StoreError {
    /// An error of one kind, with the sentence for people.
    pub fn new(kind: StoreErrorKind, what: impl Into<String>) -> Self {
        Self {
            kind,
            what: what.into(),
            #[cfg(any(feature = "postgres", feature = "mysql"))]
            merchants: false,
            source: None,
        }
    }

    /// As one that a merchant's own statement met.
    #[cfg(any(feature = "postgres", feature = "mysql"))]
    pub(crate) fn of_merchants(self) -> Self {
        Self { merchants: true, ..self }
    }

    /// Whether a merchant's own statement met it.
    #[cfg(any(feature = "postgres", feature = "mysql"))]
    pub(crate) fn is_merchants(&self) -> bool {
        self.merchants
    }

    /// With what caused it.
    #[must_use]
    pub fn caused_by(self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { source: Some(source.into()), ..self }
    }

    /// What kind of failure it is.
    #[must_use]
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }

    /// Whether the same batch may succeed if it is tried again soon.
    #[must_use]
    pub fn retryable(&self) -> bool {
        matches!(self.kind, StoreErrorKind::Busy | StoreErrorKind::Conflict | StoreErrorKind::Unknown)
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match &self.source {
            Some(source) => write!(f, ": {source}"),
            None => Ok(()),
        }
    }
}
