//! The engine's side: durable admissions through `Engine::submit`, in a closed loop. `--db` is a SQLite file, `--store`
//! any store's address.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use paidonce::clock::SystemClock;
use paidonce_checks::arguments::Arguments;
use paidonce_checks::drain::cpu_ms;
use paidonce_checks::preload::open_url;
use paidonce_checks::receipt::receipts;
use paidonce_checks::report::{Report, latencies};
use paidonce_engine::{Engine, Settings};
use paidonce_ledger::{Command, Received, Reply};

type Failure = Box<dyn std::error::Error>;

/// Submits what is left until the time is up. Answers its latencies and errors.
async fn submit(
    engine: Engine,
    queue: Arc<Mutex<std::vec::IntoIter<Command>>>,
    until: Instant,
) -> (hdrhistogram::Histogram<u64>, u64) {
    let (mut latencies, mut errors) = (latencies(), 0);
    loop {
        let began = Instant::now();
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let Some(command) = next.filter(|_| began < until) else { return (latencies, errors) };
        let reply = engine.submit(command).await;
        let accepted = |replies: &[paidonce_ledger::EventReply]| {
            replies.iter().all(|reply| reply.received == Received::Accepted)
        };
        match reply {
            Ok(Reply::Received(replies)) if accepted(&replies) => {
                latencies.saturating_record(u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX));
            }
            _ => errors += 1,
        }
    }
}

async fn run(arguments: &Arguments) -> Result<Report, Failure> {
    let all = arguments.get("orders", 0)?;
    let in_flight: u64 = arguments.get("in-flight", 64)?;
    let from = arguments.get("from", 0)?;
    let commands = receipts(from..from + arguments.get("count", all)?, all)?;
    let queue = Arc::new(Mutex::new(commands.into_iter()));
    let url = match arguments.text("store") {
        Ok(url) => url.to_owned(),
        Err(_) => format!("sqlite:{}", arguments.text("db")?),
    };
    // Not on this thread: opening a store blocks.
    let store = std::thread::spawn(move || open_url(&url).map_err(|error| error.to_string()));
    let store = store.join().map_err(|_| "opening the store panicked")??;
    let settings = Settings { batch_max: arguments.get("batch", 128)?, ..Settings::default() };
    let engine = Engine::start(store, Arc::new(SystemClock), Arc::default(), settings)?;
    let (began, cpu) = (Instant::now(), cpu_ms());
    let until = began + Duration::from_millis(arguments.get("ms", 2_000)?);
    let tasks: Vec<_> =
        (0..in_flight).map(|_| tokio::spawn(submit(engine.clone(), queue.clone(), until))).collect();
    let (mut all, mut errors) = (latencies(), 0);
    for task in tasks {
        let (latencies, failed) = task.await?;
        all.add(latencies)?;
        errors += failed;
    }
    let report = Report::of(&all, errors, began.elapsed());
    engine.stop().await;
    if arguments.has("verbose") {
        let stats = engine.stats().snapshot();
        let cpu_us = (cpu_ms() - cpu) * 1_000 / report.acknowledged.max(1);
        #[allow(clippy::print_stderr)] // For people who tune.
        {
            eprintln!(
                "{cpu_us} us of CPU per admission, {} to a commit",
                stats.commands / stats.commits.max(1)
            );
        }
    }
    Ok(report)
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::own();
    let runtime = match arguments.get("threads", 0)? {
        0 => tokio::runtime::Builder::new_current_thread().enable_all().build()?,
        n => tokio::runtime::Builder::new_multi_thread().worker_threads(n).enable_all().build()?,
    };
    let report = runtime.block_on(run(&arguments))?;
    #[allow(clippy::print_stdout)] // What the harness reads.
    {
        println!("{}", serde_json::to_string(&report)?);
    }
    Ok(())
}
