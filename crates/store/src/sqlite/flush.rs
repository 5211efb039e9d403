//! Writing the net changes of a batch: multi-row inserts, then updates by key. Nothing is decided here.

use paidonce_ledger::{Change, Changes};
use rusqlite::Connection;

use super::encode::Column;
use super::row::Stored;
use super::sql::CHUNKS;
use super::sql_error;
use crate::{Result, StoreError, StoreErrorKind};

pub(super) fn flush(connection: &Connection, changes: &Changes) -> Result<()> {
    table(connection, &changes.references)?;
    table(connection, &changes.orders)?;
    table(connection, &changes.payments)?;
    table(connection, &changes.facts)?;
    table(connection, &changes.events)?;
    table(connection, &changes.tasks)?;
    table(connection, &changes.entitlements)?;
    table(connection, &changes.cases)?;
    table(connection, &changes.commands)?;
    table(connection, &changes.audits)?;
    table(connection, &changes.api_keys)
}

fn table<T: Stored>(connection: &Connection, changes: &[Change<T::Key, T>]) -> Result<()> {
    let mut inserts = Vec::new();
    for change in changes {
        match (&change.before, &change.after) {
            (None, Some(row)) => inserts.push(T::write(&change.key, row)?),
            (Some(_), Some(row)) => update::<T>(connection, T::write(&change.key, row)?)?,
            (_, None) => {
                return Err(StoreError::new(
                    StoreErrorKind::Internal,
                    "a row was to be deleted: no command does that",
                ));
            }
        }
    }
    let mut rest = &inserts[..];
    for (size, sql) in CHUNKS.into_iter().zip(&T::sql().insert) {
        while rest.len() >= size {
            let (chunk, left) = rest.split_at(size);
            insert(connection, sql, chunk)?;
            rest = left;
        }
    }
    Ok(())
}

fn insert(connection: &Connection, sql: &str, rows: &[Vec<Column<'_>>]) -> Result<()> {
    let mut statement = connection.prepare_cached(sql).map_err(sql_error)?;
    statement.execute(rusqlite::params_from_iter(rows.iter().flatten())).map_err(sql_error)?;
    Ok(())
}

fn update<T: Stored>(connection: &Connection, row: Vec<Column<'_>>) -> Result<()> {
    let changing = |column: &str| !T::FIXED.contains(&column);
    let values = &T::COLUMNS[T::KEY_COLUMNS..];
    let mut statement = connection.prepare_cached(&T::sql().update).map_err(sql_error)?;
    let (key, rest) = row.split_at(T::KEY_COLUMNS);
    let rest = rest.iter().zip(values).filter(|(_, column)| changing(column)).map(|(value, _)| value);
    let updated = statement.execute(rusqlite::params_from_iter(rest.chain(key))).map_err(sql_error)?;
    if updated == 1 {
        return Ok(());
    }
    Err(StoreError::new(
        StoreErrorKind::Internal,
        format!("a row of {} was not there to be updated", T::TABLE),
    ))
}
