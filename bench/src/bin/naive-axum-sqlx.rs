//! The naive side with HTTP: axum, a pool of ten sqlx connections, one transaction per request.
//!
//! It verifies the signature over the raw body, reads it with serde_json, and answers 200 after the commit. BEGIN
//! IMMEDIATE, because a transaction that reads first and then writes fails at once under SQLite's deferred locks.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use bytes::Bytes;
use paidonce_bench::admission::{
    EVENT, INSERT_EVENT, INSERT_FACT, INSERT_PAYMENT, INSERT_TASK, Notification, ORDER, REFERENCE, REPEATED,
    SCHEMA, UPDATE_ORDER, now_ms,
};
use paidonce_bench::arguments::Arguments;
use paidonce_bench::signature::{Signer, now_unix_s};
use paidonce_workload::{ACCOUNT, SECRET, SOURCE};
use sqlx::SqlitePool;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};

type Failure = Box<dyn std::error::Error + Send + Sync>;

struct Shop {
    pool: SqlitePool,
    signer: Signer,
}

async fn admit(pool: &SqlitePool, n: &Notification) -> sqlx::Result<()> {
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    let now = now_ms();
    let seen: Option<(Vec<u8>,)> =
        sqlx::query_as(EVENT).bind(ACCOUNT).bind(&n.id).fetch_optional(&mut *transaction).await?;
    if seen.is_some() {
        sqlx::query(REPEATED).bind(now).bind(ACCOUNT).bind(&n.id).execute(&mut *transaction).await?;
        return transaction.commit().await;
    }
    let (order,): (String,) =
        sqlx::query_as(REFERENCE).bind(ACCOUNT).bind(&n.intent).fetch_one(&mut *transaction).await?;
    let (total, unit, state, revision, _): (String, String, String, i64, String) =
        sqlx::query_as(ORDER).bind(&order).fetch_one(&mut *transaction).await?;
    let revision = revision + 1;
    sqlx::query(INSERT_EVENT)
        .bind(ACCOUNT)
        .bind(&n.id)
        .bind(SOURCE)
        .bind(&n.kind)
        .bind(&n.intent)
        .bind(&n.digest[..])
        .bind(&n.digest[..])
        .bind(&n.body)
        .bind(now)
        .execute(&mut *transaction)
        .await?;
    sqlx::query(INSERT_PAYMENT)
        .bind(ACCOUNT)
        .bind(&n.intent)
        .bind(&order)
        .bind(&n.mentions)
        .bind(now)
        .execute(&mut *transaction)
        .await?;
    sqlx::query(INSERT_FACT)
        .bind(ACCOUNT)
        .bind(&n.intent)
        .bind(&n.unit)
        .bind(n.amount.to_string())
        .execute(&mut *transaction)
        .await?;
    sqlx::query(UPDATE_ORDER)
        .bind(&n.payments)
        .bind(revision)
        .bind(&order)
        .execute(&mut *transaction)
        .await?;
    if n.covers(&total, &unit, &state) {
        sqlx::query(INSERT_TASK).bind(&order).bind(now).bind(revision).execute(&mut *transaction).await?;
    }
    transaction.commit().await
}

async fn webhook(State(shop): State<Arc<Shop>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let header = headers.get("stripe-signature").and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !shop.signer.verify(header, &body, now_unix_s()) {
        return StatusCode::UNAUTHORIZED;
    }
    let Ok(notification) = Notification::read(&body) else { return StatusCode::BAD_REQUEST };
    match admit(&shop.pool, &notification).await {
        Ok(()) => StatusCode::OK,
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

async fn serve(arguments: &Arguments) -> Result<(), Failure> {
    let options = SqliteConnectOptions::from_str(arguments.text("db")?)?
        .page_size(8192)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(Duration::from_secs(30))
        .pragma("cache_size", "-65536")
        .pragma("temp_store", "MEMORY")
        .create_if_missing(true);
    let pool = SqlitePoolOptions::new().max_connections(10).connect_with(options).await?;
    let event: (i64,) =
        sqlx::query_as("SELECT count(*) FROM sqlite_schema WHERE name = 'event'").fetch_one(&pool).await?;
    if event.0 == 0 {
        sqlx::raw_sql(SCHEMA).execute(&pool).await?;
    }
    let shop = Arc::new(Shop { pool, signer: Signer::new(SECRET) });
    let router = Router::new().route("/in/shop", post(webhook)).with_state(shop);
    let listener = tokio::net::TcpListener::bind(arguments.text("listen")?).await?;
    axum::serve(listener, router).await?;
    Ok(())
}

fn main() -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(serve(&Arguments::own()))
}
