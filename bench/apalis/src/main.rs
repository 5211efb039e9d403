//! Drains no-op jobs with apalis at its fastest: batches of a hundred, fifty at once, no lock of its own for each.
//!
//! `--db` is a Postgres URL or a SQLite file. On a file it is as durable as what it stands beside: apalis itself would
//! set one of its connections to `synchronous = OFF`; `--synchronous off` sets all of them so.

use std::collections::BTreeSet;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use apalis::prelude::*;
use apalis_postgres::PostgresStorage;
use apalis_sqlite::SqliteStorage;
use futures::stream;
use paidonce_bench::arguments::Arguments;
use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const QUEUE: &str = "nothing";
const BATCH: usize = 100;
const AT_ONCE: usize = 50;

/// What was carried out.
type Done = Arc<Mutex<Vec<u64>>>;

async fn nothing(n: u64, done: Data<Done>) -> Result<(), BoxDynError> {
    done.lock().unwrap_or_else(PoisonError::into_inner).push(n);
    Ok(())
}

/// Runs a worker on a storage until `left` says that nothing is left.
macro_rules! drain {
    ($storage:expr, $done:expr, $left:expr) => {{
        let worker = WorkerBuilder::new("drain")
            .backend($storage)
            .data($done.clone())
            .concurrency(AT_ONCE)
            .parallelize(tokio::spawn)
            .build(nothing);
        let began = Instant::now();
        let worker = tokio::spawn(worker.run());
        while $left > 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let took = began.elapsed();
        worker.abort();
        took
    }};
}

async fn left(
    done: &Done,
    jobs: u64,
    undone: impl Future<Output = sqlx::Result<i64>>,
) -> Result<i64, Failure> {
    // The database is asked only when all were carried out, so that asking slows nothing.
    let carried_out = done.lock().unwrap_or_else(PoisonError::into_inner).len() as u64;
    if carried_out < jobs { Ok(1) } else { Ok(undone.await?) }
}

async fn on_postgres(url: &str, jobs: u64, done: &Done) -> Result<Duration, Failure> {
    let pool: PgPool = PgPoolOptions::new().max_connections(10).connect(url).await?;
    PostgresStorage::setup(&pool).await?;
    let config = apalis_postgres::Config::default().queue(QUEUE).batch_size(BATCH).lock_tasks(false);
    let mut storage = PostgresStorage::<u64>::new(&pool).with_config(config);
    storage.push_stream(&mut stream::iter(0..jobs)).await?;
    sqlx::raw_sql("VACUUM ANALYZE").execute(&pool).await?;
    sqlx::raw_sql("CHECKPOINT").execute(&pool).await?;
    let undone =
        || sqlx::query_scalar("SELECT count(*) FROM apalis.jobs WHERE status <> 'Done'").fetch_one(&pool);
    // What falls due this second is not yet due to apalis.
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    Ok(drain!(storage, done, left(done, jobs, undone()).await?))
}

async fn on_sqlite(path: &str, off: bool, jobs: u64, done: &Done) -> Result<Duration, Failure> {
    let options = SqliteConnectOptions::from_str(&format!("sqlite://{path}"))?.create_if_missing(true);
    let setting_up = SqlitePool::connect_with(options.clone()).await?;
    SqliteStorage::setup(&setting_up).await?;
    setting_up.close().await;
    let synchronous = if off { SqliteSynchronous::Off } else { SqliteSynchronous::Full };
    let options = options.journal_mode(SqliteJournalMode::Wal).synchronous(synchronous);
    let pool = SqlitePoolOptions::new().max_connections(10).connect_with(options).await?;
    let config = apalis_sqlite::Config::default().queue(QUEUE).batch_size(BATCH).lock_tasks(false);
    let mut storage = SqliteStorage::<u64>::new(&pool).with_config(config);
    storage.push_stream(&mut stream::iter(0..jobs)).await?;
    sqlx::raw_sql("VACUUM; ANALYZE").execute(&pool).await?;
    let undone = || sqlx::query_scalar("SELECT count(*) FROM Jobs WHERE status <> 'Done'").fetch_one(&pool);
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    Ok(drain!(storage, done, left(done, jobs, undone()).await?))
}

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<(), Failure> {
    let arguments = Arguments::own();
    let jobs = arguments.get("jobs", 20_000)?;
    let (db, done) = (arguments.text("db")?, Done::default());
    let took = if db.starts_with("postgres") {
        on_postgres(db, jobs, &done).await?
    } else {
        on_sqlite(db, arguments.get("synchronous", "full".to_owned())? == "off", jobs, &done).await?
    };
    let done = done.lock().unwrap_or_else(PoisonError::into_inner);
    let distinct = done.iter().collect::<BTreeSet<_>>().len() as u64;
    if done.len() as u64 != jobs || distinct != jobs {
        return Err(format!("{jobs} jobs: {} were done, {distinct} of them different", done.len()).into());
    }
    println!("{{\"jobs\":{jobs},\"seconds\":{}}}", took.as_secs_f64());
    Ok(())
}
