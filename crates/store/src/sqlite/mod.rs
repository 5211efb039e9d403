//! SQLite: one file, one writer, readers beside it. Other processes may open the same file.

mod encode;
mod flush;
mod join;
mod load;
mod merchant;
mod open;
mod query;
mod sql;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use paidonce_ledger::{
    ApiKey, Attempt, Audit, AuditKey, Case, CaseKey, Command, CommandRecord, Digest, Entitlement, Event,
    EventKey, FactValue, KeyName, Keys, Ledger, Order, OrderId, Payment, Policy, Product, Reference, Reply,
    Sku, Task, TaskKey, Timestamp, Unit,
};
use rusqlite::{Connection, ErrorCode, TransactionBehavior};

pub use self::join::SqliteTables;
use self::load::Rows;
use crate::grant_sql::GrantSql;
use crate::list::{
    AuditFilter, Bodies, CaseFilter, Counts, Due, EntitlementFilter, EventFilter, Listed, OldBodies,
    OrderFilter, Page, Stale, TaskFilter,
};
use crate::row::load_all;
use crate::{Result, Store, StoreError, StoreErrorKind, batch};

/// Connections that read at once. (Two cores read no faster with more.)
const READERS_MAX: usize = 4;

/// How a database file is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqliteOptions {
    /// How long to wait for another process's write.
    pub busy_timeout_ms: u64,
    /// The SQLite VFS to open it with; `None` for the platform's own. For simulated disks.
    pub vfs: Option<String>,
    /// The most pages of 8 KiB the file may grow to; `None` for what the disk holds. For disks that are full.
    pub pages_max: Option<u32>,
    /// The merchant's own statements, run in the transaction of each grant, on tables of theirs in this file. They are
    /// prepared when the store is opened, so that a mistake is seen then.
    pub grant_sql: Option<GrantSql>,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { busy_timeout_ms: 5_000, vfs: None, pages_max: None, grant_sql: None }
    }
}

/// A database file.
pub struct SqliteStore {
    path: PathBuf,
    options: SqliteOptions,
    writer: Mutex<Connection>,
    readers: Mutex<Vec<Connection>>,
}

impl SqliteStore {
    /// Opens or creates the file, checks that it can be durable, and brings its schema up to date.
    ///
    /// # Errors
    /// The file cannot be opened or made durable, is another program's, or was written by a newer version.
    pub fn open(path: impl AsRef<Path>, options: SqliteOptions) -> Result<Self> {
        let path = path.as_ref().to_owned();
        let writer = open::writer(&path, &options)?;
        merchant::prepares(&writer, options.grant_sql.as_ref())?;
        let writer = Mutex::new(writer);
        Ok(Self { path, options, writer, readers: Mutex::new(Vec::new()) })
    }

    /// Whether the database understands the merchant's statements. It is opened for reading only, and nothing changes.
    ///
    /// # Errors
    /// [`StoreErrorKind::Usage`] names the first that it does not understand; [`StoreErrorKind::Unavailable`] where there
    /// is no file yet.
    pub fn check_grant_sql(path: impl AsRef<Path>, sql: &GrantSql) -> Result<()> {
        merchant::prepares(&open::reader(path.as_ref(), &SqliteOptions::default())?, Some(sql))
    }

    /// Runs `read` on one snapshot.
    fn read<T>(&self, read: impl FnOnce(&Rows<'_>) -> Result<T>) -> Result<T> {
        let idle = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut connection = idle.map_or_else(|| open::reader(&self.path, &self.options), Ok)?;
        let result = {
            let transaction = connection.transaction().map_err(sql_error)?;
            read(&Rows { connection: &transaction })
        };
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if result.is_ok() && readers.len() < READERS_MAX {
            readers.push(connection);
        }
        result
    }
}

impl Store for SqliteStore {
    fn commit(&self, batch: &[Command], now: Timestamp, policy: &Policy) -> Result<Vec<Reply>> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // IMMEDIATE: a transaction that reads first cannot wait for the lock it needs to write (B92).
        let transaction =
            writer.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sql_error)?;
        let (replies, ledger) = batch::decide(&mut Rows { connection: &transaction }, batch, now, policy)?;
        let changes = ledger.into_changes();
        flush::flush(&transaction, &changes)?;
        let merchants = merchant::run(&transaction, self.options.grant_sql.as_ref(), &changes)?;
        // P1, P4: one commit makes all of it true or none; dropping the transaction rolls it back.
        transaction.commit().map_err(|error| merchants.commit_error(error))?;
        Ok(replies)
    }

    fn alone(&self, command: &Command) -> bool {
        self.options.grant_sql.is_some() && matches!(command, Command::Grant(_))
    }

    fn load(&self, keys: &Keys) -> Result<Ledger> {
        self.read(|rows| {
            let mut ledger = Ledger::unloaded();
            batch::load(&mut Rows { connection: rows.connection }, keys, &mut ledger)?;
            Ok(ledger)
        })
    }

    fn snapshot(&self) -> Result<Ledger> {
        self.read(|rows| {
            let mut all = Ledger::whole();
            let ledger = &mut all;
            load_all(ledger, rows.select::<Event>(&[])?);
            load_all(ledger, rows.select::<Payment>(&[])?);
            load_all(ledger, rows.select::<FactValue>(&[])?);
            load_all(ledger, rows.select::<Order>(&[])?);
            load_all(ledger, rows.select::<Product>(&[])?);
            load_all(ledger, rows.select::<Reference>(&[])?);
            load_all(ledger, rows.select::<Task>(&[])?);
            load_all(ledger, rows.select::<Attempt>(&[])?);
            load_all(ledger, rows.select::<Entitlement>(&[])?);
            load_all(ledger, rows.select::<Case>(&[])?);
            load_all(ledger, rows.select::<CommandRecord>(&[])?);
            load_all(ledger, rows.select::<Audit>(&[])?);
            load_all(ledger, rows.select::<ApiKey>(&[])?);
            Ok(all)
        })
    }

    fn due(&self, what: &Due, now: Timestamp, limit: usize) -> Result<Vec<TaskKey>> {
        self.read(|rows| rows.due(what, now, limit))
    }

    fn stale(&self, stale: &Stale) -> Result<Keys> {
        self.read(|rows| rows.stale(stale))
    }

    fn old_bodies(&self, wanted: &Bodies) -> Result<OldBodies> {
        self.read(|rows| rows.old_bodies(wanted))
    }

    fn attempts(&self, task: &TaskKey) -> Result<Vec<(u64, Attempt)>> {
        self.read(|rows| rows.attempts(task))
    }

    fn task(&self, handle: &str) -> Result<Option<(TaskKey, Task)>> {
        self.read(|rows| rows.task(handle))
    }

    fn orders(&self, filter: &OrderFilter, page: &Page) -> Result<Listed<OrderId>> {
        self.read(|rows| rows.orders(filter, page))
    }

    fn events(&self, filter: &EventFilter, page: &Page) -> Result<Listed<(EventKey, Event)>> {
        self.read(|rows| rows.events(filter, page))
    }

    fn entitlements(
        &self,
        filter: &EntitlementFilter,
        page: &Page,
    ) -> Result<Listed<((OrderId, Unit), Entitlement)>> {
        self.read(|rows| rows.entitlements(filter, page))
    }

    fn cases(&self, filter: &CaseFilter, page: &Page) -> Result<Listed<(CaseKey, Case)>> {
        self.read(|rows| rows.cases(filter, page))
    }

    fn case(&self, handle: &str) -> Result<Option<(CaseKey, Case)>> {
        self.read(|rows| rows.case(handle))
    }

    fn audits(&self, filter: &AuditFilter, page: &Page) -> Result<Listed<(AuditKey, Audit)>> {
        self.read(|rows| rows.audits(filter, page))
    }

    fn tasks(&self, filter: &TaskFilter, page: &Page) -> Result<Listed<(TaskKey, Task)>> {
        self.read(|rows| rows.tasks(filter, page))
    }

    fn products(&self, page: &Page) -> Result<Listed<(Sku, Product)>> {
        self.read(|rows| rows.products(page))
    }

    fn api_keys(&self) -> Result<Vec<(KeyName, ApiKey)>> {
        self.read(|rows| rows.api_keys())
    }

    fn api_key(&self, digest: &Digest) -> Result<Option<(KeyName, ApiKey)>> {
        self.read(|rows| rows.api_key(digest))
    }

    fn counts(&self) -> Result<Counts> {
        self.read(|rows| query::counts(rows.connection))
    }

    fn describe(&self) -> String {
        format!("sqlite:{}", self.path.display())
    }
}

/// What an error of SQLite means for whoever asked.
fn sql_error(error: rusqlite::Error) -> StoreError {
    let (kind, what) = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            (StoreErrorKind::Busy, "another process holds the database's write lock")
        }
        Some(ErrorCode::DiskFull) => {
            (StoreErrorKind::Full, "the disk is full: nothing was written; make room")
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            (StoreErrorKind::Corrupt, "the file is damaged or no SQLite database: restore a backup")
        }
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            (StoreErrorKind::Unavailable, "the database cannot be opened for writing")
        }
        Some(ErrorCode::SystemIoFailure) => {
            (StoreErrorKind::Unavailable, "the disk failed to read or write: nothing was acknowledged")
        }
        _ => (StoreErrorKind::Internal, "SQLite refused a statement"),
    };
    StoreError::new(kind, what).caused_by(error)
}
