//! The engine: where commands are submitted and stores are asked.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use paidonce_ledger::{Command, Policy, Reply, Timestamp};
use paidonce_store::{Result as StoreResult, Store, StoreError, StoreErrorKind};
use tokio::sync::{Notify, mpsc, oneshot};

use crate::clock::Clock;
use crate::committer::{Committer, Job, Settings, SubmitError};
use crate::lane::lane_of;
use crate::stats::Stats;

/// A store with its committers, one for each of its lanes. Cheap to clone; the last clone to go does not stop it, [`Engine::stop`] does.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

struct Shared {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    policy: Arc<Policy>,
    stats: Arc<Stats>,
    committed: Arc<Notify>,
    /// One for each lane; none when the engine has stopped.
    queues: Mutex<Vec<mpsc::Sender<Job>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Engine {
    /// Starts the committers' threads. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// The operating system gives no thread.
    pub fn start(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        policy: Arc<Policy>,
        settings: Settings,
    ) -> std::io::Result<Self> {
        let (stats, committed) = (Arc::new(Stats::default()), Arc::new(Notify::new()));
        let lanes = store.lanes().max(1);
        let hint = committed.clone();
        store.on_work(Arc::new(move || hint.notify_waiters()));
        let settings = Settings { queue_max: settings.queue_max.div_ceil(lanes), ..settings };
        let (mut queues, mut threads) = (Vec::new(), Vec::new());
        for lane in 0..lanes {
            let (sender, receiver) = mpsc::channel(settings.queue_max);
            let committer = Committer {
                store: store.clone(),
                clock: clock.clone(),
                policy: policy.clone(),
                settings,
                stats: stats.clone(),
                runtime: tokio::runtime::Handle::current(),
                committed: committed.clone(),
            };
            let thread = std::thread::Builder::new().name(format!("committer {lane}"));
            threads.push(thread.spawn(move || committer.run(receiver))?);
            queues.push(sender);
        }
        let (queues, threads) = (Mutex::new(queues), Mutex::new(threads));
        Ok(Self { shared: Arc::new(Shared { store, clock, policy, stats, committed, queues, threads }) })
    }

    /// Commits one command, together with whatever else is waiting, and answers after the commit.
    ///
    /// Dropping the future does not take the command back: it may be committed all the same.
    ///
    /// # Errors
    /// [`SubmitError`]; a business refusal is a reply, not an error.
    pub async fn submit(&self, command: Command) -> Result<Reply, SubmitError> {
        let queue = {
            let queues = self.shared.queues.lock().unwrap_or_else(PoisonError::into_inner);
            queues.get(lane_of(&command, queues.len())).cloned().ok_or(SubmitError::Stopped)?
        };
        let (answer, answered) = oneshot::channel();
        queue.try_send(Job { command, answer }).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => {
                Stats::add(&self.shared.stats.refused_full, 1);
                SubmitError::Full
            }
            mpsc::error::TrySendError::Closed(_) => SubmitError::Stopped,
        })?;
        drop(queue);
        answered.await.unwrap_or(Err(SubmitError::Stopped))
    }

    /// Asks the store something, on a thread that may wait.
    ///
    /// # Errors
    /// Whatever the store answers.
    pub async fn query<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&dyn Store) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        let store = self.shared.store.clone();
        tokio::task::spawn_blocking(move || ask(&*store)).await.unwrap_or_else(|error| {
            Err(StoreError::new(StoreErrorKind::Internal, "a query did not finish").caused_by(error))
        })
    }

    /// The present moment, by the engine's clock.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    /// The engine's clock.
    #[must_use]
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.shared.clock
    }

    /// The merchant's policy.
    #[must_use]
    pub fn policy(&self) -> &Arc<Policy> {
        &self.shared.policy
    }

    /// The committers' counters.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        &self.shared.stats
    }

    /// Commands that may still be queued, over all lanes. (One may be refused earlier, when its own lane is full.)
    #[must_use]
    pub fn queue_room(&self) -> usize {
        let queues = self.shared.queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues.iter().map(mpsc::Sender::capacity).sum()
    }

    /// Woken after each commit. A hint: whoever waits for work polls as well.
    #[must_use]
    pub fn committed(&self) -> &Notify {
        &self.shared.committed
    }

    /// Refuses new commands, finishes those that wait, and ends the committers' threads.
    pub async fn stop(&self) {
        let queues = std::mem::take(&mut *self.shared.queues.lock().unwrap_or_else(PoisonError::into_inner));
        drop(queues);
        let threads =
            std::mem::take(&mut *self.shared.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            // A committer never panics out of its loop; if it did, there is nothing left to stop.
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }
}
