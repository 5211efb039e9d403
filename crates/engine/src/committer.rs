//! Group commit: commands that wait while a commit is in flight go into the next one together.
//!
//! No timer and no delay: with one command in flight it is a plain commit, and batches form by themselves while
//! the previous fsync runs. A batch that keeps failing is halved, so that one command never decides the fate of
//! another.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use paidonce_ledger::{Command, Policy, Reply};
use paidonce_store::{Store, StoreError, StoreErrorKind};
use tokio::sync::{mpsc, oneshot};

use crate::clock::Clock;
use crate::stats::Stats;

/// How the committer works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Commands that may wait, over all lanes; one more is refused.
    pub queue_max: usize,
    /// Commands in one commit. (Beyond about 128 the tail latency grows and the throughput does not.)
    pub batch_max: usize,
    /// How often a batch is tried while the store says that it may succeed.
    pub tries_max: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { queue_max: 4096, batch_max: 128, tries_max: 8 }
    }
}

/// Why a command has no reply.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SubmitError {
    /// The queue is full: come back later.
    #[error("too many commands are waiting: try again in a moment")]
    Full,
    /// The engine is stopping.
    #[error("the server is stopping")]
    Stopped,
    /// The store failed; nothing of this command was committed, or it is safe to send it again.
    #[error("{0}")]
    Store(Arc<StoreError>),
}

pub(crate) struct Job {
    pub(crate) command: Command,
    pub(crate) answer: oneshot::Sender<Result<Reply, SubmitError>>,
}

/// What commits batches; runs on a thread of its own, because stores block.
pub(crate) struct Committer {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) policy: Arc<Policy>,
    pub(crate) settings: Settings,
    pub(crate) stats: Arc<Stats>,
    pub(crate) runtime: tokio::runtime::Handle,
    pub(crate) committed: Arc<tokio::sync::Notify>,
}

impl Committer {
    /// Runs until every sender is gone and the queue is empty.
    pub(crate) fn run(&self, mut queue: mpsc::Receiver<Job>) {
        let mut jobs = Vec::with_capacity(self.settings.batch_max);
        let alone = |job: &Job| self.store.alone(&job.command);
        // One that was taken and did not fit into the batch before it.
        let mut next = None;
        while let Some(job) = next.take().or_else(|| queue.blocking_recv()) {
            let single = alone(&job);
            jobs.push(job);
            while !single && next.is_none() && jobs.len() < self.settings.batch_max {
                match queue.try_recv() {
                    Ok(job) if alone(&job) => next = Some(job),
                    Ok(job) => jobs.push(job),
                    Err(_) => break,
                }
            }
            self.commit(&mut jobs);
        }
    }

    fn commit(&self, jobs: &mut Vec<Job>) {
        let (commands, answers): (Vec<_>, Vec<_>) =
            jobs.drain(..).map(|job| (job.command, job.answer)).unzip();
        let results = self.commit_or_halve(&commands);
        if results.iter().any(Result::is_ok) {
            self.committed.notify_waiters();
        }
        for (answer, result) in answers.into_iter().zip(results) {
            // Whoever asked may be gone; what they asked for is committed all the same.
            let _ = answer.send(result);
        }
    }

    /// One result per command. A batch that cannot be committed is halved until the command that is to blame
    /// stands alone.
    pub(crate) fn commit_or_halve(&self, batch: &[Command]) -> Vec<Result<Reply, SubmitError>> {
        match self.try_commit(batch) {
            Ok(replies) => replies.into_iter().map(Ok).collect(),
            Err(error) if batch.len() == 1 || hopeless(&error) => {
                let error = Arc::new(error);
                batch.iter().map(|_| Err(SubmitError::Store(error.clone()))).collect()
            }
            Err(_) => {
                let (one, two) = batch.split_at(batch.len() / 2);
                let mut results = self.commit_or_halve(one);
                results.extend(self.commit_or_halve(two));
                results
            }
        }
    }

    fn try_commit(&self, batch: &[Command]) -> Result<Vec<Reply>, StoreError> {
        let mut tried = 0;
        loop {
            let result = self.commit_once(batch);
            tried += 1;
            match result {
                Ok(replies) => {
                    Stats::add(&self.stats.commits, 1);
                    Stats::add(&self.stats.commands, batch.len());
                    return Ok(replies);
                }
                Err(error) => {
                    Stats::add(&self.stats.failures, 1);
                    if !error.retryable() || tried >= self.settings.tries_max || smaller(&error, batch) {
                        return Err(error);
                    }
                    // Made inside: a real clock's sleep asks which runtime it is in.
                    self.runtime.block_on(async { self.clock.sleep(backoff(tried)).await });
                }
            }
        }
    }

    /// A decision that panics is a bug of ours, and must not take its neighbours or the server with it.
    fn commit_once(&self, batch: &[Command]) -> Result<Vec<Reply>, StoreError> {
        let commit = || self.store.commit(batch, self.clock.now(), &self.policy);
        let replies = catch_unwind(AssertUnwindSafe(commit)).unwrap_or_else(|_| {
            Err(StoreError::new(
                StoreErrorKind::Internal,
                "a decision panicked: this is a bug, please report it",
            ))
        })?;
        if replies.len() == batch.len() {
            return Ok(replies);
        }
        Err(StoreError::new(StoreErrorKind::Internal, "the store did not answer every command"))
    }
}

/// Whether smaller batches fare better: the store has tried the whole batch again and again already.
fn smaller(error: &StoreError, batch: &[Command]) -> bool {
    error.kind() == StoreErrorKind::Conflict && batch.len() > 1
}

/// Failures that halving cannot help: they are the store's, not a command's.
fn hopeless(error: &StoreError) -> bool {
    matches!(
        error.kind(),
        StoreErrorKind::Full | StoreErrorKind::Unavailable | StoreErrorKind::Corrupt | StoreErrorKind::Busy
    )
}

/// 5 ms, doubled at each try, at most 200 ms. (Stores whose lanes contend spread their own tries; what is
/// left to jitter against is other processes, whose fsyncs are jitter enough.)
fn backoff(tried: u32) -> Duration {
    Duration::from_millis((5_u64 << tried.min(6)).min(200))
}
