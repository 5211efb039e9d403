//! The merchant's own statements (`grant.sql`) on a database file: prepared at the start, run with each grant, each for
//! no longer than it may take.

use std::time::{Duration, Instant};

use paidonce_ledger::Changes;
use rusqlite::{Connection, Error, ErrorCode};

use super::sql_error;
use crate::grant_sql::{self, GrantSql, question_mark};
use crate::{Result, StoreError};

/// So many steps of SQLite's machine pass between two looks at the time: well under a millisecond.
const STEPS: i32 = 10_000;

/// Whether the database understands the statements, before any grant depends on it.
pub(super) fn prepares(connection: &Connection, sql: Option<&GrantSql>) -> Result<()> {
    for (text, _, line) in sql.into_iter().flat_map(|sql| sql.texts(question_mark)) {
        connection.prepare(&text).map_err(|error| grant_sql::not_understood(line, error))?;
    }
    Ok(())
}

/// Whether any statement ran in a transaction.
pub(super) struct Ran(bool);

impl Ran {
    /// What an error of COMMIT is: a constraint that waited until now is the merchant's, ours never wait.
    pub(super) fn commit_error(&self, error: Error) -> StoreError {
        let constraint = error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation);
        let error = sql_error(error);
        if self.0 && constraint { grant_sql::failed(error, true) } else { error }
    }
}

/// Runs the statements for every grant in these changes.
pub(super) fn run(connection: &Connection, sql: Option<&GrantSql>, changes: &Changes) -> Result<Ran> {
    let Some(sql) = sql else { return Ok(Ran(false)) };
    let bound = sql.bound(changes, question_mark);
    let limit = Duration::from_millis(sql.timeout_ms().into());
    for (text, values) in &bound {
        let end = Instant::now() + limit;
        connection.progress_handler(STEPS, Some(move || Instant::now() >= end)).map_err(sql_error)?;
        let ran = one(connection, text, values);
        connection.progress_handler(0, None::<fn() -> bool>).map_err(sql_error)?;
        ran.map_err(|error| grant_sql::failed(sql_error(error), false))?;
    }
    Ok(Ran(!bound.is_empty()))
}

/// What it answers is not looked at.
fn one(connection: &Connection, text: &str, values: &[Option<String>]) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(text)?;
    let mut rows = statement.query(rusqlite::params_from_iter(values))?;
    while rows.next()?.is_some() {}
    Ok(())
}
