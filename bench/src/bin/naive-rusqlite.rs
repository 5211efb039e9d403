//! The naive side without HTTP: one transaction per admission, from threads that wait for it.
//!
//! `--connections one`: all threads share one connection behind a mutex, which is what SQLite likes best.
//! `--connections each`: each thread has its own, with BEGIN IMMEDIATE and a busy timeout.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use paidonce_bench::admission::{Notification, handle, now_ms};
use paidonce_bench::arguments::Arguments;
use paidonce_bench::report::{Report, latencies, microseconds};
use paidonce_workload::statement::{SQLITE, Statements};
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
    Ok(connection)
}

fn admit(connection: &mut Connection, notification: &Notification) -> rusqlite::Result<()> {
    let n = notification;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let now = now_ms();
    let run = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
        transaction.prepare_cached(sql)?.execute(values).map(|_| ())
    };
    let Statements { event, order, repeated, .. } = SQLITE;
    let seen: Option<Vec<u8>> = match event {
        Some(sql) => {
            transaction.prepare_cached(sql)?.query_row([ACCOUNT, &n.id], |row| row.get(0)).optional()?
        }
        None => None,
    };
    if seen.is_some() {
        run(repeated, params![now, ACCOUNT, n.id])?;
        return transaction.commit();
    }
    let found = |row: &rusqlite::Row<'_>| {
        let (total, unit, state): (String, String, String) = (row.get(1)?, row.get(2)?, row.get(3)?);
        Ok((row.get::<_, String>(0)?, n.covers(&total, &unit, &state), row.get::<_, i64>(4)? + 1))
    };
    let (order, covered, revision) =
        transaction.prepare_cached(order)?.query_row([ACCOUNT, &n.intent], found)?;
    let event = params![ACCOUNT, n.id, SOURCE, n.kind, n.intent, n.digest, n.digest, n.body, now, now];
    run(SQLITE.insert_event, event)?;
    run(SQLITE.insert_payment, params![ACCOUNT, n.intent, order, n.mentions, now])?;
    run(SQLITE.insert_fact, params![ACCOUNT, n.intent, n.intent, n.unit, n.amount.to_string()])?;
    run(SQLITE.update_order, params![n.payments, revision, order])?;
    if covered {
        run(SQLITE.insert_task, params![order, handle(&order), now, now, revision])?;
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
