//! Commands inside a transaction of the caller's own, without a thread that blocks.

use paidonce_ledger::{Command, Policy, Timestamp};
use sqlx::{MySql, MySqlConnection, Transaction};

use super::table::Rows;
use super::{open, statement, write};
use crate::batch::Deciding;
use crate::{Joined, Result, StoreError, StoreErrorKind};

/// paidonce's tables in the database of the caller's connections.
pub struct MysqlTables;

impl MysqlTables {
    /// Makes the tables or brings them up to date. The server commits whatever the connection has open. Safe to call in many processes at once.
    ///
    /// # Errors
    /// The server refuses, or the tables were written by a newer version.
    pub async fn migrate(&self, connection: &mut MySqlConnection) -> Result<()> {
        open::migrate(connection).await
    }

    /// Executes one command inside the caller's transaction. The caller owns the loop: see [`Joined::Retry`].
    ///
    /// The locks that it takes are held until the transaction ends. Call it before locking rows of your own, or always
    /// in one order: the other way round two transactions can wait for each other.
    ///
    /// # Errors
    /// The session is not READ COMMITTED ([`StoreErrorKind::Usage`]: under any other level a grant and a refund can
    /// miss each other. A `SET TRANSACTION` for one transaction alone is not seen: set the session's), or the server failed. Nothing of the command is in the transaction then.
    pub async fn execute_in(
        &self,
        transaction: &mut Transaction<'_, MySql>,
        command: &Command,
        now: Timestamp,
        policy: &Policy,
    ) -> Result<Joined> {
        let connection: &mut MySqlConnection = transaction;
        if !open::is_isolated(connection).await? {
            let what = "the session must be READ COMMITTED before the transaction begins";
            return Err(StoreError::new(StoreErrorKind::Usage, what));
        }
        statement(connection, "SAVEPOINT paidonce").await?;
        let mut deciding = Deciding::new(std::slice::from_ref(command), now, policy);
        match write(&mut Rows { connection }, &mut deciding, None).await {
            Ok(mut replies) => {
                statement(transaction, "RELEASE SAVEPOINT paidonce").await?;
                let reply = replies.pop().ok_or_else(|| {
                    StoreError::new(StoreErrorKind::Internal, "a command was decided without a reply")
                })?;
                Ok(Joined::Done(reply))
            }
            Err(error) => {
                // After a deadlock there is no transaction left, and no savepoint in it.
                let undone = statement(transaction, "ROLLBACK TO SAVEPOINT paidonce").await;
                match error.kind() {
                    StoreErrorKind::Conflict => Ok(Joined::Retry),
                    _ => undone.and(Err(error)),
                }
            }
        }
    }
}
