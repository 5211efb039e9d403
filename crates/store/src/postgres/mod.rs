//! Postgres 15 and later: a schema in the user's own database, for as many processes as wanted.

mod encode;
mod error;
mod hint;
#[cfg(feature = "conformance")]
mod hot;
mod join;
mod open;
mod query;
mod sql;
mod table;

use std::sync::{Arc, OnceLock};

use paidonce_ledger::{
    ApiKey, Attempt, Audit, AuditKey, Case, CaseKey, Command, Digest, Entitlement, Event, EventKey, KeyName,
    Keys, Ledger, OrderId, Policy, Product, Reply, Sku, Task, TaskKey, Timestamp, Unit,
};
use sqlx::PgConnection;
use sqlx::postgres::PgConnectOptions;

use self::error::{commit_error, sql_error};
use self::hint::Hints;
pub use self::join::PostgresTables;
use self::sql::Sql;
use self::table::Rows;
use crate::batch::Deciding;
use crate::grant_sql::GrantSql;
use crate::list::{
    AuditFilter, Bodies, CaseFilter, Counts, Due, EntitlementFilter, EventFilter, Listed, OldBodies,
    OrderFilter, Page, Stale, TaskFilter,
};
use crate::row::PerTable;
use crate::server::{self, Connections, Session};
use crate::{Result, Store, StoreErrorKind};

/// How a value is marked in a statement.
const MARK: fn(usize) -> String = |n| format!("${n}");

/// How a Postgres database is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresOptions {
    /// The schema that holds the tables. Only paidonce writes there.
    pub schema: String,
    /// Committers that work side by side.
    pub lanes: usize,
    /// Connections at most; who needs one more waits for one.
    pub connections_max: usize,
    /// How long a statement waits for a lock, in milliseconds.
    pub lock_timeout_ms: u32,
    /// How long a statement may take, in milliseconds.
    pub statement_timeout_ms: u32,
    /// Opens a server whose settings may take back acknowledged commits on power loss (P1 does not hold then).
    pub accept_lost_commits: bool,
    /// The merchant's own statements, run in the transaction of each grant. They are prepared when the store is opened, so
    /// that a mistake is seen then.
    pub grant_sql: Option<GrantSql>,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            schema: "paidonce".to_owned(),
            lanes: 2,
            connections_max: 16,
            lock_timeout_ms: 3_000,
            statement_timeout_ms: 30_000,
            accept_lost_commits: false,
            grant_sql: None,
        }
    }
}

/// A schema in a Postgres database.
pub struct PostgresStore {
    connect: PgConnectOptions,
    options: PostgresOptions,
    /// The schema's name, quoted.
    schema: String,
    sql: PerTable<Sql>,
    connections: Connections<PgConnection>,
    hints: OnceLock<Hints>,
}

impl PostgresStore {
    /// Connects, checks that the server can be durable, and brings the schema up to date.
    ///
    /// Must not be called where nothing may block: not in async code, but on a thread that may wait.
    ///
    /// # Errors
    /// The server cannot be reached or made durable, or the schema was written by a newer version.
    pub fn open(url: &str, options: PostgresOptions) -> Result<Self> {
        let store = Self {
            connect: open::parse(url)?,
            schema: sql::quoted(&options.schema),
            sql: sql::statements(&options.schema),
            connections: Connections::new(options.connections_max),
            hints: OnceLock::new(),
            options,
        };
        // On a connection of its own: migrations take as long as they take.
        let once = Connections::new(1);
        once.run(
            async || open::connect(&store.connect, &store.options).await,
            async |session| {
                open::check(&mut session.connection, &store.options).await?;
                open::migrate(&mut session.connection, &store.options.schema).await?;
                // After it: a statement of the merchant's may read these tables.
                open::prepares(&mut session.connection, store.options.grant_sql.as_ref()).await
            },
        )?;
        Ok(store)
    }

    /// Whether the database understands the merchant's statements. Nothing is made or changed.
    ///
    /// # Errors
    /// [`StoreErrorKind::Usage`] names the first that it does not understand; the server may not be reached.
    pub fn check_grant_sql(url: &str, sql: &GrantSql) -> Result<()> {
        let (connect, options) = (open::parse(url)?, PostgresOptions::default());
        Connections::new(1).run(
            async || open::connect(&connect, &options).await,
            async |session| open::prepares(&mut session.connection, Some(sql)).await,
        )
    }

    fn run<T>(&self, work: impl AsyncFnOnce(&mut Session<PgConnection>) -> Result<T>) -> Result<T> {
        self.connections.run(async || open::connect(&self.connect, &self.options).await, work)
    }

    async fn attempt(
        &self,
        session: &mut Session<PgConnection>,
        deciding: &mut Deciding<'_>,
    ) -> Result<Vec<Reply>> {
        session.clean = false;
        statement(&mut session.connection, "BEGIN ISOLATION LEVEL READ COMMITTED").await?;
        let mut rows = Rows { connection: &mut session.connection, sql: &self.sql };
        match write(&mut rows, deciding, self.options.grant_sql.as_ref()).await {
            Ok((replies, work)) => {
                // P1, P4: one commit makes all of it true or none.
                sqlx::raw_sql("COMMIT").execute(&mut session.connection).await.map_err(commit_error)?;
                session.clean = true;
                if let Some(hints) = self.hints.get().filter(|_| work) {
                    hints.tell();
                }
                Ok(replies)
            }
            Err(error) => {
                session.clean = statement(&mut session.connection, "ROLLBACK").await.is_ok();
                Err(error)
            }
        }
    }

    /// Runs `read` on one snapshot. A connection that was lost while it waited is replaced once.
    fn read<T>(&self, read: impl AsyncFn(&mut Rows<'_>) -> Result<T>) -> Result<T> {
        let once = || {
            self.run(async |session| {
                session.clean = false;
                let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
                statement(&mut session.connection, begin).await?;
                let result = read(&mut Rows { connection: &mut session.connection, sql: &self.sql }).await;
                session.clean = statement(&mut session.connection, "ROLLBACK").await.is_ok();
                result
            })
        };
        match once() {
            Err(error) if error.kind() == StoreErrorKind::Unavailable => once(),
            result => result,
        }
    }
}

async fn statement(connection: &mut PgConnection, sql: &'static str) -> Result<()> {
    sqlx::raw_sql(sql).execute(connection).await.map_err(sql_error).map(|_| ())
}

/// Loads, decides and writes, inside the transaction that `rows` is in. With the replies: whether there is work now.
async fn write(
    rows: &mut Rows<'_>,
    deciding: &mut Deciding<'_>,
    grant_sql: Option<&GrantSql>,
) -> Result<(Vec<Reply>, bool)> {
    let replies = server::decide(rows, deciding).await?;
    let changes = deciding.ledger().take_changes();
    server::flush(rows, &changes).await?;
    if let Some(sql) = grant_sql {
        rows.run(&sql.bound(&changes, MARK), sql.timeout_ms()).await?;
    }
    let waits = |task: &Task| task.state.active() && task.lease.is_none();
    Ok((replies, changes.tasks.iter().any(|change| change.after.as_ref().is_some_and(waits))))
}

impl Store for PostgresStore {
    fn commit(&self, batch: &[Command], now: Timestamp, policy: &Policy) -> Result<Vec<Reply>> {
        server::commit(batch, now, policy, |deciding| {
            self.run(async |session| self.attempt(session, deciding).await)
        })
    }

    fn alone(&self, command: &Command) -> bool {
        self.options.grant_sql.is_some() && matches!(command, Command::Grant(_))
    }

    fn on_work(&self, wake: Arc<dyn Fn() + Send + Sync>) {
        // Without a thread there are no hints, and looking finds everything. The first to ask is the one who hears.
        if self.hints.get().is_none()
            && let Ok(hints) = Hints::start(self.connect.clone(), &self.options.schema, wake)
        {
            let _ = self.hints.set(hints);
        }
    }

    fn lanes(&self) -> usize {
        self.options.lanes.max(1)
    }

    fn load(&self, keys: &Keys) -> Result<Ledger> {
        self.read(async |rows| server::load(rows, keys).await)
    }

    fn snapshot(&self) -> Result<Ledger> {
        self.read(async |rows| server::snapshot(rows).await)
    }

    fn due(&self, what: &Due, now: Timestamp, limit: usize) -> Result<Vec<TaskKey>> {
        self.read(async |rows| server::due(rows, what, now, limit).await)
    }

    fn stale(&self, stale: &Stale) -> Result<Keys> {
        self.read(async |rows| server::stale(rows, stale).await)
    }

    fn old_bodies(&self, wanted: &Bodies) -> Result<OldBodies> {
        self.read(async |rows| server::old_bodies(rows, wanted).await)
    }

    fn attempts(&self, task: &TaskKey) -> Result<Vec<(u64, Attempt)>> {
        self.read(async |rows| server::attempts(rows, task).await)
    }

    fn task(&self, handle: &str) -> Result<Option<(TaskKey, Task)>> {
        self.read(async |rows| server::task(rows, handle).await)
    }

    fn orders(&self, filter: &OrderFilter, page: &Page) -> Result<Listed<OrderId>> {
        self.read(async |rows| rows.orders(&self.schema, filter, page).await)
    }

    fn events(&self, filter: &EventFilter, page: &Page) -> Result<Listed<(EventKey, Event)>> {
        self.read(async |rows| rows.events(filter, page).await)
    }

    fn entitlements(
        &self,
        filter: &EntitlementFilter,
        page: &Page,
    ) -> Result<Listed<((OrderId, Unit), Entitlement)>> {
        self.read(async |rows| rows.entitlements(filter, page).await)
    }

    fn cases(&self, filter: &CaseFilter, page: &Page) -> Result<Listed<(CaseKey, Case)>> {
        self.read(async |rows| rows.cases(filter, page).await)
    }

    fn case(&self, handle: &str) -> Result<Option<(CaseKey, Case)>> {
        self.read(async |rows| rows.case(handle).await)
    }

    fn audits(&self, filter: &AuditFilter, page: &Page) -> Result<Listed<(AuditKey, Audit)>> {
        self.read(async |rows| rows.audits(filter, page).await)
    }

    fn tasks(&self, filter: &TaskFilter, page: &Page) -> Result<Listed<(TaskKey, Task)>> {
        self.read(async |rows| rows.tasks(filter, page).await)
    }

    fn products(&self, page: &Page) -> Result<Listed<(Sku, Product)>> {
        self.read(async |rows| rows.products(page).await)
    }

    fn api_keys(&self) -> Result<Vec<(KeyName, ApiKey)>> {
        self.read(async |rows| rows.api_keys().await)
    }

    fn api_key(&self, digest: &Digest) -> Result<Option<(KeyName, ApiKey)>> {
        self.read(async |rows| rows.api_key(digest).await)
    }

    fn counts(&self) -> Result<Counts> {
        self.read(async |rows| rows.counts(&self.schema).await)
    }

    fn describe(&self) -> String {
        let connect = &self.connect;
        let database = connect.get_database().unwrap_or_else(|| connect.get_username());
        let (host, port) = (connect.get_host(), connect.get_port());
        format!("postgres://{host}:{port}/{database}, schema {}", self.options.schema)
    }
}
