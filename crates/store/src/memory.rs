//! The whole ledger in memory: for tests, and the oracle that other stores are compared with. It keeps nothing.

use std::sync::{Mutex, MutexGuard, PoisonError};

use paidonce_ledger::{
    ApiKey, Audit, AuditKey, Case, CaseKey, Command, Digest, Entitlement, Event, EventKey, KeyName, Keys,
    Ledger, Order, OrderId, Policy, Reply, Task, TaskKey, TaskKind, TaskState, Timestamp, Unit,
};

use crate::list::{
    AuditFilter, CaseFilter, Counts, Cursor, EntitlementFilter, EventFilter, Listed, OrderFilter, Page,
    TaskFilter, cut,
};
use crate::{Result, Store, StoreError, StoreErrorKind};

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

/// Newest first, after the page's cursor, one more than the page holds.
fn page<T>(rows: impl Iterator<Item = (Cursor, T)>, page: &Page) -> Result<Listed<T>> {
    let after = page.after.as_deref().map(Cursor::parse).transpose()?;
    let mut rows: Vec<_> =
        rows.filter(|(cursor, _)| after.as_ref().is_none_or(|after| cursor < after)).collect();
    rows.sort_by(|(a, _), (b, _)| b.cmp(a));
    rows.truncate(page.limit() + 1);
    Ok(cut(rows, page))
}

fn cursor(at: Timestamp, key: impl ToString) -> Cursor {
    Cursor { at, key: key.to_string() }
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

    fn due(&self, kind: TaskKind, now: Timestamp, limit: usize) -> Result<Vec<TaskKey>> {
        let ledger = self.ledger();
        let mut due: Vec<_> = ledger
            .tasks
            .rows()
            .iter()
            .filter(|(key, task)| key.kind == kind && task.state == TaskState::Pending && task.due_at <= now)
            .map(|(key, task)| (task.due_at, key.clone()))
            .collect();
        due.sort();
        Ok(due.into_iter().take(limit).map(|(_, key)| key).collect())
    }

    fn orders(&self, filter: &OrderFilter, wanted: &Page) -> Result<Listed<OrderId>> {
        let ledger = self.ledger();
        let matches = |order: &Order| filter.customer.is_none() || order.customer == filter.customer;
        let rows = ledger.orders.rows().iter().filter(|(_, order)| matches(order));
        page(rows.map(|(id, order)| (cursor(order.placed_at, id), id.clone())), wanted)
    }

    fn events(&self, filter: &EventFilter, wanted: &Page) -> Result<Listed<(EventKey, Event)>> {
        let ledger = self.ledger();
        let matches = |key: &EventKey, event: &Event| {
            filter.source.as_ref().is_none_or(|source| *source == event.source)
                && filter.outcome.as_ref().is_none_or(|outcome| outcome == event.outcome.as_str())
                && filter.id.as_ref().is_none_or(|id| *id == key.id)
                && filter.payment.as_ref().is_none_or(|payment| {
                    payment.account == key.account && event.payment.as_ref() == Some(&payment.id)
                })
        };
        let rows = ledger.events.rows().iter().filter(|(key, event)| matches(key, event));
        let row = |(key, event): (&EventKey, &Event)| {
            (cursor(event.received_at, key), (key.clone(), event.clone()))
        };
        page(rows.map(row), wanted)
    }

    fn entitlements(
        &self,
        filter: &EntitlementFilter,
        wanted: &Page,
    ) -> Result<Listed<((OrderId, Unit), Entitlement)>> {
        let ledger = self.ledger();
        let matches = |order: &OrderId, row: &Entitlement| {
            filter.order.as_ref().is_none_or(|wanted| wanted == order)
                && (filter.customer.is_none() || filter.customer == row.customer)
                && filter.sku.as_ref().is_none_or(|sku| row.lines.iter().any(|line| line.sku == *sku))
                && (!filter.active || row.revoked_at.is_none())
        };
        let rows = ledger.entitlements.rows().iter().filter(|((order, _), row)| matches(order, row));
        let row = |((order, unit), row): (&(OrderId, Unit), &Entitlement)| {
            (cursor(row.granted_at, format!("{order} {unit}")), ((order.clone(), *unit), row.clone()))
        };
        page(rows.map(row), wanted)
    }

    fn cases(&self, filter: &CaseFilter, wanted: &Page) -> Result<Listed<(CaseKey, Case)>> {
        let ledger = self.ledger();
        let matches = |case: &Case| {
            (!filter.open || case.resolution.is_none())
                && (filter.order.is_none() || filter.order == case.order)
        };
        let rows = ledger.cases.rows().iter().filter(|(_, case)| matches(case));
        let row = |(key, case): (&CaseKey, &Case)| {
            (cursor(case.opened_at, key.handle()), (key.clone(), case.clone()))
        };
        page(rows.map(row), wanted)
    }

    fn case(&self, handle: &str) -> Result<Option<(CaseKey, Case)>> {
        let ledger = self.ledger();
        let found = ledger.cases.rows().iter().find(|(key, _)| key.handle() == handle);
        Ok(found.map(|(key, case)| (key.clone(), case.clone())))
    }

    fn audits(&self, filter: &AuditFilter, wanted: &Page) -> Result<Listed<(AuditKey, Audit)>> {
        let ledger = self.ledger();
        let matches = |audit: &Audit| {
            (filter.order.is_none() || filter.order == audit.order)
                && filter.by.as_ref().is_none_or(|by| **by == *audit.by)
        };
        let rows = ledger.audits.rows().iter().filter(|(_, audit)| matches(audit));
        let row =
            |(key, audit): (&AuditKey, &Audit)| (cursor(key.at, &key.command), (key.clone(), audit.clone()));
        page(rows.map(row), wanted)
    }

    fn tasks(&self, filter: &TaskFilter, wanted: &Page) -> Result<Listed<(TaskKey, Task)>> {
        let ledger = self.ledger();
        let matches = |key: &TaskKey, task: &Task| {
            filter.order.as_ref().is_none_or(|order| *order == key.order)
                && filter.state.is_none_or(|state| state == task.state)
        };
        let rows = ledger.tasks.rows().iter().filter(|(key, task)| matches(key, task));
        let row = |(key, task): (&TaskKey, &Task)| {
            let text = format!("{} {} {}", key.order, key.unit, key.kind.as_str());
            (cursor(task.created_at, text), (key.clone(), task.clone()))
        };
        page(rows.map(row), wanted)
    }

    fn api_keys(&self) -> Result<Vec<(KeyName, ApiKey)>> {
        let ledger = self.ledger();
        Ok(ledger.api_keys.rows().iter().map(|(name, key)| (name.clone(), key.clone())).collect())
    }

    fn api_key(&self, digest: &Digest) -> Result<Option<(KeyName, ApiKey)>> {
        let ledger = self.ledger();
        let found = ledger.api_keys.rows().iter().find(|(_, key)| key.digest == *digest);
        Ok(found.map(|(name, key)| (name.clone(), key.clone())))
    }

    fn counts(&self) -> Result<Counts> {
        let ledger = self.ledger();
        let pending = || ledger.tasks.rows().values().filter(|task| task.state == TaskState::Pending);
        Ok(Counts {
            orders: ledger.orders.rows().len() as u64,
            events: ledger.events.rows().len() as u64,
            entitlements: ledger.entitlements.rows().len() as u64,
            open_cases: ledger.cases.rows().values().filter(|case| case.resolution.is_none()).count() as u64,
            pending_tasks: pending().count() as u64,
            oldest_pending_task: pending().map(|task| task.due_at).min(),
            unbound_payments: ledger.payments.rows().values().filter(|p| p.order.is_none()).count() as u64,
        })
    }

    fn describe(&self) -> String {
        "memory (nothing is kept)".to_owned()
    }
}
