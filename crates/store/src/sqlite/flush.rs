//! Writing the net changes of a batch: multi-row inserts, then updates by key. Nothing is decided here.

use paidonce_ledger::{
    ApiKey, Attempt, Audit, Case, Changes, CommandRecord, Entitlement, Event, FactValue, Order, Payment,
    Product, Reference, Task,
};
use rusqlite::Connection;

use super::sql::{CHUNKS, sql};
use super::sql_error;
use crate::row::{Column, Stored, dropped};
use crate::{Result, StoreError, StoreErrorKind};

pub(super) fn flush(connection: &Connection, changes: &Changes) -> Result<()> {
    table::<Reference>(connection, changes)?;
    table::<Order>(connection, changes)?;
    table::<Product>(connection, changes)?;
    table::<Payment>(connection, changes)?;
    table::<FactValue>(connection, changes)?;
    table::<Event>(connection, changes)?;
    drop_bodies(connection, changes)?;
    table::<Task>(connection, changes)?;
    table::<Attempt>(connection, changes)?;
    table::<Entitlement>(connection, changes)?;
    table::<Case>(connection, changes)?;
    table::<CommandRecord>(connection, changes)?;
    table::<Audit>(connection, changes)?;
    table::<ApiKey>(connection, changes)
}

fn table<T: Stored>(connection: &Connection, changes: &Changes) -> Result<()> {
    let mut inserts = Vec::new();
    for change in T::changes(changes) {
        match (&change.before, &change.after) {
            (None, Some(row)) => inserts.push(T::write(&change.key, row)?),
            (Some(_), Some(row)) => update::<T>(connection, &T::write(&change.key, row)?)?,
            (_, None) => {
                return Err(StoreError::new(
                    StoreErrorKind::Internal,
                    "a row was to be deleted: no command does that",
                ));
            }
        }
    }
    let mut rest = &inserts[..];
    for (size, sql) in CHUNKS.into_iter().zip(&sql::<T>().insert) {
        while rest.len() >= size {
            let (chunk, left) = rest.split_at(size);
            insert(connection, sql, chunk)?;
            rest = left;
        }
    }
    Ok(())
}

/// Beside the other columns of their rows: few updates write a body.
fn drop_bodies(connection: &Connection, changes: &Changes) -> Result<()> {
    let sql = "UPDATE event SET body = x'', dropped_at = ?3 WHERE account = ?1 AND id = ?2";
    for row in dropped(changes) {
        let mut statement = connection.prepare_cached(sql).map_err(sql_error)?;
        updated::<Event>(statement.execute(rusqlite::params_from_iter(row)).map_err(sql_error)?)?;
    }
    Ok(())
}

fn insert(connection: &Connection, sql: &str, rows: &[Vec<Column<'_>>]) -> Result<()> {
    let mut statement = connection.prepare_cached(sql).map_err(sql_error)?;
    statement.execute(rusqlite::params_from_iter(rows.iter().flatten())).map_err(sql_error)?;
    Ok(())
}

fn update<T: Stored>(connection: &Connection, row: &[Column<'_>]) -> Result<()> {
    let mut statement = connection.prepare_cached(&sql::<T>().update).map_err(sql_error)?;
    let values = T::SHAPE.changing().chain(0..T::SHAPE.keys).map(|at| &row[at]);
    updated::<T>(statement.execute(rusqlite::params_from_iter(values)).map_err(sql_error)?)
}

fn updated<T: Stored>(rows: usize) -> Result<()> {
    if rows == 1 {
        return Ok(());
    }
    Err(StoreError::new(
        StoreErrorKind::Internal,
        format!("a row of {} was not there to be updated", T::SHAPE.table),
    ))
}
