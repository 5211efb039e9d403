//! Putting an export into a store, by commands like everything else: some rows a commit, so that it can be killed anywhere
//! and go on. What is there already must be a part of the same export.

use paidonce_ledger::{Command, Import, Ledger, Policy, Reply, Row, Timestamp};

use super::{Export, Summary, export};
use crate::line::rows;
use crate::{Result, Store, StoreError, StoreErrorKind};

/// How often a commit is tried again.
const TRIES_MAX: usize = 8;

/// Bodies in one commit, in bytes; one row at least.
const COMMIT_BYTES: usize = 1024 * 1024;

/// How to import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportOptions {
    /// Rows in one commit.
    pub rows_a_commit: usize,
    /// The time of the commits. (No row takes it.)
    pub now: Timestamp,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// What the store comes to, read back from it.
    pub summary: Summary,
    /// Rows that were there already.
    pub before: usize,
}

/// Why an import did not end.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The store holds something else.
    #[error("the store holds {0} row(s) that the export does not have: nothing was imported")]
    NotEmpty(usize),
    /// Somebody else wrote to the store meanwhile.
    #[error("the store came to hold something else while rows were imported: is a server running on it?")]
    Changed,
    /// The store does not give back what was put there.
    #[error("the store holds {0:?} after the import, and the export {1:?}: do not use it, and report this")]
    Differs(Summary, Summary),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Imports, and reads everything back to compare it. `at` is told how many rows are there.
///
/// # Errors
/// The store holds other rows, fails, or does not hold the same in the end. Run again after a failure: it goes on where
/// it was.
pub fn import(
    store: &dyn Store,
    from: &Export,
    options: &ImportOptions,
    at: &mut dyn FnMut(usize),
) -> Result<Imported, ImportError> {
    let total = from.ledger.len();
    let mut there = store.snapshot()?;
    let before = there.len();
    let foreign = rows(&there).filter(|row| from.ledger.holds(row) != Some(true)).count();
    if foreign > 0 {
        return Err(ImportError::NotEmpty(foreign));
    }
    let mut failures = 0;
    while there.len() < total {
        match missing(store, from, &there, options, at) {
            Ok(()) => {}
            Err(ImportError::Store(error)) if error.retryable() && failures < TRIES_MAX => failures += 1,
            Err(error) => return Err(error),
        }
        // Whatever became of the last commit, this is what is there.
        let now = store.snapshot()?;
        if now.len() <= there.len() && failures == 0 {
            return Err(ImportError::Changed);
        }
        there = now;
    }
    let summary = export::summary(&there).map_err(|error| {
        StoreError::new(StoreErrorKind::Internal, "what was imported cannot be written out").caused_by(error)
    })?;
    if summary != from.summary {
        return Err(ImportError::Differs(summary, from.summary.clone()));
    }
    Ok(Imported { summary, before })
}

/// Commits every row that is not there, in the lines' order.
fn missing(
    store: &dyn Store,
    from: &Export,
    there: &Ledger,
    options: &ImportOptions,
    at: &mut dyn FnMut(usize),
) -> Result<(), ImportError> {
    let mut done = there.len();
    let (mut chunk, mut bytes) = (Vec::new(), 0);
    for row in rows(&from.ledger).filter(|row| there.holds(row).is_none()) {
        bytes += body_bytes(&row);
        chunk.push(row);
        if chunk.len() >= options.rows_a_commit.max(1) || bytes >= COMMIT_BYTES {
            done += commit(store, std::mem::take(&mut chunk), options)?;
            bytes = 0;
            at(done);
        }
    }
    if !chunk.is_empty() {
        done += commit(store, chunk, options)?;
        at(done);
    }
    Ok(())
}

fn body_bytes(row: &Row) -> usize {
    match row {
        Row::Event(_, event) => event.body.bytes().len(),
        Row::Case(_, case) => case.body.as_ref().map_or(0, |body| body.bytes().len()),
        _ => 0,
    }
}

fn commit(store: &dyn Store, rows: Vec<Row>, options: &ImportOptions) -> Result<usize, ImportError> {
    let count = rows.len();
    let command = Command::Import(Import { rows });
    // No policy has a say in it: nothing is derived from imported rows.
    match store.commit(&[command], options.now, &Policy::default())?.pop() {
        Some(Reply::Done) => Ok(count),
        _ => Err(ImportError::Changed),
    }
}
