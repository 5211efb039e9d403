//! paidonce's side of the drain: the worker of grants as `serve` runs it, until every task of a store is done.
//!
//! `--store URL --tasks N`: how long that took. With `--one-by-one N`, orders are paid one after another on an idle
//! engine instead, and the time from each commit to the first attempt of its grant is told.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use paidonce::clock::SystemClock;
use paidonce_checks::arguments::Arguments;
use paidonce_checks::drain::{Drained, cpu_ms};
use paidonce_checks::preload::open_url;
use paidonce_checks::receipt::receipts;
use paidonce_checks::report::{Report, latencies};
use paidonce_engine::{Deliver, Delivered, Engine, Grants, Settings, WorkerSettings, work};
use paidonce_ledger::TaskKey;
use paidonce_store::Due;
use tokio::sync::mpsc;

type Failure = Box<dyn std::error::Error>;

async fn drain(engine: &Engine, arguments: &Arguments) -> Result<Drained, Failure> {
    let tasks: u64 = arguments.get("tasks", 20_000)?;
    let usual = WorkerSettings::grants();
    let settings = WorkerSettings { take: arguments.get("take", usual.take)?, ..usual };
    let (began, cpu) = (Instant::now(), cpu_ms());
    let worker = tokio::spawn(work(engine.clone(), Grants, settings, std::future::pending()));
    loop {
        let committed = engine.committed().notified();
        tokio::pin!(committed);
        committed.as_mut().enable();
        // Nothing else is committed here; whether each command was a grant is counted in the rows afterwards.
        if engine.stats().snapshot().commands >= tasks {
            break;
        }
        committed.await;
    }
    let seconds = began.elapsed().as_secs_f64();
    worker.abort();
    if arguments.has("verbose") {
        let (stats, cpu_us) = (engine.stats().snapshot(), (cpu_ms() - cpu) * 1_000 / tasks.max(1));
        let (to_a_commit, failures) = (stats.commands / stats.commits.max(1), stats.failures);
        #[allow(clippy::print_stderr)] // For people who tune.
        {
            eprintln!("{cpu_us} us of our CPU per task, {to_a_commit} to a commit, {failures} failed tries");
        }
    }
    Ok(Drained { jobs: tasks, seconds })
}

/// Grants, and tells when each attempt began.
struct Watched(mpsc::UnboundedSender<Instant>);

impl Deliver for Watched {
    fn due(&self) -> Due {
        Grants.due()
    }

    fn deliver<'a>(
        &'a self,
        engine: &'a Engine,
        tasks: Vec<TaskKey>,
    ) -> Pin<Box<dyn Future<Output = Delivered> + Send + 'a>> {
        let began = Instant::now();
        Box::pin(async move {
            let count = tasks.len();
            let delivered = Grants.deliver(engine, tasks).await;
            for _ in 0..count {
                // Nobody listens any more when the last one is counted.
                let _ = self.0.send(began);
            }
            delivered
        })
    }
}

async fn one_by_one(engine: &Engine, count: u64) -> Result<Report, Failure> {
    let (began, mut attempts) = mpsc::unbounded_channel();
    tokio::spawn(work(engine.clone(), Watched(began), WorkerSettings::grants(), std::future::pending()));
    let (start, mut latencies) = (Instant::now(), latencies());
    for command in receipts(0..count, count)? {
        // Idle: what the grant before set in motion is over.
        tokio::time::sleep(Duration::from_millis(5)).await;
        engine.submit(command).await?;
        let committed = Instant::now();
        let attempt = attempts.recv().await.ok_or("the worker ended")?;
        // One that began before the answer to the commit came through took no time.
        let took = attempt.saturating_duration_since(committed);
        latencies.saturating_record(u64::try_from(took.as_micros()).unwrap_or(u64::MAX).max(1));
    }
    Ok(Report::of(&latencies, 0, start.elapsed()))
}

async fn run(arguments: &Arguments) -> Result<String, Failure> {
    let url = arguments.text("store")?.to_owned();
    // Not on this thread: opening a store blocks.
    let store = std::thread::spawn(move || open_url(&url).map_err(|error| error.to_string()));
    let store = store.join().map_err(|_| "opening the store panicked")??;
    let usual = Settings::default();
    let settings = Settings { batch_max: arguments.get("batch", usual.batch_max)?, ..usual };
    let engine = Engine::start(store, Arc::new(SystemClock), Arc::default(), settings)?;
    let text = match arguments.get("one-by-one", 0)? {
        0 => serde_json::to_string(&drain(&engine, arguments).await?)?,
        count => serde_json::to_string(&one_by_one(&engine, count).await?)?,
    };
    engine.stop().await;
    Ok(text)
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::own();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let text = runtime.block_on(run(&arguments))?;
    #[allow(clippy::print_stdout)] // What the harness reads.
    {
        println!("{text}");
    }
    Ok(())
}
