//! One order with everything that hangs on it, as the surfaces show it.

use paidonce_ledger::{
    Case, CaseKey, Entitlement, Event, EventKey, Facts, Key, Keys, Ledger, Order, OrderId, Payment,
    PaymentAccount, PaymentKey, Policy, Reference, ReferenceKey, Standing, Subject, Task, TaskKey, Unit,
};
use paidonce_store::{EventFilter, PAGE_MAX, Page, Result, Store};

/// A payment of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentView {
    /// Which.
    pub key: PaymentKey,
    /// Whose it is.
    pub payment: Payment,
    /// What is known of it.
    pub facts: Facts,
    /// What that adds up to in the order's unit of money.
    pub account: PaymentAccount,
    /// The events that told it, newest first; bodies included.
    pub events: Vec<(EventKey, Event)>,
}

/// An order as of one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderView {
    /// Its id.
    pub id: OrderId,
    /// What the merchant expects.
    pub order: Order,
    /// Where it stands, and why.
    pub standing: Standing,
    /// The payments bound to it.
    pub payments: Vec<PaymentView>,
    /// The references registered for it.
    pub references: Vec<(ReferenceKey, Reference)>,
    /// Its work.
    pub tasks: Vec<(TaskKey, Task)>,
    /// What was granted.
    pub entitlements: Vec<(Unit, Entitlement)>,
    /// Cases about it or its payments, ended ones included.
    pub cases: Vec<(CaseKey, Case)>,
}

/// One order, or `None` if there is none of that id.
///
/// # Errors
/// The store cannot be read.
pub fn order_view(store: &dyn Store, policy: &Policy, id: &OrderId) -> Result<Option<OrderView>> {
    let mut ledger = store.load(&Keys::from([Key::Order(id.clone())]))?;
    let Some(order) = ledger.orders.get(id).cloned() else { return Ok(None) };
    let references: Keys = order.references.iter().cloned().map(Key::Reference).collect();
    if !references.iter().all(|key| ledger.is_loaded(key)) {
        let mut keys = references;
        keys.insert(Key::Order(id.clone()));
        ledger = store.load(&keys)?;
    }
    // The order may have moved between the two loads; what is shown is the second.
    let order = ledger.orders.get(id).cloned().unwrap_or(order);
    view(store, &ledger, policy, id, order).map(Some)
}

fn view(
    store: &dyn Store,
    ledger: &Ledger,
    policy: &Policy,
    id: &OrderId,
    order: Order,
) -> Result<OrderView> {
    let facts: Vec<_> = order.payments.iter().map(|key| (key.clone(), ledger.facts_of(key))).collect();
    let standing = Standing::of(id, &order, &facts, policy);
    let mut payments = Vec::new();
    for ((key, facts), (_, account)) in facts.into_iter().zip(&standing.payments) {
        let Some(payment) = ledger.payments.get(&key).cloned() else { continue };
        let filter = EventFilter { payment: Some(key.clone()), ..EventFilter::default() };
        let events = store.events(&filter, &Page::first(PAGE_MAX))?.rows;
        payments.push(PaymentView { key, payment, facts, account: account.clone(), events });
    }
    let row = |key: &ReferenceKey| (key.clone(), ledger.references.get(key).cloned().unwrap_or_default());
    Ok(OrderView {
        references: order.references.iter().map(row).collect(),
        tasks: tasks(ledger, id, &order),
        entitlements: ledger.entitlements_of(id).map(|(unit, row)| (unit, row.clone())).collect(),
        cases: cases(ledger, id, &order),
        id: id.clone(),
        order,
        standing,
        payments,
    })
}

/// The order's own tasks, and its payments' lookups.
fn tasks(ledger: &Ledger, id: &OrderId, order: &Order) -> Vec<(TaskKey, Task)> {
    let payments = order.payments.iter().cloned().map(Subject::Payment);
    let subjects: Vec<_> = [Subject::Order(id.clone())].into_iter().chain(payments).collect();
    let of = |subject: &Subject| -> Vec<_> {
        ledger.tasks_of(subject).map(|(key, task)| (key.clone(), task.clone())).collect()
    };
    subjects.iter().flat_map(of).collect()
}

fn cases(ledger: &Ledger, id: &OrderId, order: &Order) -> Vec<(CaseKey, Case)> {
    let payments = order.payments.iter().cloned().map(Subject::Payment);
    let subjects: Vec<_> = payments.chain([Subject::Order(id.clone())]).collect();
    let of = |subject: &Subject| -> Vec<_> {
        ledger.cases_of(subject).map(|(key, case)| (key.clone(), case.clone())).collect()
    };
    let mut cases: Vec<_> = subjects.iter().flat_map(of).collect();
    cases.sort_by_key(|(_, case)| case.opened_at);
    cases
}
