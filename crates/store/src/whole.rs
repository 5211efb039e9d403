//! Every question of a store, answered by a ledger that holds everything: for the memory store and the document.

use paidonce_ledger::{
    ApiKey, Attempt, AttemptKey, Audit, AuditKey, Case, CaseKey, Digest, Entitlement, Event, EventKey, Key,
    KeyName, Keys, Ledger, Order, OrderId, OrderState, Payment, Product, Reason, Sku, Subject, Task, TaskKey,
    TaskState, Timestamp, Unit, Work,
};

#[cfg(feature = "document")]
use paidonce_ledger::Table;

use crate::Result;
use crate::list::{
    AuditFilter, Bodies, CaseFilter, Counts, Cursor, Due, EntitlementFilter, EventFilter, Listed, OldBodies,
    OrderFilter, Page, Stale, TaskFilter, cut,
};

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

pub(crate) fn due(ledger: &Ledger, what: &Due, now: Timestamp, limit: usize) -> Result<Vec<TaskKey>> {
    let is = |key: &TaskKey| match (what, &key.work, &key.subject) {
        (Due::Grants, Work::Grant(_), _) => true,
        (Due::Lookups(account), Work::Lookup, Subject::Payment(payment)) => payment.account == *account,
        (Due::Syncs(name), Work::Sync { effect, .. }, _)
        | (Due::Sends(name), Work::Send { effect, .. }, _) => effect == name,
        _ => false,
    };
    let due =
        ledger.tasks.rows().iter().filter(|(key, task)| task.state.active() && task.due_at <= now && is(key));
    let mut due: Vec<_> = due.map(|(key, task)| (task.due_at, key.handle(), key.clone())).collect();
    due.sort();
    Ok(due.into_iter().take(limit).map(|(_, _, key)| key).collect())
}

pub(crate) fn stale(ledger: &Ledger, stale: &Stale) -> Result<Keys> {
    let over = |order: &Order| {
        order.state == OrderState::Open && order.expires_at.is_some_and(|at| at <= stale.expired_by)
    };
    let mut orders: Vec<_> = ledger.orders.rows().iter().filter(|(_, order)| over(order)).collect();
    orders.sort_by_key(|(id, order)| (order.expires_at, *id));
    let mut keys: Keys = orders.into_iter().take(stale.limit).map(|(id, _)| Key::Order(id.clone())).collect();
    if let Some((from, to)) = stale.unbound {
        let waits = |row: &Payment| row.order.is_none() && row.first_at > from && row.first_at <= to;
        let mut payments: Vec<_> = ledger.payments.rows().iter().filter(|(_, row)| waits(row)).collect();
        payments.sort_by_key(|(key, row)| (row.first_at, *key));
        let payments = payments.into_iter().take(stale.limit);
        keys.extend(payments.map(|(key, _)| Key::Payment(key.clone())));
    }
    for effect in &stale.configured {
        let parked =
            |key: &TaskKey, task: &Task| task.state == TaskState::Parked && key.effect() == Some(effect);
        let mut tasks: Vec<_> =
            ledger.tasks.rows().iter().filter(|(key, task)| parked(key, task)).map(|(key, _)| key).collect();
        tasks.sort_by_key(|key| key.handle());
        keys.extend(tasks.into_iter().take(stale.limit).map(TaskKey::key));
    }
    Ok(keys)
}

pub(crate) fn old_bodies(ledger: &Ledger, wanted: &Bodies) -> Result<OldBodies> {
    let mut events: Vec<_> = ledger.events.rows().iter().collect();
    events.retain(|(_, row)| row.received_at > wanted.after && row.received_at <= wanted.by);
    events.sort_by_cached_key(|(key, row)| (row.received_at, key.id.clone(), key.account.to_string()));
    let edge = events.get(wanted.walk).map_or(wanted.by, |(_, row)| row.received_at);
    let open = |key: &EventKey| {
        ledger.cases_of(&Subject::Event(key.clone())).any(|(_, case)| case.resolution.is_none())
    };
    let old = |(key, row): &(&EventKey, &Event)| row.received_at <= edge && row.body_is_spent() && !open(key);
    let found = events.into_iter().filter(old).take(wanted.limit).map(|(key, _)| key.clone());
    Ok(wanted.found(found.collect(), edge))
}

pub(crate) fn attempts(ledger: &Ledger, task: &TaskKey) -> Result<Vec<(u64, Attempt)>> {
    let from = AttemptKey { task: task.clone(), version: 0 };
    let rows = ledger.attempts.rows().range(from..).take_while(|(key, _)| key.task == *task);
    let mut rows: Vec<_> = rows.map(|(key, row)| (key.version, row.clone())).collect();
    rows.reverse();
    Ok(rows)
}

pub(crate) fn task(ledger: &Ledger, handle: &str) -> Result<Option<(TaskKey, Task)>> {
    let found = ledger.tasks.rows().iter().find(|(key, _)| key.handle() == handle);
    Ok(found.map(|(key, task)| (key.clone(), task.clone())))
}

pub(crate) fn orders(ledger: &Ledger, filter: &OrderFilter, wanted: &Page) -> Result<Listed<OrderId>> {
    let matches = |order: &Order| filter.customer.is_none() || order.customer == filter.customer;
    let rows = ledger.orders.rows().iter().filter(|(_, order)| matches(order));
    page(rows.map(|(id, order)| (cursor(order.placed_at, id), id.clone())), wanted)
}

pub(crate) fn events(
    ledger: &Ledger,
    filter: &EventFilter,
    wanted: &Page,
) -> Result<Listed<(EventKey, Event)>> {
    let matches = |key: &EventKey, event: &Event| {
        filter.source.as_ref().is_none_or(|source| *source == event.source)
            && filter.outcome.as_ref().is_none_or(|outcome| outcome == event.outcome.as_str())
            && filter.id.as_ref().is_none_or(|id| *id == key.id)
            && filter.payment.as_ref().is_none_or(|payment| {
                payment.account == key.account && event.payment.as_ref() == Some(&payment.id)
            })
    };
    let rows = ledger.events.rows().iter().filter(|(key, event)| matches(key, event));
    let row =
        |(key, event): (&EventKey, &Event)| (cursor(event.received_at, key), (key.clone(), event.clone()));
    page(rows.map(row), wanted)
}

pub(crate) fn entitlements(
    ledger: &Ledger,
    filter: &EntitlementFilter,
    wanted: &Page,
) -> Result<Listed<((OrderId, Unit), Entitlement)>> {
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

pub(crate) fn cases(ledger: &Ledger, filter: &CaseFilter, wanted: &Page) -> Result<Listed<(CaseKey, Case)>> {
    let matches = |case: &Case| {
        (!filter.open || case.resolution.is_none()) && (filter.order.is_none() || filter.order == case.order)
    };
    let rows = ledger.cases.rows().iter().filter(|(_, case)| matches(case));
    let row =
        |(key, case): (&CaseKey, &Case)| (cursor(case.opened_at, key.handle()), (key.clone(), case.clone()));
    page(rows.map(row), wanted)
}

pub(crate) fn case(ledger: &Ledger, handle: &str) -> Result<Option<(CaseKey, Case)>> {
    let found = ledger.cases.rows().iter().find(|(key, _)| key.handle() == handle);
    Ok(found.map(|(key, case)| (key.clone(), case.clone())))
}

pub(crate) fn audits(
    ledger: &Ledger,
    filter: &AuditFilter,
    wanted: &Page,
) -> Result<Listed<(AuditKey, Audit)>> {
    let matches = |audit: &Audit| {
        (filter.order.is_none() || filter.order == audit.order)
            && filter.by.as_ref().is_none_or(|by| **by == *audit.by)
    };
    let rows = ledger.audits.rows().iter().filter(|(_, audit)| matches(audit));
    let row =
        |(key, audit): (&AuditKey, &Audit)| (cursor(key.at, &key.command), (key.clone(), audit.clone()));
    page(rows.map(row), wanted)
}

pub(crate) fn tasks(ledger: &Ledger, filter: &TaskFilter, wanted: &Page) -> Result<Listed<(TaskKey, Task)>> {
    let matches = |key: &TaskKey, task: &Task| {
        filter.order.as_ref().is_none_or(|order| key.order() == Some(order))
            && filter.kind.is_none_or(|kind| kind == key.kind())
            && filter.effect.as_ref().is_none_or(|effect| key.effect() == Some(effect))
            && filter.state.is_none_or(|state| state == task.state)
    };
    let rows = ledger.tasks.rows().iter().filter(|(key, task)| matches(key, task));
    let row =
        |(key, task): (&TaskKey, &Task)| (cursor(task.created_at, key.handle()), (key.clone(), task.clone()));
    page(rows.map(row), wanted)
}

pub(crate) fn products(ledger: &Ledger, wanted: &Page) -> Result<Listed<(Sku, Product)>> {
    let rows = ledger.products.rows().iter();
    page(rows.map(|(sku, row)| (cursor(row.set_at, sku), (sku.clone(), row.clone()))), wanted)
}

pub(crate) fn api_keys(ledger: &Ledger) -> Result<Vec<(KeyName, ApiKey)>> {
    Ok(ledger.api_keys.rows().iter().map(|(name, key)| (name.clone(), key.clone())).collect())
}

pub(crate) fn api_key(ledger: &Ledger, digest: &Digest) -> Result<Option<(KeyName, ApiKey)>> {
    let found = ledger.api_keys.rows().iter().find(|(_, key)| key.digest == *digest);
    Ok(found.map(|(name, key)| (name.clone(), key.clone())))
}

pub(crate) fn counts(ledger: &Ledger) -> Result<Counts> {
    let pending = || ledger.tasks.rows().values().filter(|task| task.state.active());
    let tasks = |state| ledger.tasks.rows().values().filter(|task| task.state == state).count() as u64;
    let unread = ledger
        .cases
        .rows()
        .iter()
        .filter(|(key, case)| key.reason == Reason::Unreadable && case.resolution.is_none());
    Ok(Counts {
        orders: ledger.orders.rows().len() as u64,
        events: ledger.events.rows().len() as u64,
        entitlements: ledger.entitlements.rows().len() as u64,
        open_cases: ledger.cases.rows().values().filter(|case| case.resolution.is_none()).count() as u64,
        pending_tasks: pending().count() as u64,
        parked_tasks: tasks(TaskState::Parked),
        held_tasks: tasks(TaskState::Held),
        oldest_pending_task: pending().map(|task| task.due_at).min(),
        oldest_pending_event: unread.map(|(_, case)| case.opened_at).min(),
        unbound_payments: ledger.payments.rows().values().filter(|p| p.order.is_none()).count() as u64,
    })
}

/// The aggregates under `keys` and all that they lead to, as [`crate::Store::load`] says.
#[cfg(feature = "document")]
pub(crate) fn part(all: &Ledger, keys: &Keys) -> Ledger {
    let mut part = Ledger::unloaded();
    let mut wanted = keys.clone();
    while !wanted.is_empty() {
        for key in wanted {
            aggregate(all, &key, &mut part);
            part.mark_loaded(key);
        }
        wanted = part.implied();
    }
    part
}

#[cfg(feature = "document")]
fn aggregate(all: &Ledger, key: &Key, part: &mut Ledger) {
    let subject = match key {
        Key::Order(id) => {
            load(&all.orders, id, &mut part.orders);
            let entitlements = all.entitlements_of(id);
            entitlements.for_each(|(unit, row)| part.entitlements.load((id.clone(), unit), row.clone()));
            Subject::Order(id.clone())
        }
        Key::Payment(key) => {
            load(&all.payments, key, &mut part.payments);
            let facts = all.all_facts_of(key);
            facts.for_each(|(fact, row)| part.facts.load((key.clone(), fact.clone()), *row));
            Subject::Payment(key.clone())
        }
        Key::Event(key) => {
            load(&all.events, key, &mut part.events);
            Subject::Event(key.clone())
        }
        Key::Product(sku) => return load(&all.products, sku, &mut part.products),
        Key::Reference(key) => return load(&all.references, key, &mut part.references),
        Key::Command(id) => return load(&all.commands, id, &mut part.commands),
        Key::ApiKey(name) => return load(&all.api_keys, name, &mut part.api_keys),
    };
    all.tasks_of(&subject).for_each(|(key, row)| part.tasks.load(key.clone(), row.clone()));
    all.cases_of(&subject).for_each(|(key, row)| part.cases.load(key.clone(), row.clone()));
}

#[cfg(feature = "document")]
fn load<K: Ord + Clone, V: Clone + PartialEq>(from: &Table<K, V>, key: &K, to: &mut Table<K, V>) {
    if let Some(row) = from.get(key) {
        to.load(key.clone(), row.clone());
    }
}
