//! The naive side on SQLite with HTTP: axum, a pool of ten sqlx connections, one transaction per request.
//!
//! BEGIN IMMEDIATE, because a transaction that reads first and then writes fails at once under SQLite's deferred locks.

use std::str::FromStr;
use std::time::Duration;

use paidonce_bench::admission::{Notification, now_ms};
use paidonce_bench::arguments::Arguments;
use paidonce_bench::shop::{Failure, Pool, serve};
use paidonce_bench::write::{Found, Writing};
use paidonce_workload::ACCOUNT;
use paidonce_workload::statement::SQLITE as SQL;
use sqlx::SqlitePool;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};

struct Sqlite(SqlitePool);

impl Pool for Sqlite {
    async fn admit(&self, notification: &Notification) -> sqlx::Result<()> {
        let mut transaction = self.0.begin_with("BEGIN IMMEDIATE").await?;
        let now = now_ms();
        let id = &*notification.id;
        let seen: Option<(Vec<u8>,)> = match SQL.event {
            Some(sql) => sqlx::query_as(sql).bind(ACCOUNT).bind(id).fetch_optional(&mut *transaction).await?,
            None => None,
        };
        let mut writing = Writing { connection: &mut *transaction, sql: &SQL, notification, now };
        if seen.is_some() {
            writing.repeated().await?;
            return transaction.commit().await;
        }
        writing.event().await?;
        let found = sqlx::query_as(SQL.order).bind(ACCOUNT).bind(&*notification.intent);
        let (id, total, unit, state, revision) = found.fetch_one(&mut *writing.connection).await?;
        writing.payment(&Found { id, total, unit, state, revision }).await?;
        transaction.commit().await
    }
}

async fn open(arguments: &Arguments) -> Result<Sqlite, Failure> {
    let options = SqliteConnectOptions::from_str(arguments.text("db")?)?
        .page_size(8192)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(Duration::from_secs(30))
        .pragma("cache_size", "-65536")
        .pragma("temp_store", "MEMORY");
    let pool = SqlitePoolOptions::new().max_connections(arguments.get("pool", 10)?);
    Ok(Sqlite(pool.connect_with(options).await?))
}

fn main() -> Result<(), Failure> {
    serve(open)
}
