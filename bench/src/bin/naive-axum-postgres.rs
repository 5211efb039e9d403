//! The naive side on Postgres: axum and sqlx, one READ COMMITTED transaction per request, the order's row locked.
//!
//! Statements stay prepared, connections are not pinged before use, and the event's insert tells a duplicate: the best
//! that the same handler can be.

use paidonce_bench::admission::{Notification, now_ms};
use paidonce_bench::arguments::Arguments;
use paidonce_bench::shop::{Failure, Pool, serve};
use paidonce_bench::write::{Found, Writing};
use paidonce_workload::ACCOUNT;
use paidonce_workload::statement::POSTGRES as SQL;
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;

/// Connections. `--pool N` tries another number.
const CONNECTIONS: u32 = 10;

struct Postgres(PgPool);

impl Pool for Postgres {
    async fn admit(&self, notification: &Notification) -> sqlx::Result<()> {
        let mut transaction = self.0.begin().await?;
        let now = now_ms();
        let mut writing = Writing { connection: &mut *transaction, sql: &SQL, notification, now };
        if writing.event().await?.rows_affected() == 0 {
            writing.repeated().await?;
            return transaction.commit().await;
        }
        let found = sqlx::query_as(SQL.order).bind(ACCOUNT).bind(&*notification.intent);
        let (id, total, unit, state, revision) = found.fetch_one(&mut *writing.connection).await?;
        writing.payment(&Found { id, total, unit, state, revision }).await?;
        transaction.commit().await
    }
}

async fn open(arguments: &Arguments) -> Result<Postgres, Failure> {
    let pool =
        PgPoolOptions::new().max_connections(arguments.get("pool", CONNECTIONS)?).test_before_acquire(false);
    // The server's defaults are READ COMMITTED and synchronous_commit, which the product reads back and asks for.
    Ok(Postgres(pool.connect(arguments.text("db")?).await?))
}

fn main() -> Result<(), Failure> {
    serve(open)
}
