//! Opening a database: settings that durability and isolation rest on, set and read back; migrations, under a lock.

use std::collections::BTreeMap;

use sqlx::mysql::MySqlConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor, MySqlConnection, Row, SqlSafeStr};

use super::MysqlOptions;
use super::encode::values;
use super::error::sql_error;
use super::table::fetch;
use crate::grant_sql::{self, GrantSql};
use crate::row::Cells;
use crate::{Result, StoreError, StoreErrorKind};

/// Each file brings the tables from the version of its position to the next. They only ever expand, and each of
/// their statements can be run again: the server commits at every one.
const MIGRATIONS: &[&str] = &[include_str!("migrations/0001_ledger.sql")];

/// How long a transaction may wait for its client: much longer than any of ours takes between two statements.
const IDLE_IN_TRANSACTION_S: u32 = 10;

/// Statements that stay prepared on a connection.
const STATEMENTS: usize = 256;

pub(super) fn parse(url: &str) -> Result<MySqlConnectOptions> {
    let options: MySqlConnectOptions = url.parse().map_err(sql_error)?;
    if options.get_database().is_none() {
        return Err(unavailable("the MySQL URL names no database: mysql://user@host/database".to_owned()));
    }
    Ok(options.statement_cache_capacity(STATEMENTS).disable_statement_logging())
}

fn unavailable(what: String) -> StoreError {
    StoreError::new(StoreErrorKind::Unavailable, what)
}

/// A connection with its settings, read back.
pub(super) async fn connect(
    connect: &MySqlConnectOptions,
    options: &MysqlOptions,
) -> Result<MySqlConnection> {
    let mut connection = MySqlConnection::connect_with(connect).await.map_err(sql_error)?;
    let known = variables(&mut connection).await?;
    // MariaDB counts seconds and stops every statement; MySQL counts milliseconds and stops reads.
    let time = if known.contains_key("max_statement_time") {
        let ms = options.statement_timeout_ms;
        format!("max_statement_time = {}.{:03}", ms / 1000, ms % 1000)
    } else {
        format!("max_execution_time = {}", options.statement_timeout_ms)
    };
    // Whoever stops in the middle of a transaction must not hold its rows for ever. MySQL has no such setting.
    let idle = if known.contains_key("idle_transaction_timeout") {
        format!("SESSION idle_transaction_timeout = {IDLE_IN_TRANSACTION_S},")
    } else {
        String::new()
    };
    let settings = format!(
        "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;
        SET {idle} SESSION innodb_lock_wait_timeout = {0}, SESSION lock_wait_timeout = {0}, SESSION {time},
            SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO,PIPES_AS_CONCAT,ANSI_QUOTES'",
        (options.lock_timeout_ms / 1000).max(1)
    );
    execute(&mut connection, settings).await?;
    if is_isolated(&mut connection).await? {
        return Ok(connection);
    }
    Err(unavailable("the server does not keep READ COMMITTED for a session".to_owned()))
}

/// READ COMMITTED, read back: anything else lets a grant and a refund miss each other.
pub(super) async fn is_isolated(connection: &mut MySqlConnection) -> Result<bool> {
    let known = variables(connection).await?;
    // MariaDB before 11 has only the older name, and newer ones have both.
    let level = known.get("transaction_isolation").or_else(|| known.get("tx_isolation"));
    Ok(level.is_some_and(|level| level == "READ-COMMITTED"))
}

pub(super) async fn execute(connection: &mut MySqlConnection, sql: String) -> Result<()> {
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await.map_err(sql_error).map(|_| ())
}

/// The settings that matter here, those that this server has.
pub(super) async fn variables(connection: &mut MySqlConnection) -> Result<BTreeMap<String, String>> {
    let sql = "SHOW VARIABLES WHERE Variable_name IN ('transaction_isolation', 'tx_isolation', 'sql_mode',
        'max_statement_time', 'idle_transaction_timeout', 'innodb_flush_log_at_trx_commit', 'innodb_doublewrite', 'log_bin', 'sync_binlog')";
    let rows = fetch(connection, sql.into(), values([])?).await?;
    let pair = |row: &sqlx::mysql::MySqlRow| {
        let (name, value) = (row.text(0)?.unwrap_or_default(), row.text(1)?.unwrap_or_default());
        Ok((name.into_owned(), value.into_owned()))
    };
    rows.iter().map(pair).collect()
}

/// P1: what the server does at COMMIT is read, and refused if a power loss could take back what was acknowledged.
pub(super) async fn check(connection: &mut MySqlConnection, options: &MysqlOptions) -> Result<()> {
    if options.accept_lost_commits {
        return Ok(());
    }
    match lossy(&variables(connection).await?) {
        None => Ok(()),
        Some((setting, good)) => Err(unavailable(format!(
            "the server has {setting}: a power loss could take back what was acknowledged. Set it to {good}, or accept \
             lost commits in the store's settings"
        ))),
    }
}

/// The first setting that breaks P1, and what it should be.
fn lossy(known: &BTreeMap<String, String>) -> Option<(String, &'static str)> {
    let value = |name: &str| known.get(name).map_or("absent", String::as_str);
    let wrong = |name: &str, good| Some((format!("{name} = {}", value(name)), good));
    if value("innodb_flush_log_at_trx_commit") != "1" {
        return wrong("innodb_flush_log_at_trx_commit", "1");
    }
    if ["OFF", "0", "DETECT_ONLY", "absent"].contains(&value("innodb_doublewrite")) {
        return wrong("innodb_doublewrite", "ON");
    }
    // With a binary log, recovery keeps only what that holds.
    if ["ON", "1"].contains(&value("log_bin")) && value("sync_binlog") != "1" {
        return wrong("sync_binlog", "1");
    }
    None
}

/// The merchant's statements as the server understands them, before any grant depends on it.
pub(super) async fn prepares(connection: &mut MySqlConnection, sql: Option<&GrantSql>) -> Result<()> {
    for (text, _, line) in sql.into_iter().flat_map(|sql| sql.texts(super::MARK)) {
        let prepared = connection.prepare(AssertSqlSafe(text).into_sql_str()).await;
        prepared.map_err(|error| grant_sql::not_understood(line, error))?;
    }
    Ok(())
}

/// Brings the tables up to date.
pub(super) async fn migrate(connection: &mut MySqlConnection) -> Result<()> {
    // A second process waits here, and then finds the work done. The lock goes with the connection.
    let lock = "SELECT GET_LOCK(CONCAT('paidonce ', MD5(DATABASE())), 600)";
    if number(connection, lock).await? != 1 {
        return Err(unavailable(
            "another process has been migrating the database for ten minutes".to_owned(),
        ));
    }
    let versions = "CREATE TABLE IF NOT EXISTS `paidonce_migration` (
        version BIGINT NOT NULL PRIMARY KEY, at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP) ENGINE = InnoDB";
    execute(connection, versions.to_owned()).await?;
    let version = number(connection, "SELECT COALESCE(MAX(version), 0) FROM `paidonce_migration`").await?;
    let version = usize::try_from(version).unwrap_or(usize::MAX);
    if version > MIGRATIONS.len() {
        let what = format!(
            "the database was written by a newer paidonce (schema {version}, this one knows {}): upgrade this program",
            MIGRATIONS.len()
        );
        return Err(StoreError::new(StoreErrorKind::Corrupt, what));
    }
    for (migration, version) in MIGRATIONS[version..].iter().zip(version + 1..) {
        for statement in migration.split(";\n").filter(|statement| !statement.trim().is_empty()) {
            execute(connection, statement.to_owned()).await?;
        }
        execute(connection, format!("INSERT INTO `paidonce_migration` (version) VALUES ({version})")).await?;
    }
    Ok(())
}

async fn number(connection: &mut MySqlConnection, sql: &'static str) -> Result<i64> {
    let row = sqlx::query(sql).fetch_one(connection).await.map_err(sql_error)?;
    row.try_get_unchecked::<Option<i64>, _>(0).map(Option::unwrap_or_default).map_err(sql_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lossy_with(changed: &[(&str, &str)]) -> Option<String> {
        let durable = [
            ("innodb_flush_log_at_trx_commit", "1"),
            ("innodb_doublewrite", "ON"),
            ("log_bin", "ON"),
            ("sync_binlog", "1"),
        ];
        let all =
            durable.iter().chain(changed).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        lossy(&all.collect()).map(|(setting, _)| setting)
    }

    #[test]
    fn p1_settings_that_lose_commits_on_power_loss_are_named() {
        assert_eq!(lossy_with(&[]), None);
        assert_eq!(lossy_with(&[("log_bin", "OFF"), ("sync_binlog", "0")]), None);
        for bad in [
            ("innodb_flush_log_at_trx_commit", "2"),
            ("innodb_flush_log_at_trx_commit", "0"),
            ("innodb_doublewrite", "OFF"),
            ("sync_binlog", "0"),
        ] {
            assert_eq!(lossy_with(&[bad]), Some(format!("{} = {}", bad.0, bad.1)));
        }
        assert!(lossy(&BTreeMap::new()).is_some(), "a server that does not tell is not trusted");
    }
}
