//! The four statements on one connection that a batch is made of.

use std::collections::BTreeMap;
use std::sync::Arc;

use paidonce_ledger::Event;
use sqlx::mysql::{MySqlArguments, MySqlRow};
use sqlx::{AssertSqlSafe, MySqlConnection};

use super::encode::{add, size, values};
use super::error::{number, sql_error};
use super::sql::{CHUNKS, sql, table};
use super::{MysqlOptions, open};
use crate::grant_sql::{self, Bound, GrantSql};
use crate::row::{Column, Reader, Stored};
use crate::server::{KeyColumns, Lock, Tables};
use crate::{Result, StoreError, StoreErrorKind};

/// The most bytes of rows in one statement. (The server takes 16 MiB in a packet unless it was told otherwise.)
const STATEMENT_BYTES_MAX: usize = 8 << 20;

/// One connection, inside whatever transaction it is in.
pub(super) struct Rows<'a> {
    pub(super) connection: &'a mut MySqlConnection,
}

pub(super) async fn fetch(
    connection: &mut MySqlConnection,
    sql: Arc<str>,
    values: MySqlArguments,
) -> Result<Vec<MySqlRow>> {
    sqlx::query_with(AssertSqlSafe(sql), values).fetch_all(connection).await.map_err(sql_error)
}

pub(super) fn read<T: Stored>(rows: &[MySqlRow]) -> Result<Vec<(T::Key, T)>> {
    rows.iter().map(|row| T::read(&mut Reader::new(row))).collect()
}

/// Keys that differ in their last column only, each group and each list in byte order: a group is one range of the
/// index, and rows are locked in one order by everybody.
fn groups<'a>(keys: &'a KeyColumns<'_>) -> BTreeMap<Vec<&'a [u8]>, Vec<&'a [u8]>> {
    let bytes = |column: &'a Column<'_>| match column {
        Column::Text(text) => text.as_bytes(),
        Column::Blob(bytes) => bytes,
        Column::Null | Column::Int(_) => &[],
    };
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for key in keys {
        let mut key: Vec<_> = key.iter().map(bytes).collect();
        let Some(last) = key.pop() else { continue };
        groups.entry(key).or_default().push(last);
    }
    groups.values_mut().for_each(|list| list.sort_unstable());
    groups
}

/// The place in [`CHUNKS`] of the smallest that takes `n`, or of the largest.
fn chunk_for(n: usize) -> usize {
    CHUNKS.iter().rposition(|size| *size >= n).unwrap_or(0)
}

/// How many of `rows` go into the next statement, and the place of that number in [`CHUNKS`].
fn next_chunk(rows: &[Vec<Column<'_>>]) -> (usize, usize) {
    let fits = |at: &usize| {
        let size_of = |row: &Vec<Column<'_>>| row.iter().map(size).sum::<usize>();
        let n = CHUNKS[*at];
        n <= rows.len() && rows[..n].iter().map(size_of).sum::<usize>() <= STATEMENT_BYTES_MAX
    };
    let at = (0..CHUNKS.len()).find(fits).unwrap_or(CHUNKS.len() - 1);
    (at, CHUNKS[at])
}

/// An error of a merchant's statement. A deadlock is tried again at once, for as long as one of ours, and what is wrong
/// with the server is no statement's fault.
fn merchants(error: sqlx::Error) -> StoreError {
    let others = [1213, 1020, 1021, 1041, 1114, 1290, 1836, 1040, 1053, 1203, 1927];
    let theirs = number(&error).is_some_and(|number| !others.contains(&number));
    grant_sql::failed(sql_error(error).of_merchants(), theirs)
}

/// The session's limits for whatever runs next. MariaDB stops every statement, MySQL only those that read; locks are
/// waited for in whole seconds.
fn limits(statement_ms: u32, lock_ms: u32) -> String {
    let (seconds, rest) = (statement_ms / 1000, statement_ms % 1000);
    format!(
        "SET SESSION /*M! max_statement_time = {seconds}.{rest:03}, SESSION */ \
         /*!80000 max_execution_time = {statement_ms}, SESSION */ innodb_lock_wait_timeout = {}",
        (lock_ms / 1000).max(1)
    )
}

impl Rows<'_> {
    /// Runs the merchant's statements. Their values travel as texts of the connection's character set, not as bytes.
    /// The session has the store's own limits again when they are done.
    pub(super) async fn run(&mut self, sql: &GrantSql, bound: &[Bound], store: &MysqlOptions) -> Result<()> {
        if bound.is_empty() {
            return Ok(());
        }
        open::execute(self.connection, limits(sql.timeout_ms(), sql.timeout_ms())).await?;
        let ran = self.run_all(bound).await;
        // An error of theirs says more than one of this, which is the connection's own end.
        let restored =
            open::execute(self.connection, limits(store.statement_timeout_ms, store.lock_timeout_ms)).await;
        ran.and(restored)
    }

    async fn run_all(&mut self, bound: &[Bound]) -> Result<()> {
        for (sql, values) in bound {
            let mut query = sqlx::query(AssertSqlSafe(sql.clone()));
            for value in values {
                query = query.bind(value.as_deref());
            }
            query.execute(&mut *self.connection).await.map_err(merchants)?;
        }
        Ok(())
    }

    async fn select<T: Stored>(&mut self, keys: &KeyColumns<'_>, lock: Lock) -> Result<Vec<(T::Key, T)>> {
        let mut found = Vec::new();
        for (prefix, list) in groups(keys) {
            let statements = sql::<T>().by(prefix.len() + 1, lock);
            for list in list.chunks(CHUNKS[0]) {
                let at = chunk_for(list.len());
                let mut values = MySqlArguments::default();
                // Filled up with the last key, which finds nothing twice.
                let filled = (0..CHUNKS[at]).map(|n| list[n.min(list.len() - 1)]);
                for bytes in prefix.iter().copied().chain(filled) {
                    add(&mut values, &crate::row::blob(bytes))?;
                }
                let rows = fetch(self.connection, statements[at].clone(), values).await?;
                found.extend(read::<T>(&rows)?);
            }
        }
        Ok(found)
    }

    async fn execute(&mut self, sql: &Arc<str>, values: MySqlArguments) -> Result<u64> {
        let sql = AssertSqlSafe(sql.clone());
        let done = sqlx::query_with(sql, values).execute(&mut *self.connection).await.map_err(sql_error)?;
        Ok(done.rows_affected())
    }

    /// Runs the statement of each chunk of `rows` and asks how many rows it touched for each.
    async fn in_chunks(
        &mut self,
        statements: &[Arc<str>; 4],
        mut rows: &[Vec<Column<'_>>],
        touched: u64,
    ) -> Result<bool> {
        while !rows.is_empty() {
            let (at, n) = next_chunk(rows);
            let (chunk, rest) = rows.split_at(n);
            let done = self.execute(&statements[at], values(chunk.iter().flatten())?).await?;
            if done != n as u64 * touched {
                return Ok(false);
            }
            rows = rest;
        }
        Ok(true)
    }

    /// One statement a row: an insert that meets a row of this table would lock the gap beside it, and others insert
    /// there all the time.
    async fn update_each<T: Stored>(&mut self, rows: &[Vec<Column<'_>>]) -> Result<bool> {
        for row in rows {
            let columns = T::SHAPE.changing().chain(0..T::SHAPE.keys).map(|at| &row[at]);
            if self.execute(&sql::<T>().update, values(columns)?).await? != 1 {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Tables for Rows<'_> {
    async fn rows<T: Stored + Send>(&mut self, keys: KeyColumns<'_>, lock: Lock) -> Result<Vec<(T::Key, T)>>
    where
        T::Key: Send,
    {
        self.select::<T>(&keys, lock).await
    }

    async fn under<T: Stored + Send>(&mut self, prefixes: Option<KeyColumns<'_>>) -> Result<Vec<(T::Key, T)>>
    where
        T::Key: Send,
    {
        match prefixes {
            Some(prefixes) => self.select::<T>(&prefixes, Lock::None).await,
            None => {
                let sql = sql::<T>().list.clone();
                read::<T>(&fetch(self.connection, sql, MySqlArguments::default()).await?)
            }
        }
    }

    async fn insert<T: Stored>(&mut self, rows: &[Vec<Column<'_>>]) -> Result<()> {
        // A plain insert: IGNORE would call every error a duplicate.
        if self.in_chunks(&sql::<T>().insert, rows, 1).await? {
            return Ok(());
        }
        let what = format!("a row of {} was not inserted", T::SHAPE.table);
        Err(StoreError::new(StoreErrorKind::Internal, what))
    }

    async fn update<T: Stored>(&mut self, rows: &[Vec<Column<'_>>]) -> Result<()> {
        let updated = if T::SHAPE.table == Event::SHAPE.table {
            self.update_each::<T>(rows).await?
        } else {
            // Two for each row that was there and changed, one for each that was not.
            self.in_chunks(&sql::<T>().upsert, rows, 2).await?
        };
        if updated {
            return Ok(());
        }
        let what = format!("a row of {} was not there to be updated", T::SHAPE.table);
        Err(StoreError::new(StoreErrorKind::Internal, what))
    }

    async fn drop_bodies(&mut self, rows: &[Vec<Column<'_>>]) -> Result<()> {
        let table = table(Event::SHAPE.table);
        let sql = format!("UPDATE {table} SET body = '', dropped_at = ? WHERE account = ? AND id = ?").into();
        for row in rows {
            let columns = [2, 0, 1].into_iter().map(|at| &row[at]);
            if self.execute(&sql, values(columns)?).await? != 1 {
                let what = "an event was not there to lose its body";
                return Err(StoreError::new(StoreErrorKind::Internal, what));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{blob, text};

    #[test]
    fn keys_are_grouped_by_all_but_their_last_column_in_byte_order() {
        let keys = vec![vec![text("b"), text("2")], vec![text("a"), text("9")], vec![text("b"), text("1")]];
        let expected = [(vec![&b"a"[..]], vec![&b"9"[..]]), (vec![b"b"], vec![b"1", b"2"])];
        assert_eq!(groups(&keys).into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn chunks_are_the_smallest_that_take_a_list() {
        assert_eq!([1, 2, 8, 9, 33, 128, 500].map(|n| CHUNKS[chunk_for(n)]), [1, 8, 8, 32, 128, 128, 128]);
    }

    #[test]
    fn rows_that_are_too_large_together_go_alone() {
        let large = vec![0; 3 << 20];
        let rows = |n| vec![vec![blob(&large)]; n];
        assert_eq!([1, 7, 8, 40].map(|n| next_chunk(&rows(n)).1), [1, 1, 1, 1]);
        let small = vec![vec![blob(&large[..9])]; 40];
        assert_eq!(next_chunk(&small).1, 32);
    }
}
