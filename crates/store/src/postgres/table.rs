//! The four statements on one connection that a batch is made of.

use paidonce_ledger::Event;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::{AssertSqlSafe, PgConnection};
use std::sync::Arc;

use super::encode::{self, arrays};
use super::error::sql_error;
use super::sql::Sql;
use crate::grant_sql::{self, Bound};
use crate::row::{Column, Kind, PerTable, Reader, Stored, maybe, text};
use crate::server::{KeyColumns, Lock, Tables};
use crate::{Result, StoreError, StoreErrorKind};

/// One connection, inside whatever transaction it is in.
pub(super) struct Rows<'a> {
    pub(super) connection: &'a mut PgConnection,
    pub(super) sql: &'a PerTable<Sql>,
}

pub(super) async fn fetch(
    connection: &mut PgConnection,
    sql: Arc<str>,
    values: PgArguments,
) -> Result<Vec<PgRow>> {
    sqlx::query_with(AssertSqlSafe(sql), values).fetch_all(connection).await.map_err(sql_error)
}

pub(super) fn read<T: Stored>(rows: &[PgRow]) -> Result<Vec<(T::Key, T)>> {
    rows.iter().map(|row| T::read(&mut Reader::new(row))).collect()
}

/// An error of a merchant's statement. A deadlock is tried again at once, for as long as one of ours, and what is wrong
/// with the server is no statement's fault.
fn merchants(error: sqlx::Error) -> StoreError {
    let others = |code: &str| {
        ["40001", "40P01", "25006"].contains(&code)
            || ["08", "53", "57P"].iter().any(|class| code.starts_with(class))
    };
    let code = error.as_database_error().map(|error| error.code().unwrap_or_default().into_owned());
    let theirs = code.is_some_and(|code| !others(&code));
    grant_sql::failed(sql_error(error).of_merchants(), theirs)
}

impl Rows<'_> {
    /// Runs the merchant's statements, and what they left to be checked at the end: an error of theirs must not look like
    /// one of COMMIT.
    pub(super) async fn run(&mut self, statements: &[Bound], timeout_ms: u32) -> Result<()> {
        if statements.is_empty() {
            return Ok(());
        }
        let limit =
            format!("SET LOCAL statement_timeout = {timeout_ms}; SET LOCAL lock_timeout = {timeout_ms}");
        sqlx::raw_sql(AssertSqlSafe(limit)).execute(&mut *self.connection).await.map_err(sql_error)?;
        for (sql, values) in statements {
            let columns: Vec<_> = values.iter().map(|value| maybe(value.as_deref(), text)).collect();
            let query = sqlx::query_with(AssertSqlSafe(sql.clone()), encode::values(&columns)?);
            query.execute(&mut *self.connection).await.map_err(merchants)?;
        }
        let deferred = sqlx::raw_sql("SET CONSTRAINTS ALL IMMEDIATE");
        deferred.execute(&mut *self.connection).await.map_err(merchants).map(|_| ())
    }

    async fn execute(&mut self, sql: &Arc<str>, values: PgArguments) -> Result<u64> {
        let sql = AssertSqlSafe(sql.clone());
        let done = sqlx::query_with(sql, values).execute(&mut *self.connection).await.map_err(sql_error)?;
        Ok(done.rows_affected())
    }
}

impl Tables for Rows<'_> {
    async fn rows<T: Stored + Send>(&mut self, keys: KeyColumns<'_>, lock: Lock) -> Result<Vec<(T::Key, T)>>
    where
        T::Key: Send,
    {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let (sql, keys_of) = (T::pick(self.sql), T::SHAPE.keys);
        let sql = match lock {
            Lock::None => &sql.select[keys_of],
            Lock::Wait => &sql.lock,
            Lock::NoWait => &sql.try_lock,
        };
        let values = arrays(T::SHAPE.columns, 0..keys_of, &keys)?;
        read::<T>(&fetch(self.connection, sql.clone(), values).await?)
    }

    async fn under<T: Stored + Send>(&mut self, prefixes: Option<KeyColumns<'_>>) -> Result<Vec<(T::Key, T)>>
    where
        T::Key: Send,
    {
        let prefixes = prefixes.unwrap_or_else(|| vec![Vec::new()]);
        let Some(first) = prefixes.first() else { return Ok(Vec::new()) };
        let sql = &T::pick(self.sql).select[first.len()];
        let values = arrays(T::SHAPE.columns, 0..first.len(), &prefixes)?;
        read::<T>(&fetch(self.connection, sql.clone(), values).await?)
    }

    async fn insert<T: Stored>(&mut self, rows: &[Vec<Column<'_>>]) -> Result<()> {
        let sql = T::pick(self.sql).insert.clone();
        let values = arrays(T::SHAPE.columns, 0..T::SHAPE.columns.len(), rows)?;
        if self.execute(&sql, values).await? == rows.len() as u64 {
            return Ok(());
        }
        // One that is there by now is an error of the statement, which loses the batch either way. ON CONFLICT DO NOTHING would
        // tell it without one, and costs a quarter of every insert: a second search of each unique index.
        let what = format!("a row of {} was not inserted", T::SHAPE.table);
        Err(StoreError::new(StoreErrorKind::Internal, what))
    }

    async fn update<T: Stored>(&mut self, rows: &[Vec<Column<'_>>]) -> Result<()> {
        let sql = T::pick(self.sql).update.clone();
        let values = arrays(T::SHAPE.columns, (0..T::SHAPE.keys).chain(T::SHAPE.changing()), rows)?;
        if self.execute(&sql, values).await? == rows.len() as u64 {
            return Ok(());
        }
        let what = format!("a row of {} was not there to be updated", T::SHAPE.table);
        Err(StoreError::new(StoreErrorKind::Internal, what))
    }

    async fn drop_bodies(&mut self, rows: &[Vec<Column<'_>>]) -> Result<()> {
        let sql = format!(
            "UPDATE {} AS t SET body = '', dropped_at = u.at FROM unnest($1::text[], $2::text[], $3::bigint[])
            AS u(account, id, at) WHERE t.account = u.account AND t.id = u.id",
            Event::pick(self.sql).table
        );
        let values = arrays(&[("account", Kind::Text), ("id", Kind::Text), ("at", Kind::Int)], 0..3, rows)?;
        if self.execute(&sql.into(), values).await? == rows.len() as u64 {
            return Ok(());
        }
        let what = "an event was not there to lose its body";
        Err(StoreError::new(StoreErrorKind::Internal, what))
    }
}
