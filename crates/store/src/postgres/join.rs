//! Commands inside a transaction of the caller's own, without a thread that blocks.

use paidonce_ledger::{Command, Policy, Timestamp};
use sqlx::{PgConnection, Postgres, Transaction};

use super::error::sql_error;
use super::sql::{Sql, statements};
use super::table::Rows;
use super::{hint, open, statement, write};
use crate::batch::Deciding;
use crate::row::PerTable;
use crate::{Joined, Result, StoreError, StoreErrorKind};

/// paidonce's tables in one schema, for an application that brings its own connections.
pub struct PostgresTables {
    schema: String,
    sql: PerTable<Sql>,
}

impl PostgresTables {
    /// The tables in `schema`; [`crate::PostgresOptions`]'s default is `paidonce`.
    #[must_use]
    pub fn new(schema: &str) -> Self {
        Self { schema: schema.to_owned(), sql: statements(schema) }
    }

    /// Makes the tables or brings them up to date, in a transaction of its own. Safe to call in many processes at once.
    ///
    /// # Errors
    /// The server refuses, or the schema was written by a newer version.
    pub async fn migrate(&self, connection: &mut PgConnection) -> Result<()> {
        open::migrate(connection, &self.schema).await
    }

    /// Executes one command inside the caller's transaction. The caller owns the loop: see [`Joined::Retry`].
    ///
    /// The locks that it takes are held until the transaction ends. Call it before locking rows of your own, or always
    /// in one order: the other way round two transactions can wait for each other. Where there is work for workers now,
    /// they are told at the commit by NOTIFY, so such a transaction cannot be prepared for a two-phase commit.
    ///
    /// # Errors
    /// The transaction is not READ COMMITTED ([`StoreErrorKind::Usage`]: under any other level a grant and a refund
    /// can miss each other), or the server failed. Nothing of the command is in the transaction then.
    pub async fn execute_in(
        &self,
        transaction: &mut Transaction<'_, Postgres>,
        command: &Command,
        now: Timestamp,
        policy: &Policy,
    ) -> Result<Joined> {
        let connection: &mut PgConnection = transaction;
        let level = open::setting(connection, "transaction_isolation").await?;
        if level != "read committed" {
            let what = format!("the transaction must be READ COMMITTED, and is {level}");
            return Err(StoreError::new(StoreErrorKind::Usage, what));
        }
        statement(connection, "SAVEPOINT paidonce").await?;
        let mut deciding = Deciding::new(std::slice::from_ref(command), now, policy);
        match write(&mut Rows { connection, sql: &self.sql }, &mut deciding, None).await {
            Ok((mut replies, work)) => {
                if work {
                    hint::tell_at_commit(transaction, &self.schema).await.map_err(sql_error)?;
                }
                statement(transaction, "RELEASE SAVEPOINT paidonce").await?;
                let reply = replies.pop().ok_or_else(|| {
                    StoreError::new(StoreErrorKind::Internal, "a command was decided without a reply")
                })?;
                Ok(Joined::Done(reply))
            }
            Err(error) => {
                let undone = statement(transaction, "ROLLBACK TO SAVEPOINT paidonce").await;
                match error.kind() {
                    StoreErrorKind::Conflict => undone.map(|()| Joined::Retry),
                    _ => Err(error),
                }
            }
        }
    }
}
