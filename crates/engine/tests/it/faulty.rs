//! A memory store with faults in front of it, a clock that is moved by nobody, and short ways to set both up.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use paidonce_engine::{Clock, Engine, Settings, Sleep};
use paidonce_ledger::{
    ApiKey, Attempt, Audit, AuditKey, Case, CaseKey, Command, Digest, Entitlement, Event, EventKey, KeyName,
    Keys, Ledger, OrderId, Policy, Product, Reply, Sku, Task, TaskKey, Timestamp, Unit,
};
use paidonce_store::{
    AuditFilter, Bodies, CaseFilter, Counts, Due, EntitlementFilter, EventFilter, Listed, MemoryStore,
    OldBodies, OrderFilter, Page, Result, Stale, Store, StoreError, StoreErrorKind, TaskFilter,
};
use tokio::sync::Semaphore;

/// What a batch is asked before it reaches the store.
type Fault = dyn Fn(&[Command]) -> Result<()> + Send + Sync;

#[derive(Default)]
pub(crate) struct Faulty {
    inner: MemoryStore,
    fault: Mutex<Option<Arc<Fault>>>,
    /// The sizes of the batches that were committed.
    pub(crate) batches: Mutex<Vec<usize>>,
    pub(crate) tries: AtomicUsize,
    /// What [`Store::lanes`] answers; one if it is zero.
    lanes: usize,
}

impl Faulty {
    pub(crate) fn with(fault: impl Fn(&[Command]) -> Result<()> + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { fault: Mutex::new(Some(Arc::new(fault))), ..Self::default() })
    }

    pub(crate) fn with_lanes(
        lanes: usize,
        fault: impl Fn(&[Command]) -> Result<()> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { lanes, fault: Mutex::new(Some(Arc::new(fault))), ..Self::default() })
    }

    pub(crate) fn mend(&self) {
        *self.fault.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = None;
    }
}

pub(crate) fn broken(kind: StoreErrorKind) -> StoreError {
    StoreError::new(kind, "broken on purpose")
}

/// Sleeps end at once; what is waited for are events, never time.
pub(crate) struct NoTime;

impl Clock for NoTime {
    fn now(&self) -> Timestamp {
        Timestamp(1_000)
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        // As the real clock does: it panics where no runtime is.
        let _ = tokio::runtime::Handle::current();
        // Polls of a minute or more never end: a test that passes was woken by a hint.
        let polls = duration >= Duration::from_secs(60);
        Box::pin(async move {
            if polls {
                std::future::pending::<()>().await;
            }
            tokio::task::yield_now().await;
        })
    }
}

pub(crate) fn engine(store: Arc<dyn Store>, settings: Settings) -> Engine {
    Engine::start(store, Arc::new(NoTime), Arc::new(Policy::default()), settings).unwrap()
}

/// Holds the committer inside its first commit until a permit is added.
pub(crate) fn gate() -> (Arc<Semaphore>, impl Fn(&[Command]) -> Result<()> + Send + Sync + 'static) {
    let gate = Arc::new(Semaphore::new(0));
    let (waits, first) = (gate.clone(), AtomicUsize::new(0));
    let fault = move |_: &[Command]| {
        if first.fetch_add(1, SeqCst) == 0 {
            while waits.try_acquire().is_err() {
                std::thread::yield_now();
            }
        }
        Ok(())
    };
    (gate, fault)
}

impl Store for Faulty {
    fn commit(&self, batch: &[Command], now: Timestamp, policy: &Policy) -> Result<Vec<Reply>> {
        self.tries.fetch_add(1, SeqCst);
        // Not asked under the lock: a lane that is held must not hold the others.
        let fault = self.fault.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        if let Some(fault) = fault {
            fault(batch)?;
        }
        let replies = self.inner.commit(batch, now, policy)?;
        self.batches.lock().unwrap().push(batch.len());
        Ok(replies)
    }

    fn alone(&self, command: &Command) -> bool {
        matches!(command, Command::CancelOrder(_))
    }

    fn lanes(&self) -> usize {
        self.lanes.max(1)
    }

    fn load(&self, keys: &Keys) -> Result<Ledger> {
        self.inner.load(keys)
    }

    fn snapshot(&self) -> Result<Ledger> {
        self.inner.snapshot()
    }

    fn due(&self, what: &Due, now: Timestamp, limit: usize) -> Result<Vec<TaskKey>> {
        self.inner.due(what, now, limit)
    }

    fn stale(&self, stale: &Stale) -> Result<Keys> {
        self.inner.stale(stale)
    }

    fn old_bodies(&self, wanted: &Bodies) -> Result<OldBodies> {
        self.inner.old_bodies(wanted)
    }

    fn attempts(&self, task: &TaskKey) -> Result<Vec<(u64, Attempt)>> {
        self.inner.attempts(task)
    }

    fn task(&self, handle: &str) -> Result<Option<(TaskKey, Task)>> {
        self.inner.task(handle)
    }

    fn orders(&self, filter: &OrderFilter, page: &Page) -> Result<Listed<OrderId>> {
        self.inner.orders(filter, page)
    }

    fn events(&self, filter: &EventFilter, page: &Page) -> Result<Listed<(EventKey, Event)>> {
        self.inner.events(filter, page)
    }

    fn entitlements(
        &self,
        filter: &EntitlementFilter,
        page: &Page,
    ) -> Result<Listed<((OrderId, Unit), Entitlement)>> {
        self.inner.entitlements(filter, page)
    }

    fn cases(&self, filter: &CaseFilter, page: &Page) -> Result<Listed<(CaseKey, Case)>> {
        self.inner.cases(filter, page)
    }

    fn case(&self, handle: &str) -> Result<Option<(CaseKey, Case)>> {
        self.inner.case(handle)
    }

    fn audits(&self, filter: &AuditFilter, page: &Page) -> Result<Listed<(AuditKey, Audit)>> {
        self.inner.audits(filter, page)
    }

    fn tasks(&self, filter: &TaskFilter, page: &Page) -> Result<Listed<(TaskKey, Task)>> {
        self.inner.tasks(filter, page)
    }

    fn products(&self, page: &Page) -> Result<Listed<(Sku, Product)>> {
        self.inner.products(page)
    }

    fn api_keys(&self) -> Result<Vec<(KeyName, ApiKey)>> {
        self.inner.api_keys()
    }

    fn api_key(&self, digest: &Digest) -> Result<Option<(KeyName, ApiKey)>> {
        self.inner.api_key(digest)
    }

    fn counts(&self) -> Result<Counts> {
        self.inner.counts()
    }

    fn describe(&self) -> String {
        self.inner.describe()
    }
}
