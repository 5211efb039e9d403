//! Where the ledger lives.
//!
//! A [`Store`] loads the rows that a batch of commands needs into a [`Ledger`](paidonce_ledger::Ledger), lets it
//! decide, and flushes the net changes in one commit. It decides nothing itself: that is what makes one store
//! tell the same as another. It does not know contracts, HTTP or who is asking.

#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
mod batch;
#[cfg(feature = "conformance")]
pub mod conformance;
#[cfg(feature = "document")]
mod document;
mod error;
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
mod grant_sql;
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
mod joined;
#[cfg(feature = "lines")]
mod line;
mod list;
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
mod listing;
mod memory;
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
mod row;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod server;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "lines")]
mod transfer;
mod whole;

use std::sync::Arc;

use paidonce_ledger::{
    ApiKey, Attempt, Audit, AuditKey, Case, CaseKey, Command, Digest, Entitlement, Event, EventKey, KeyName,
    Keys, Ledger, OrderId, Policy, Product, Reply, Sku, Task, TaskKey, Timestamp, Unit,
};

#[cfg(feature = "document")]
pub use document::{DocumentNotice, DocumentOptions, DocumentProbe, DocumentStore};
pub use error::{StoreError, StoreErrorKind};
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
pub use grant_sql::{GrantSql, GrantSqlError};
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
pub use joined::Joined;
#[cfg(feature = "lines")]
pub use line::{LINE_VERSION, LineError, read_line, write_lines};
pub use list::{
    AuditFilter, Bodies, CaseFilter, Counts, Due, EntitlementFilter, EventFilter, Listed, OldBodies,
    OrderFilter, PAGE_MAX, Page, Stale, TaskFilter,
};
pub use memory::MemoryStore;
#[cfg(feature = "mysql")]
pub use mysql::{MysqlOptions, MysqlStore, MysqlTables};
#[cfg(feature = "postgres")]
pub use postgres::{PostgresOptions, PostgresStore, PostgresTables};
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteOptions, SqliteStore, SqliteTables};
#[cfg(feature = "lines")]
pub use transfer::{Export, FileError, ImportError, ImportOptions, Imported, Summary, export, import, read};

/// A result of a store.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// A backend. All methods block: the engine calls [`Store::commit`] from a thread of its own, and the rest from
/// threads that may wait.
pub trait Store: Send + Sync {
    /// Executes the commands in order and makes all of them durable in one commit, or none.
    ///
    /// One reply per command, in order, and never [`Reply::Need`]: what is missing is loaded.
    ///
    /// # Errors
    /// Nothing was committed, except where the kind is [`StoreErrorKind::Unknown`]: then run the batch again,
    /// each command finds its own trace.
    fn commit(&self, batch: &[Command], now: Timestamp, policy: &Policy) -> Result<Vec<Reply>>;

    /// How many batches may usefully be committed at once: [`Store::commit`] is called from that many threads. One,
    /// where a commit excludes all others.
    fn lanes(&self) -> usize {
        1
    }

    /// Whether this command must be committed in a batch of its own: a merchant's own statements run with it, and must
    /// never decide another command's fate.
    fn alone(&self, _command: &Command) -> bool {
        false
    }

    /// Has `wake` called when another process may have committed work to do. A hint: losing one costs a delay, and a
    /// store that has nothing to hear it from never calls.
    fn on_work(&self, _wake: Arc<dyn Fn() + Send + Sync>) {}

    /// The aggregates under `keys` and all that they lead to, as of one moment.
    ///
    /// # Errors
    /// The store cannot be read.
    fn load(&self, keys: &Keys) -> Result<Ledger>;

    /// Everything, as of one moment. For audits and exports: as large as the store is.
    ///
    /// # Errors
    /// The store cannot be read.
    fn snapshot(&self) -> Result<Ledger>;

    /// Tasks that one worker may try now, the longest due first. A lease's end is when its task is due again.
    ///
    /// # Errors
    /// The store cannot be read.
    fn due(&self, what: &Due, now: Timestamp, limit: usize) -> Result<Vec<TaskKey>>;

    /// Aggregates that a sweep has something to do for.
    ///
    /// # Errors
    /// The store cannot be read.
    fn stale(&self, stale: &Stale) -> Result<Keys>;

    /// Events whose bodies a sweep may drop. One call walks past a bounded number of events, because those that were
    /// dropped before have no index of their own.
    ///
    /// # Errors
    /// The store cannot be read.
    fn old_bodies(&self, wanted: &Bodies) -> Result<OldBodies>;

    /// The tries of a task, newest first.
    ///
    /// # Errors
    /// The store cannot be read.
    fn attempts(&self, task: &TaskKey) -> Result<Vec<(u64, Attempt)>>;

    /// The task with this short name ([`TaskKey::handle`]).
    ///
    /// # Errors
    /// The store cannot be read.
    fn task(&self, handle: &str) -> Result<Option<(TaskKey, Task)>>;

    /// Orders, newest first.
    ///
    /// # Errors
    /// The store cannot be read, or the page's cursor is not one of its own.
    fn orders(&self, filter: &OrderFilter, page: &Page) -> Result<Listed<OrderId>>;

    /// Events, newest first.
    ///
    /// # Errors
    /// As [`Store::orders`].
    fn events(&self, filter: &EventFilter, page: &Page) -> Result<Listed<(EventKey, Event)>>;

    /// Entitlements, newest first.
    ///
    /// # Errors
    /// As [`Store::orders`].
    fn entitlements(
        &self,
        filter: &EntitlementFilter,
        page: &Page,
    ) -> Result<Listed<((OrderId, Unit), Entitlement)>>;

    /// Cases, newest first.
    ///
    /// # Errors
    /// As [`Store::orders`].
    fn cases(&self, filter: &CaseFilter, page: &Page) -> Result<Listed<(CaseKey, Case)>>;

    /// The case with this short name ([`CaseKey::handle`]).
    ///
    /// # Errors
    /// The store cannot be read.
    fn case(&self, handle: &str) -> Result<Option<(CaseKey, Case)>>;

    /// Who did what, newest first.
    ///
    /// # Errors
    /// As [`Store::orders`].
    fn audits(&self, filter: &AuditFilter, page: &Page) -> Result<Listed<(AuditKey, Audit)>>;

    /// Tasks, newest first.
    ///
    /// # Errors
    /// As [`Store::orders`].
    fn tasks(&self, filter: &TaskFilter, page: &Page) -> Result<Listed<(TaskKey, Task)>>;

    /// The catalogue, what was set last first.
    ///
    /// # Errors
    /// As [`Store::orders`].
    fn products(&self, page: &Page) -> Result<Listed<(Sku, Product)>>;

    /// All API keys, by name, revoked ones included.
    ///
    /// # Errors
    /// The store cannot be read.
    fn api_keys(&self) -> Result<Vec<(KeyName, ApiKey)>>;

    /// The API key whose text has this SHA-256.
    ///
    /// # Errors
    /// The store cannot be read.
    fn api_key(&self, digest: &Digest) -> Result<Option<(KeyName, ApiKey)>>;

    /// How much there is of what an operator watches.
    ///
    /// # Errors
    /// The store cannot be read.
    fn counts(&self) -> Result<Counts>;

    /// What the store is, for people: its kind and where it lives. Never a password.
    fn describe(&self) -> String;
}
