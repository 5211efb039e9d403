//! The whole ledger in memory: for tests, and the oracle that other stores are compared with. It keeps nothing.

use std::sync::{Mutex, MutexGuard, PoisonError};

use paidonce_ledger::{
    ApiKey, Attempt, Audit, AuditKey, Case, CaseKey, Command, Digest, Entitlement, Event, EventKey, KeyName,
    Keys, Ledger, OrderId, Policy, Product, Reply, Sku, Task, TaskKey, Timestamp, Unit,
};

use crate::list::{
    AuditFilter, Bodies, CaseFilter, Counts, Due, EntitlementFilter, EventFilter, Listed, OldBodies,
    OrderFilter, Page, Stale, TaskFilter,
};
use crate::{Result, Store, StoreError, StoreErrorKind, whole};

/// A ledger behind a lock.
#[derive(Debug, Default)]
pub struct MemoryStore {
    ledger: Mutex<Ledger>,
    #[cfg(feature = "conformance")]
    breaks: std::sync::Arc<std::sync::atomic::AtomicBool>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// While this is true, commits fail after everything was decided, for the conformance suite.
    #[cfg(feature = "conformance")]
    #[must_use]
    pub fn breaks(&self) -> std::sync::Arc<std::sync::atomic::AtomicBool> {
        self.breaks.clone()
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        // A panic in a decision left the maps as `commit` found them: it works on a copy.
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn commit(&self, batch: &[Command], now: Timestamp, policy: &Policy) -> Result<Vec<Reply>> {
        let mut held = self.ledger();
        let mut ledger = held.clone();
        let replies: Vec<_> = batch.iter().map(|command| ledger.execute(command, now, policy)).collect();
        if replies.iter().any(|reply| matches!(reply, Reply::Need(_))) {
            return Err(StoreError::new(StoreErrorKind::Internal, "a whole ledger asked for more rows"));
        }
        ledger.take_changes();
        #[cfg(feature = "conformance")]
        if self.breaks.load(std::sync::atomic::Ordering::SeqCst) {
            return Err(StoreError::new(StoreErrorKind::Unavailable, "broken on purpose"));
        }
        *held = ledger;
        Ok(replies)
    }

    fn load(&self, _keys: &Keys) -> Result<Ledger> {
        self.snapshot()
    }

    fn snapshot(&self) -> Result<Ledger> {
        Ok(self.ledger().clone())
    }

    fn due(&self, what: &Due, now: Timestamp, limit: usize) -> Result<Vec<TaskKey>> {
        whole::due(&self.ledger(), what, now, limit)
    }

    fn stale(&self, stale: &Stale) -> Result<Keys> {
        whole::stale(&self.ledger(), stale)
    }

    fn old_bodies(&self, wanted: &Bodies) -> Result<OldBodies> {
        whole::old_bodies(&self.ledger(), wanted)
    }

    fn attempts(&self, task: &TaskKey) -> Result<Vec<(u64, Attempt)>> {
        whole::attempts(&self.ledger(), task)
    }

    fn task(&self, handle: &str) -> Result<Option<(TaskKey, Task)>> {
        whole::task(&self.ledger(), handle)
    }

    fn orders(&self, filter: &OrderFilter, wanted: &Page) -> Result<Listed<OrderId>> {
        whole::orders(&self.ledger(), filter, wanted)
    }

    fn events(&self, filter: &EventFilter, wanted: &Page) -> Result<Listed<(EventKey, Event)>> {
        whole::events(&self.ledger(), filter, wanted)
    }

    fn entitlements(
        &self,
        filter: &EntitlementFilter,
        wanted: &Page,
    ) -> Result<Listed<((OrderId, Unit), Entitlement)>> {
        whole::entitlements(&self.ledger(), filter, wanted)
    }

    fn cases(&self, filter: &CaseFilter, wanted: &Page) -> Result<Listed<(CaseKey, Case)>> {
        whole::cases(&self.ledger(), filter, wanted)
    }

    fn case(&self, handle: &str) -> Result<Option<(CaseKey, Case)>> {
        whole::case(&self.ledger(), handle)
    }

    fn audits(&self, filter: &AuditFilter, wanted: &Page) -> Result<Listed<(AuditKey, Audit)>> {
        whole::audits(&self.ledger(), filter, wanted)
    }

    fn tasks(&self, filter: &TaskFilter, wanted: &Page) -> Result<Listed<(TaskKey, Task)>> {
        whole::tasks(&self.ledger(), filter, wanted)
    }

    fn products(&self, page: &Page) -> Result<Listed<(Sku, Product)>> {
        whole::products(&self.ledger(), page)
    }

    fn api_keys(&self) -> Result<Vec<(KeyName, ApiKey)>> {
        whole::api_keys(&self.ledger())
    }

    fn api_key(&self, digest: &Digest) -> Result<Option<(KeyName, ApiKey)>> {
        whole::api_key(&self.ledger(), digest)
    }

    fn counts(&self) -> Result<Counts> {
        whole::counts(&self.ledger())
    }

    fn describe(&self) -> String {
        "memory (nothing is kept)".to_owned()
    }
}
