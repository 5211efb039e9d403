//! The writes of an admission through sqlx, the same on every database: one statement a row, as it is done by hand.

use paidonce_workload::statement::Statements;
use paidonce_workload::{ACCOUNT, SOURCE};
use sqlx::{Database, Encode, Executor, IntoArguments, Type};

use crate::admission::{Notification, handle};

/// A transaction on its way: its connection, its statements, and what it is about.
pub struct Writing<'a, C> {
    /// The transaction's connection.
    pub connection: &'a mut C,
    /// The database's statements.
    pub sql: &'a Statements,
    /// The notification.
    pub notification: &'a Notification,
    /// Milliseconds since the Unix epoch.
    pub now: i64,
}

/// The order as it was found.
pub struct Found {
    /// Its id.
    pub id: String,
    /// What is due, in minor units.
    pub total: String,
    /// Their unit.
    pub unit: String,
    /// Its state.
    pub state: String,
    /// Its revision.
    pub revision: i64,
}

impl<C> Writing<'_, C> {
    /// Inserts the event.
    ///
    /// # Errors
    /// The database's.
    pub async fn event<DB>(&mut self) -> sqlx::Result<DB::QueryResult>
    where
        DB: Database<Connection = C>,
        DB::Arguments: IntoArguments<DB>,
        for<'c> &'c mut C: Executor<'c, Database = DB>,
        for<'q> &'q str: Encode<'q, DB> + Type<DB>,
        for<'q> &'q [u8]: Encode<'q, DB> + Type<DB>,
        for<'q> i64: Encode<'q, DB> + Type<DB>,
    {
        let (n, digest) = (self.notification, &self.notification.digest[..]);
        let event = sqlx::query(self.sql.insert_event).bind(ACCOUNT).bind(&*n.id).bind(SOURCE).bind(&*n.kind);
        let event = event.bind(&*n.intent).bind(digest).bind(digest).bind(&*n.body);
        event.bind(self.now).bind(self.now).execute(&mut *self.connection).await
    }

    /// Counts a duplicate.
    ///
    /// # Errors
    /// The database's.
    pub async fn repeated<DB>(&mut self) -> sqlx::Result<()>
    where
        DB: Database<Connection = C>,
        DB::Arguments: IntoArguments<DB>,
        for<'c> &'c mut C: Executor<'c, Database = DB>,
        for<'q> &'q str: Encode<'q, DB> + Type<DB>,
        for<'q> i64: Encode<'q, DB> + Type<DB>,
    {
        let repeated = sqlx::query(self.sql.repeated).bind(self.now).bind(ACCOUNT);
        repeated.bind(&*self.notification.id).execute(&mut *self.connection).await.map(|_| ())
    }

    /// Inserts the payment and its fact, updates the order, and inserts the task if that pays it.
    ///
    /// # Errors
    /// The database's.
    pub async fn payment<DB>(&mut self, order: &Found) -> sqlx::Result<()>
    where
        DB: Database<Connection = C>,
        DB::Arguments: IntoArguments<DB>,
        for<'c> &'c mut C: Executor<'c, Database = DB>,
        for<'q> &'q str: Encode<'q, DB> + Type<DB>,
        for<'q> i64: Encode<'q, DB> + Type<DB>,
    {
        let (n, id, now) = (self.notification, &*order.id, self.now);
        let payment = sqlx::query(self.sql.insert_payment).bind(ACCOUNT).bind(&*n.intent).bind(id);
        payment.bind(&*n.mentions).bind(now).execute(&mut *self.connection).await?;
        let fact = sqlx::query(self.sql.insert_fact).bind(ACCOUNT).bind(&*n.intent).bind(&*n.intent);
        fact.bind(&*n.unit).bind(n.amount).execute(&mut *self.connection).await?;
        let revision = order.revision + 1;
        let paid = sqlx::query(self.sql.update_order).bind(&*n.payments).bind(revision).bind(id);
        paid.execute(&mut *self.connection).await?;
        if n.covers(&order.total, &order.unit, &order.state) {
            let handle = handle(id);
            let task = sqlx::query(self.sql.insert_task).bind(id).bind(&*handle).bind(now).bind(now);
            task.bind(revision).execute(&mut *self.connection).await?;
        }
        Ok(())
    }
}
