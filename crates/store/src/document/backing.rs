//! What the document needs of where it lies: objects with versions, and one conditional write. It knows no ledger.

use crate::Result;

/// Which copy of an object it is. No two contents of one object share one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Version {
    /// An entity tag.
    pub(super) tag: Option<String>,
    /// A revision or generation.
    pub(super) revision: Option<String>,
}

/// What a read found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Still the version that was named.
    Unchanged,
    /// No such object.
    Absent,
    /// Another version.
    Here(Version, Vec<u8>),
}

/// What became of a conditional write.
#[derive(Debug)]
pub(super) enum Put {
    /// It is written, and this is its version.
    Done(Version),
    /// The object was not at the expected version.
    Moved,
    /// Nobody knows: it may be written, now or later.
    Unknown(Box<dyn std::error::Error + Send + Sync>),
}

/// Where objects lie. All methods block, and end within the time-out they were opened with.
///
/// Names are `""` for the document itself and `kind/name` for what stands beside it, of lower-case letters, digits
/// and `-`.
pub(super) trait Backing: Send + Sync {
    /// The object, unless it is still at the version that is known.
    ///
    /// # Errors
    /// It cannot be read.
    fn read(&self, name: &str, known: Option<&Version>) -> Result<Found>;

    /// Writes the object if it is at `expected`; `None` if it must not be there. It is tried once: a second try of
    /// the client's own would see its first one as somebody else's.
    fn put(&self, name: &str, bytes: Vec<u8>, expected: Option<&Version>) -> Put;

    /// Removes what a probe left. That it was not removed does no harm.
    fn remove(&self, name: &str);

    /// The most bytes that one object may have; `None` if far more than a document ever has.
    fn room(&self) -> Option<usize>;

    /// Where it is, for people. Never a password.
    fn describe(&self) -> String;
}
