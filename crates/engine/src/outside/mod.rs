//! Workers for what lies outside: messages to destinations, and questions to providers.
//!
//! A look starts a try for each due task, as many at once as the destination takes, and does not wait for their ends:
//! one that hangs holds one slot, never the others. What a try does is `attempt` and `lookup`.

mod attempt;
mod breaker;
mod failpoint;
mod lookup;
mod owner;
mod record;
mod stats;

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use paidonce_ledger::{Account, Claim, Claimed, Command, EffectName, Reply, TaskKey};
use paidonce_store::Due;
use tokio::sync::Semaphore;

use crate::destination::Destination;
use crate::engine::Engine;
use crate::lookup::Lookup;
use crate::worker::{Deliver, Delivered, WorkerSettings, work};

use breaker::Breaker;
use stats::Stats;

pub use breaker::{BreakerSettings, Circuit};
pub use owner::Owners;
pub use stats::OutsideStats;

/// How one destination is worked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutsideSettings {
    /// How long a claim holds. Nothing is renewed: a call is over before the lease is.
    pub lease: Duration,
    /// How long before the lease's end every call must be over.
    pub margin: Duration,
    /// Calls at once.
    pub concurrency: usize,
    /// How often an outcome is written before it is given up. The call is never repeated for it.
    pub writes_max: u32,
    /// When the destination is left in peace.
    pub breaker: BreakerSettings,
}

impl OutsideSettings {
    /// Of this lease, with a fifth of it as margin.
    #[must_use]
    pub fn of_lease(lease: Duration) -> Self {
        Self { lease, margin: lease / 5, concurrency: 8, writes_max: 8, breaker: BreakerSettings::default() }
    }
}

impl Default for OutsideSettings {
    fn default() -> Self {
        Self::of_lease(Duration::from_secs(30))
    }
}

/// Who carries the tasks out.
enum Carrier {
    Destination(Arc<dyn Destination>),
    Provider(Arc<dyn Lookup>),
}

/// What a try says about the destination's health.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Health {
    /// It answered.
    Answered,
    /// It did not, or said that it cannot.
    Failed,
    /// It was not asked.
    Unasked,
}

/// The worker of one destination, or of one provider's account.
pub struct Outside {
    due: Due,
    carrier: Carrier,
    settings: OutsideSettings,
    owners: Arc<Owners>,
    slots: Arc<Semaphore>,
    /// What this process tries now: a task stays due until its claim is committed.
    flying: Mutex<BTreeSet<TaskKey>>,
    breaker: Mutex<Breaker>,
    stats: Stats,
}

/// A panic of another try has left nothing half done here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Outside {
    /// For an effect that tells what happens.
    #[must_use]
    pub fn sends(
        effect: EffectName,
        destination: Arc<dyn Destination>,
        settings: OutsideSettings,
        owners: Arc<Owners>,
    ) -> Arc<Self> {
        Self::new(Due::Sends(effect), Carrier::Destination(destination), settings, owners)
    }

    /// For an effect that keeps a copy.
    #[must_use]
    pub fn syncs(
        effect: EffectName,
        destination: Arc<dyn Destination>,
        settings: OutsideSettings,
        owners: Arc<Owners>,
    ) -> Arc<Self> {
        Self::new(Due::Syncs(effect), Carrier::Destination(destination), settings, owners)
    }

    /// For the lookups at an account.
    #[must_use]
    pub fn lookups(
        account: Account,
        provider: Arc<dyn Lookup>,
        settings: OutsideSettings,
        owners: Arc<Owners>,
    ) -> Arc<Self> {
        Self::new(Due::Lookups(account), Carrier::Provider(provider), settings, owners)
    }

    fn new(due: Due, carrier: Carrier, settings: OutsideSettings, owners: Arc<Owners>) -> Arc<Self> {
        Arc::new(Self {
            due,
            carrier,
            settings,
            owners,
            slots: Arc::new(Semaphore::new(settings.concurrency.max(1))),
            flying: Mutex::default(),
            breaker: Mutex::new(Breaker::new(settings.breaker)),
            stats: Stats::default(),
        })
    }

    /// What it is called in metrics: the effect's name, or the account's.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.due {
            Due::Sends(effect) | Due::Syncs(effect) => effect.to_string(),
            Due::Lookups(account) => account.to_string(),
            Due::Grants => "grants".to_owned(),
        }
    }

    /// The counters now.
    #[must_use]
    pub fn stats(&self) -> OutsideStats {
        let circuit = if self.is_gone() { Circuit::Gone } else { lock(&self.breaker).circuit() };
        self.stats.snapshot(lock(&self.flying).len(), circuit)
    }

    fn is_gone(&self) -> bool {
        match &self.carrier {
            Carrier::Destination(destination) => destination.is_gone(),
            Carrier::Provider(_) => false,
        }
    }

    /// When a call that was claimed for at `begun` must be over.
    fn deadline(&self, begun: Instant) -> Instant {
        begun + self.settings.lease.saturating_sub(self.settings.margin)
    }

    /// The right to try; `None` where there is nothing to try, or the store cannot say.
    async fn claim(&self, engine: &Engine, task: &TaskKey) -> Option<Claimed> {
        let lease_ms = i64::try_from(self.settings.lease.as_millis()).unwrap_or(i64::MAX);
        let claim = Claim { task: task.clone(), owner: self.owners.next(), lease_ms };
        match engine.submit(Command::Claim(claim)).await {
            Ok(Reply::Claimed(claimed)) => {
                failpoint::at(failpoint::Point::Claimed);
                Some(claimed)
            }
            _ => None,
        }
    }
}

/// A try under way: it gives back its place, and says what it learned of the destination, even if it panics.
struct Flight {
    outside: Arc<Outside>,
    task: TaskKey,
    health: Health,
    engine: Engine,
}

impl Flight {
    async fn run(mut self) {
        self.health = match &self.outside.carrier {
            Carrier::Destination(to) => self.outside.send(&self.engine, &self.task, &**to).await,
            Carrier::Provider(provider) => self.outside.look_up(&self.engine, &self.task, &**provider).await,
        };
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        let mut breaker = lock(&self.outside.breaker);
        match self.health {
            Health::Answered => breaker.succeeded(),
            Health::Failed => breaker.failed(self.engine.clock().instant()),
            Health::Unasked => breaker.passed(),
        }
        lock(&self.outside.flying).remove(&self.task);
    }
}

impl Deliver for Arc<Outside> {
    fn due(&self) -> Due {
        self.due.clone()
    }

    fn deliver<'a>(
        &'a self,
        engine: &'a Engine,
        tasks: Vec<TaskKey>,
    ) -> Pin<Box<dyn Future<Output = Delivered> + Send + 'a>> {
        Box::pin(async move {
            let mut begun = Delivered::default();
            for task in tasks {
                if lock(&self.flying).contains(&task) {
                    continue;
                }
                let slot = self.slots.clone().acquire_owned().await;
                if self.is_gone() || !lock(&self.breaker).permits(engine.clock().instant()) {
                    begun.failed += 1;
                    break;
                }
                lock(&self.flying).insert(task.clone());
                let (outside, engine) = (self.clone(), engine.clone());
                let flight = Flight { outside, task, health: Health::Unasked, engine };
                tokio::spawn(async move {
                    flight.run().await;
                    drop(slot);
                });
                begun.settled += 1;
            }
            begun
        })
    }
}

/// Works until `stop` ends, then waits for the tries that are under way: each is over before its lease is.
pub async fn work_outside(
    engine: Engine,
    outside: Arc<Outside>,
    settings: WorkerSettings,
    stop: impl Future<Output = ()>,
) {
    work(engine, outside.clone(), settings, stop).await;
    let all = u32::try_from(outside.settings.concurrency.max(1)).unwrap_or(u32::MAX);
    // It is never closed.
    let _ = outside.slots.acquire_many(all).await;
}
