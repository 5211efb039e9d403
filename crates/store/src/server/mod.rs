//! What the database servers have in common: connections that a blocking store drives, what a batch reads and
//! writes, when it is tried again. It knows neither driver: a backend brings the four statements of [`Tables`].

mod connection;
mod flush;
mod load;
mod query;
mod retry;

use crate::Result;
use crate::row::{Column, Stored};

pub(crate) use self::connection::{Connections, Session};
pub(crate) use self::flush::flush;
pub(crate) use self::load::{decide, load, snapshot};
pub(crate) use self::query::{Lists, attempts, due, old_bodies, stale, task};
pub(crate) use self::retry::commit;

/// The key columns of rows, or the first few of them.
pub(crate) type KeyColumns<'a> = Vec<Vec<Column<'a>>>;

/// How rows are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lock {
    /// Without locks, on a snapshot.
    None,
    /// Waiting for whoever holds one. Only a transaction's first round may: it asks in the one global order.
    Wait,
    /// Not waiting: a row that another holds is a conflict. For what the first round led to, which may stand
    /// before it in the global order; the next try asks for all of it in order.
    NoWait,
}

/// One connection, inside a transaction.
pub(crate) trait Tables: Send {
    /// The rows with these whole keys, locked in key order.
    fn rows<T: Stored + Send>(
        &mut self,
        keys: KeyColumns<'_>,
        lock: Lock,
    ) -> impl Future<Output = Result<Vec<(T::Key, T)>>> + Send
    where
        T::Key: Send;

    /// The rows whose first key columns are one of these; all rows for none. Whoever reads for a decision holds the
    /// lock of the row that they hang on.
    fn under<T: Stored + Send>(
        &mut self,
        prefixes: Option<KeyColumns<'_>>,
    ) -> impl Future<Output = Result<Vec<(T::Key, T)>>> + Send
    where
        T::Key: Send;

    /// Inserts rows. One that is there by now is [`crate::StoreErrorKind::Conflict`].
    fn insert<T: Stored>(&mut self, rows: &[Vec<Column<'_>>]) -> impl Future<Output = Result<()>> + Send;

    /// Writes the changing columns of rows that are locked.
    fn update<T: Stored>(&mut self, rows: &[Vec<Column<'_>>]) -> impl Future<Output = Result<()>> + Send;

    /// Drops the bodies of events that are locked: [`crate::row::dropped`].
    fn drop_bodies(&mut self, rows: &[Vec<Column<'_>>]) -> impl Future<Output = Result<()>> + Send;
}
