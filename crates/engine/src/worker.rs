//! Workers: they find due tasks by asking the store. A hint wakes them early; losing it costs a delay, no task.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use paidonce_ledger::{Command, GrantFailed, Reply, TaskKey};
use paidonce_store::{Due, StoreErrorKind};
use tokio::task::JoinSet;

use crate::committer::SubmitError;
use crate::engine::Engine;

/// Characters of what a merchant's database said that are kept with a try.
const DETAIL_MAX: usize = 500;

/// How one kind of work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerSettings {
    /// How long to wait between looks when no hint comes.
    pub poll: Duration,
    /// How many tasks to take at a look.
    pub take: usize,
}

impl WorkerSettings {
    /// For grants, which go into commits of many: a look is a pause for the committers, so it brings several commits' worth,
    /// and no more, because what is received meanwhile waits behind them.
    #[must_use]
    pub fn grants() -> Self {
        Self { take: 512, ..Self::default() }
    }
}

impl Default for WorkerSettings {
    fn default() -> Self {
        Self { poll: Duration::from_secs(1), take: 128 }
    }
}

/// What came of a look's tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Delivered {
    /// Tasks that are not due any more: at their end, or put off.
    pub settled: usize,
    /// Tasks that stay due.
    pub failed: usize,
}

/// Carries out the tasks of one kind. What lies outside (calls, mail, brokers) implements it in the program.
pub trait Deliver: Send + Sync {
    /// The tasks that it carries out.
    fn due(&self) -> Due;

    /// Tries these tasks and reports what came of them. Their outcome is in the store, not in the answer.
    fn deliver<'a>(
        &'a self,
        engine: &'a Engine,
        tasks: Vec<TaskKey>,
    ) -> Pin<Box<dyn Future<Output = Delivered> + Send + 'a>>;
}

/// Grants: they need nothing outside, so a task is one command, and many tasks are one commit. Where the merchant's own
/// statements run with each, one that they refuse is put off, and is in nobody's way.
pub struct Grants;

/// Whether the task is not due any more.
async fn grant(engine: &Engine, task: TaskKey) -> bool {
    match engine.submit(Command::Grant(task.clone())).await {
        Ok(Reply::Granted(_)) => true,
        Err(SubmitError::Store(error)) if error.kind() == StoreErrorKind::Merchant => {
            let detail: String = error.to_string().chars().take(DETAIL_MAX).collect();
            put_off(engine, task, detail).await
        }
        _ => false,
    }
}

async fn put_off(engine: &Engine, task: TaskKey, detail: String) -> bool {
    let handle = task.handle();
    let Ok(Some((_, row))) = engine.query(move |store| store.task(&handle)).await else { return false };
    let failed = GrantFailed { task, version: row.version, detail: detail.into() };
    matches!(engine.submit(Command::GrantFailed(failed)).await, Ok(Reply::Settled(_)))
}

impl Deliver for Grants {
    fn due(&self) -> Due {
        Due::Grants
    }

    fn deliver<'a>(
        &'a self,
        engine: &'a Engine,
        tasks: Vec<TaskKey>,
    ) -> Pin<Box<dyn Future<Output = Delivered> + Send + 'a>> {
        Box::pin(async move {
            let mut grants = JoinSet::new();
            for task in tasks {
                let engine = engine.clone();
                grants.spawn(async move { grant(&engine, task).await });
            }
            let mut delivered = Delivered::default();
            while let Some(put) = grants.join_next().await {
                match put {
                    Ok(true) => delivered.settled += 1,
                    _ => delivered.failed += 1,
                }
            }
            delivered
        })
    }
}

/// Works until `stop` ends, then finishes the look it is in.
pub async fn work(
    engine: Engine,
    deliver: impl Deliver,
    settings: WorkerSettings,
    stop: impl Future<Output = ()>,
) {
    tokio::pin!(stop);
    loop {
        // Registered before looking, so that a commit between the look and the wait is not missed.
        let hint = engine.committed().notified();
        tokio::pin!(hint);
        hint.as_mut().enable();
        let (what, now, take) = (deliver.due(), engine.now(), settings.take);
        let due = engine.query(move |store| store.due(&what, now, take)).await.unwrap_or_default();
        let full = due.len() == settings.take;
        let delivered =
            if due.is_empty() { Delivered::default() } else { deliver.deliver(&engine, due).await };
        // A full look that got somewhere goes on at once; one that got nowhere must not spin.
        let wait = !(full && delivered.settled > 0);
        let rest = async {
            if !wait {
                return;
            }
            let poll = engine.clock().sleep(settings.poll);
            if delivered.failed > 0 {
                return poll.await;
            }
            tokio::select! {
                () = hint => {}
                () = poll => {}
            }
        };
        tokio::select! {
            () = &mut stop => return,
            () = rest => {}
        }
    }
}
