//! Opening a database: settings that durability and isolation rest on, set and read back; migrations, under a lock.

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor, PgConnection, Row, SqlSafeStr};

use super::PostgresOptions;
use super::error::sql_error;
use super::sql::quoted;
use crate::grant_sql::{self, GrantSql};
use crate::{Result, StoreError, StoreErrorKind};

/// Each file brings the schema from the version of its position to the next. They only ever expand.
const MIGRATIONS: &[&str] = &[include_str!("migrations/0001_ledger.sql")];

/// `paidonce`, as a number: whoever migrates any schema of a database holds this advisory lock.
const MIGRATION_LOCK: i64 = 0x7061_6964_6f6e_6365;

/// The oldest server that is tested, as `server_version_num` says it.
const VERSION_MIN: i64 = 150_000;

/// Statements that stay prepared on a connection.
const STATEMENTS: usize = 256;

pub(super) fn parse(url: &str) -> Result<PgConnectOptions> {
    let options: PgConnectOptions = url.parse().map_err(sql_error)?;
    Ok(options.application_name("paidonce").statement_cache_capacity(STATEMENTS).disable_statement_logging())
}

/// A connection with its settings.
///
/// Everything here is read by keys, and the planner must not think otherwise because a table was small when a
/// statement was first planned: a plan that scans would be kept while the table grows.
pub(super) async fn connect(connect: &PgConnectOptions, options: &PostgresOptions) -> Result<PgConnection> {
    let mut connection = PgConnection::connect_with(connect).await.map_err(sql_error)?;
    let settings = format!(
        "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;
        SET lock_timeout = {}; SET statement_timeout = {}; SET idle_in_transaction_session_timeout = 10000;
        SET plan_cache_mode = force_generic_plan; SET jit = off;
        SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off",
        options.lock_timeout_ms, options.statement_timeout_ms
    );
    execute(&mut connection, settings).await?;
    let level = setting(&mut connection, "default_transaction_isolation").await?;
    if level != "read committed" {
        return Err(unavailable(format!("Postgres does not keep READ COMMITTED: it says {level}")));
    }
    Ok(connection)
}

async fn execute(connection: &mut PgConnection, sql: String) -> Result<()> {
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await.map_err(sql_error).map(|_| ())
}

fn unavailable(what: String) -> StoreError {
    StoreError::new(StoreErrorKind::Unavailable, what)
}

pub(super) async fn setting(connection: &mut PgConnection, name: &'static str) -> Result<String> {
    let row = sqlx::query("SELECT current_setting($1)").bind(name);
    let row = row.fetch_one(connection).await.map_err(sql_error)?;
    row.try_get(0).map_err(sql_error)
}

/// P1: what the server does at COMMIT is read, and refused if a power loss could take back what was acknowledged.
pub(super) async fn check(connection: &mut PgConnection, options: &PostgresOptions) -> Result<()> {
    let version = setting(connection, "server_version_num").await?;
    if version.parse().is_ok_and(|version: i64| version < VERSION_MIN) {
        return Err(unavailable(format!("Postgres {version} is too old: paidonce needs 15 or later")));
    }
    if options.accept_lost_commits {
        return Ok(());
    }
    for (name, durable) in [
        ("fsync", &["on"][..]),
        ("full_page_writes", &["on"]),
        ("synchronous_commit", &["on", "remote_apply"]),
    ] {
        let value = setting(connection, name).await?;
        if !durable.contains(&value.as_str()) {
            return Err(unavailable(format!(
                "Postgres has {name} = {value}: a power loss could take back what was acknowledged. Set it to on, or \
                 accept lost commits in the store's settings"
            )));
        }
    }
    Ok(())
}

/// The merchant's statements as the server understands them, before any grant depends on it.
pub(super) async fn prepares(connection: &mut PgConnection, sql: Option<&GrantSql>) -> Result<()> {
    for (text, values, line) in sql.into_iter().flat_map(|sql| sql.texts(super::MARK)) {
        // Values travel as text, and a column of another type needs a cast: seen here, and not at the first grant.
        let types = vec![<str as sqlx::Type<sqlx::Postgres>>::type_info(); values];
        let prepared = connection.prepare_with(AssertSqlSafe(text).into_sql_str(), &types).await;
        prepared.map_err(|error| grant_sql::not_understood(line, error))?;
    }
    Ok(())
}

/// Brings a schema up to date, in one transaction.
pub(super) async fn migrate(connection: &mut PgConnection, schema: &str) -> Result<()> {
    // A second process waits here, and then finds the work done.
    let begin = format!(
        "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock({MIGRATION_LOCK})"
    );
    execute(connection, begin).await?;
    let schema_quoted = quoted(schema);
    let versions = format!("{schema_quoted}.migration");
    let known = format!(
        "CREATE SCHEMA IF NOT EXISTS {schema_quoted};
        CREATE TABLE IF NOT EXISTS {versions} (version BIGINT PRIMARY KEY, at TIMESTAMPTZ NOT NULL DEFAULT now())"
    );
    // Looked for first: an existing schema needs no right to create one.
    if !exists(connection, schema).await? {
        execute(connection, known).await?;
    }
    let newest = format!("SELECT coalesce(max(version), 0) FROM {versions}");
    let row = sqlx::query(AssertSqlSafe(newest)).fetch_one(&mut *connection).await.map_err(sql_error)?;
    let version: i64 = row.try_get(0).map_err(sql_error)?;
    let version = usize::try_from(version).unwrap_or(usize::MAX);
    if version > MIGRATIONS.len() {
        let what = format!(
            "the schema {schema} was written by a newer paidonce (schema {version}, this one knows {}): upgrade this \
             program",
            MIGRATIONS.len()
        );
        return Err(StoreError::new(StoreErrorKind::Corrupt, what));
    }
    for (migration, version) in MIGRATIONS[version..].iter().zip(version + 1..) {
        execute(connection, migration.replace("{schema}", &schema_quoted)).await?;
        execute(connection, format!("INSERT INTO {versions} (version) VALUES ({version})")).await?;
    }
    execute(connection, "COMMIT".to_owned()).await
}

async fn exists(connection: &mut PgConnection, schema: &str) -> Result<bool> {
    let row = sqlx::query("SELECT to_regclass($1) IS NOT NULL").bind(format!("{}.migration", quoted(schema)));
    let row = row.fetch_one(connection).await.map_err(sql_error)?;
    row.try_get(0).map_err(sql_error)
}
