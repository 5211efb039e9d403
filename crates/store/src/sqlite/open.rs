//! Opening a database file: settings that durability rests on, read back; migrations, under a lock.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::{SqliteOptions, sql_error};
use crate::{Result, StoreError, StoreErrorKind};

/// `paid`, so that no other program's database is taken for ours.
const APPLICATION_ID: i64 = 0x7061_6964;

/// Each file brings the schema from the version of its position to the next. They only ever expand.
const MIGRATIONS: &[&str] = &[include_str!("migrations/0001_ledger.sql")];

/// Statements that stay prepared: every table's reads, updates and three sizes of insert.
const STATEMENTS: usize = 128;

fn unavailable(what: String) -> StoreError {
    StoreError::new(StoreErrorKind::Unavailable, what)
}

/// The one connection that writes, with the schema brought up to date.
pub(super) fn writer(path: &Path, options: &SqliteOptions) -> Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = connect(path, flags, options)?;
    ours(&connection, path)?;
    durable(&connection, path)?;
    migrate(&mut connection, path)?;
    Ok(connection)
}

/// A connection that reads beside the writer.
pub(super) fn reader(path: &Path, options: &SqliteOptions) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    connect(path, flags, options)
}

fn connect(path: &Path, flags: OpenFlags, options: &SqliteOptions) -> Result<Connection> {
    let opened = match &options.vfs {
        Some(vfs) => Connection::open_with_flags_and_vfs(path, flags, vfs.as_str()),
        None => Connection::open_with_flags(path, flags),
    };
    let connection = opened.map_err(|error| {
        unavailable(format!(
            "the database {} cannot be opened: does its folder exist, and may you write there?",
            path.display()
        ))
        .caused_by(error)
    })?;
    connection.busy_timeout(Duration::from_millis(options.busy_timeout_ms)).map_err(sql_error)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // 8 KiB pages hold a notification and its neighbour; only a new file takes the setting.
    let settings = "PRAGMA page_size = 8192; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY;
        PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 1000;";
    connection.execute_batch(settings).map_err(sql_error)?;
    if let Some(pages) = options.pages_max {
        connection.execute_batch(&format!("PRAGMA max_page_count = {pages}")).map_err(sql_error)?;
    }
    Ok(connection)
}

pub(super) fn pragma(connection: &Connection, name: &str) -> Result<i64> {
    connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0)).map_err(sql_error)
}

/// Refuses a file that another program made.
fn ours(connection: &Connection, path: &Path) -> Result<()> {
    let id = pragma(connection, "application_id")?;
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(sql_error)?;
    if id == APPLICATION_ID || (id == 0 && tables == 0) {
        return Ok(());
    }
    let what =
        format!("{} is a database of another program: give paidonce a file of its own", path.display());
    Err(StoreError::new(StoreErrorKind::Corrupt, what))
}

/// P1: WAL with FULL, read back. (NORMAL loses acknowledged commits on power loss.)
fn durable(connection: &Connection, path: &Path) -> Result<()> {
    // Two processes that switch a new file at once can collide where the busy handler is not asked.
    let mut tries = 0;
    let mode = loop {
        let mode: rusqlite::Result<String> =
            connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0));
        match mode.map_err(sql_error) {
            Ok(mode) => break mode,
            Err(error) if error.retryable() && tries < 200 => tries += 1,
            Err(error) => return Err(error),
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let synchronous = pragma(connection, "synchronous")?;
    if mode.eq_ignore_ascii_case("wal") && synchronous == 2 {
        return Ok(());
    }
    Err(unavailable(format!(
        "{} cannot be made durable: journal_mode is {mode} (must be wal) and synchronous is {synchronous} (must be 2, \
         FULL). A network file system cannot hold it: move it to a local disk",
        path.display()
    )))
}

fn migrate(connection: &mut Connection, path: &Path) -> Result<()> {
    // The write lock makes a second process wait, and then find the work done.
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sql_error)?;
    let version = usize::try_from(pragma(&transaction, "user_version")?).unwrap_or(usize::MAX);
    if version > MIGRATIONS.len() {
        let what = format!(
            "{} was written by a newer paidonce (schema {version}, this one knows {}): upgrade this program",
            path.display(),
            MIGRATIONS.len()
        );
        return Err(StoreError::new(StoreErrorKind::Corrupt, what));
    }
    for migration in &MIGRATIONS[version..] {
        transaction.execute_batch(migration).map_err(sql_error)?;
    }
    if version < MIGRATIONS.len() {
        let mark =
            format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {}", MIGRATIONS.len());
        transaction.execute_batch(&mark).map_err(sql_error)?;
    }
    transaction.commit().map_err(sql_error)
}
