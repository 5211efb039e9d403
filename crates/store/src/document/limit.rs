//! How large a document may become: it warns at 70 %, and at its limit refuses new work while what finishes goes on.

use paidonce_ledger::{Change, Changes};

use crate::{Result, StoreError, StoreErrorKind};

/// A document's sizes, in bytes as they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limit {
    /// Beyond this there is no new work.
    pub(super) new_work: usize,
    /// Beyond this nothing is written.
    pub(super) anything: usize,
    /// More bytes of bodies than this are moved to archives.
    pub(super) bodies: usize,
}

impl Limit {
    /// A fifth of what can be stored is kept for finishing what was begun.
    pub(super) fn new(wanted: usize, room: Option<usize>) -> Self {
        let anything = (wanted / 4 * 5).min(room.unwrap_or(usize::MAX));
        let new_work = wanted.min(anything / 5 * 4);
        Self { new_work, anything, bodies: new_work / 4 }
    }

    /// Whether somebody should be told.
    pub(super) fn near(&self, size: usize) -> bool {
        size / 7 >= self.new_work / 10
    }

    /// Whether `size` bytes may be written that bring `changes`.
    pub(super) fn admit(&self, size: usize, changes: &Changes) -> Result<()> {
        if size <= self.new_work || (size <= self.anything && !is_new_work(changes)) {
            return Ok(());
        }
        let what = format!(
            "the document has reached its limit of {} bytes and takes no new work: nothing of this was stored. Move \
             to another store (`paidonce export`, then `paidonce import`), or raise the limit",
            self.new_work
        );
        Err(StoreError::new(StoreErrorKind::Limit, what))
    }
}

/// What begins something. A duplicate, a grant, a decision of a person and a retry all end something.
fn is_new_work(changes: &Changes) -> bool {
    fn any<K, V>(changes: &[Change<K, V>]) -> bool {
        changes.iter().any(|change| change.before.is_none())
    }
    any(&changes.events)
        || any(&changes.orders)
        || any(&changes.products)
        || any(&changes.payments)
        || any(&changes.references)
        || any(&changes.api_keys)
}
