//! The naive side on MariaDB: axum and sqlx, one READ COMMITTED transaction per request, the order's row locked.
//!
//! Statements stay prepared, connections are not pinged before use, and the event's insert tells a duplicate: the best
//! that the same handler can be.

use paidonce_bench::admission::{Notification, now_ms};
use paidonce_bench::arguments::Arguments;
use paidonce_bench::shop::{Failure, Pool, serve};
use paidonce_bench::write::{Found, Writing};
use paidonce_workload::ACCOUNT;
use paidonce_workload::statement::MYSQL as SQL;
use sqlx::MySqlPool;
use sqlx::mysql::MySqlPoolOptions;

/// Connections. `--pool N` tries another number.
const CONNECTIONS: u32 = 10;

struct Mysql(MySqlPool);

impl Pool for Mysql {
    async fn admit(&self, notification: &Notification) -> sqlx::Result<()> {
        let mut transaction = self.0.begin().await?;
        let now = now_ms();
        let mut writing = Writing { connection: &mut *transaction, sql: &SQL, notification, now };
        match writing.event().await {
            Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {
                writing.repeated().await?;
                return transaction.commit().await;
            }
            inserted => inserted.map(|_| ())?,
        }
        let found = sqlx::query_as(SQL.order).bind(ACCOUNT).bind(&*notification.intent);
        // The columns are binary texts: the driver gives them as bytes.
        let (id, total, unit, state, revision): (Vec<u8>, String, Vec<u8>, Vec<u8>, i64) =
            found.fetch_one(&mut *writing.connection).await?;
        let text = |bytes| String::from_utf8(bytes).map_err(|error| sqlx::Error::Decode(error.into()));
        let order = Found { id: text(id)?, total, unit: text(unit)?, state: text(state)?, revision };
        writing.payment(&order).await?;
        transaction.commit().await
    }
}

async fn open(arguments: &Arguments) -> Result<Mysql, Failure> {
    let pool = MySqlPoolOptions::new()
        .max_connections(arguments.get("pool", CONNECTIONS)?)
        .test_before_acquire(false);
    let pool = pool.after_connect(|connection, _| {
        Box::pin(async move {
            sqlx::query("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED").execute(connection).await?;
            Ok(())
        })
    });
    Ok(Mysql(pool.connect(arguments.text("db")?).await?))
}

fn main() -> Result<(), Failure> {
    serve(open)
}
