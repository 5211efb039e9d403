//! The naive side without HTTP: one transaction per admission, from threads that wait for it.
//!
//! `--connections one`: all threads share one connection behind a mutex, which is what SQLite likes best.
//! `--connections each`: each thread has its own, with BEGIN IMMEDIATE and a busy timeout.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use paidonce_bench::admission::{
    EVENT, INSERT_EVENT, INSERT_FACT, INSERT_PAYMENT, INSERT_TASK, Notification, ORDER, REFERENCE, REPEATED,
    SCHEMA, UPDATE_ORDER, now_ms,
};
use paidonce_bench::arguments::Arguments;
use paidonce_bench::report::{Report, latencies, microseconds};
use paidonce_workload::{ACCOUNT, SOURCE, body};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(30))?;
    connection.execute_batch(
        "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
         PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY;",
    )?;
    if !connection.table_exists(None, "event")? {
        connection.execute_batch(SCHEMA)?;
    }
    Ok(connection)
}

fn admit(connection: &mut Connection, notification: &Notification) -> rusqlite::Result<()> {
    let n = notification;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let now = now_ms();
    let run = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
        transaction.prepare_cached(sql)?.execute(values).map(|_| ())
    };
    let seen: Option<Vec<u8>> =
        transaction.prepare_cached(EVENT)?.query_row([ACCOUNT, &n.id], |row| row.get(0)).optional()?;
    if seen.is_some() {
        run(REPEATED, params![now, ACCOUNT, n.id])?;
        return transaction.commit();
    }
    let order: String =
        transaction.prepare_cached(REFERENCE)?.query_row([ACCOUNT, &n.intent], |row| row.get(0))?;
    let (covered, revision) = transaction.prepare_cached(ORDER)?.query_row([&order], |row| {
        let (total, unit, state): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok((n.covers(&total, &unit, &state), row.get::<_, i64>(3)? + 1))
    })?;
    run(INSERT_EVENT, params![ACCOUNT, n.id, SOURCE, n.kind, n.intent, n.digest, n.digest, n.body, now])?;
    run(INSERT_PAYMENT, params![ACCOUNT, n.intent, order, n.mentions, now])?;
    run(INSERT_FACT, params![ACCOUNT, n.intent, n.unit, n.amount.to_string()])?;
    run(UPDATE_ORDER, params![n.payments, revision, order])?;
    if covered {
        run(INSERT_TASK, params![order, now, revision])?;
    }
    transaction.commit()
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::own();
    let path = Path::new(arguments.text("db")?);
    let all = arguments.get("orders", 0)?;
    let threads: usize = arguments.get("in-flight", 64)?;
    let notifications: Vec<_> = (0..arguments.get("count", all)?)
        .map(|k| Notification::read(body(k, all).as_bytes()))
        .collect::<Result<_, _>>()?;
    let shared = Mutex::new(open(path)?);
    let own: Vec<_> = match arguments.text("connections")? {
        "each" => (0..threads).map(|_| open(path).map(Some)).collect::<Result<_, _>>()?,
        _ => (0..threads).map(|_| None).collect(),
    };
    let next = AtomicUsize::new(0);
    let began = Instant::now();
    let until = began + Duration::from_millis(arguments.get("ms", 2_000)?);
    let work = |mut own: Option<Connection>| {
        let (mut latencies, mut errors) = (latencies(), 0);
        loop {
            let began = Instant::now();
            let position = next.fetch_add(1, Ordering::Relaxed);
            let Some(notification) = notifications.get(position).filter(|_| began < until) else {
                return (latencies, errors);
            };
            let result = match &mut own {
                Some(connection) => admit(connection, notification),
                None => admit(&mut shared.lock().unwrap_or_else(PoisonError::into_inner), notification),
            };
            match result {
                Ok(()) => latencies.saturating_record(microseconds(began.elapsed())),
                Err(_) => errors += 1,
            }
        }
    };
    let (mut sum, mut errors) = (latencies(), 0);
    std::thread::scope(|scope| {
        let handles: Vec<_> = own.into_iter().map(|own| scope.spawn(|| work(own))).collect();
        for handle in handles {
            let (latencies, failed) = handle.join().map_err(|_| "a thread panicked")?;
            sum.add(latencies)?;
            errors += failed;
        }
        Ok::<_, Failure>(())
    })?;
    println!("{}", serde_json::to_string(&Report::of(&sum, errors, began.elapsed()))?);
    Ok(())
}
