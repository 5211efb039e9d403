//! Commands inside a transaction of the caller's own, on a connection to paidonce's file.

use std::path::Path;

use paidonce_ledger::{Command, Policy, Timestamp};
use rusqlite::{Connection, Transaction, TransactionState};

use super::load::Rows;
use super::{SqliteOptions, flush, open, sql_error};
use crate::{Joined, Result, StoreError, StoreErrorKind, batch};

/// paidonce's tables in its file, where the caller's own tables may stand beside them.
pub struct SqliteTables;

impl SqliteTables {
    /// A connection to the file with the settings that durability rests on, its tables made or brought up to date.
    ///
    /// # Errors
    /// As [`crate::SqliteStore::open`].
    pub fn connect(&self, path: impl AsRef<Path>, options: &SqliteOptions) -> Result<Connection> {
        open::writer(path.as_ref(), options)
    }

    /// Executes one command inside the caller's transaction. SQLite has one writer, so it never answers
    /// [`Joined::Retry`].
    ///
    /// # Errors
    /// The transaction was not begun IMMEDIATE, or the connection is not `synchronous=FULL`
    /// ([`StoreErrorKind::Usage`]); or the file cannot be read or written. Nothing of the command is in the transaction
    /// then.
    pub fn execute_in(
        &self,
        transaction: &Transaction<'_>,
        command: &Command,
        now: Timestamp,
        policy: &Policy,
    ) -> Result<Joined> {
        usable(transaction)?;
        transaction.execute_batch("SAVEPOINT paidonce").map_err(sql_error)?;
        let decided = execute(transaction, command, now, policy);
        let end = match decided {
            Ok(_) => "RELEASE paidonce",
            Err(_) => "ROLLBACK TO paidonce; RELEASE paidonce",
        };
        transaction.execute_batch(end).map_err(sql_error)?;
        decided
    }
}

fn usable(transaction: &Transaction<'_>) -> Result<()> {
    let state = transaction.transaction_state(Some("main")).map_err(sql_error)?;
    if state != TransactionState::Write {
        // One that only reads so far cannot wait for the lock that it needs (B92).
        let what = "the transaction must be begun IMMEDIATE";
        return Err(StoreError::new(StoreErrorKind::Usage, what));
    }
    if open::pragma(transaction, "synchronous")? < 2 {
        let what =
            "the connection must be synchronous=FULL: power loss could take back what was acknowledged";
        return Err(StoreError::new(StoreErrorKind::Usage, what));
    }
    Ok(())
}

fn execute(
    transaction: &Transaction<'_>,
    command: &Command,
    now: Timestamp,
    policy: &Policy,
) -> Result<Joined> {
    let rows = &mut Rows { connection: transaction };
    let (mut replies, ledger) = batch::decide(rows, std::slice::from_ref(command), now, policy)?;
    flush::flush(transaction, &ledger.into_changes())?;
    let reply = replies
        .pop()
        .ok_or_else(|| StoreError::new(StoreErrorKind::Internal, "a command was decided without a reply"))?;
    Ok(Joined::Done(reply))
}
