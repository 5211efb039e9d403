//! What must hold in every ledger, stated once. Tests, the model, torture and `paidonce audit` all call it.

use std::collections::BTreeMap;
use std::fmt;

use crate::case::{CaseKey, Reason, Subject};
use crate::digest::Digest;
use crate::id::{OrderId, PaymentKey, Sku};
use crate::ledger::Ledger;
use crate::order::Order;
use crate::policy::{AfterGrant, Policy};
use crate::product::StockState;
use crate::row::EventOutcome;
use crate::standing::Standing;
use crate::task::{TaskKey, TaskState, Work};

/// One broken promise.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The promise's number in PROMISES.md.
    pub promise: &'static str,
    /// What was found.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.promise, self.what)
    }
}

/// Everything that is wrong with a whole ledger, whatever the merchant's policy is.
#[must_use]
pub fn check(ledger: &Ledger) -> Vec<Violation> {
    let mut found = Found::default();
    orders(ledger, &mut found);
    products(ledger, &mut found);
    payments(ledger, &mut found);
    events(ledger, &mut found);
    entitlements(ledger, &mut found);
    tasks(ledger, &mut found);
    cases(ledger, &mut found);
    found.0
}

/// What is wrong besides, given the policy under which the ledger was decided: at rest every eligible unit is
/// granted or has a task that will grant it, and no other unit has one.
#[must_use]
pub fn check_settled(ledger: &Ledger, policy: &Policy) -> Vec<Violation> {
    let mut found = Found(check(ledger));
    for (id, order) in ledger.orders.rows() {
        let standing = standing(ledger, id, order, policy);
        for unit in order.units() {
            let granted = ledger.entitlements.rows().contains_key(&(id.clone(), unit));
            let key = TaskKey::grant(id.clone(), unit);
            let grant = ledger.tasks.get(&key).map(|task| task.state);
            let (pending, stopped) = (grant == Some(TaskState::Pending), grant == Some(TaskState::Stopped));
            let held = grant == Some(TaskState::Held) && is_case(ledger, &key);
            found.check(!standing.eligible || granted || pending || stopped || held, "P10", || {
                format!("order {id} is eligible, and {unit} is neither granted nor about to be")
            });
            found.check(!pending || standing.eligible, "P8", || {
                format!("order {id} is not eligible, and {unit} is about to be granted")
            });
        }
        for (unit, row) in ledger.entitlements_of(id) {
            let lost = standing.loss().is_some_and(|loss| loss.policy(policy) == AfterGrant::Revoke);
            let active = row.revoked_at.is_none();
            found.check(!lost || !active || row.kept_by.is_some(), "P8", || {
                format!("{unit} of order {id} is no longer paid for, and was not taken back")
            });
            let by_policy = !active && row.revoked_by.is_none();
            found.check(!by_policy || standing.loss().is_some(), "P4", || {
                format!("{unit} of order {id} is paid for, and was not given back")
            });
        }
        for (payment, account) in &standing.payments {
            let can = policy.lookups.contains_key(&payment.account);
            let task = TaskKey { subject: Subject::Payment(payment.clone()), work: Work::Lookup };
            let asking = ledger.tasks.get(&task).is_some_and(|task| task.state != TaskState::Done);
            found.check(account.owed.is_empty() || !can || asking, "P10", || {
                format!("{payment} of order {id} owes a lookup, and nobody is about to ask")
            });
        }
        for finding in &standing.findings {
            let known = ledger.cases_of(&finding.subject).any(|(key, _)| key.reason == finding.reason);
            found.check(known, "P6", || format!("order {id}: no case says {}", finding.detail));
        }
    }
    found.0
}

#[derive(Default)]
struct Found(Vec<Violation>);

impl Found {
    fn check(&mut self, holds: bool, promise: &'static str, what: impl FnOnce() -> String) {
        if !holds {
            self.0.push(Violation { promise, what: what() });
        }
    }
}

fn standing(ledger: &Ledger, id: &OrderId, order: &Order, policy: &Policy) -> Standing {
    let facts: Vec<_> = order.payments.iter().map(|key| (key.clone(), ledger.facts_of(key))).collect();
    Standing::of(id, order, &facts, policy)
}

fn orders(ledger: &Ledger, found: &mut Found) {
    let mut served: BTreeMap<&PaymentKey, &OrderId> = BTreeMap::new();
    for (id, order) in ledger.orders.rows() {
        found.check(order.revision > 0, "P2", || format!("order {id} has no revision"));
        for payment in &order.payments {
            let bound = ledger.payments.get(payment).and_then(|row| row.order.as_ref());
            found.check(bound == Some(id), "P6", || {
                format!("order {id} lists {payment}, which it does not own")
            });
            let other = served.insert(payment, id);
            found.check(other.is_none(), "P6", || format!("{payment} serves order {id} and another one"));
        }
        for reference in &order.references {
            let row = ledger.references.get(reference).and_then(|row| row.order.as_ref());
            found.check(row == Some(id), "P6", || {
                format!("order {id} lists {reference}, which is not its own")
            });
        }
        // Policy decides what covers; the sums do not depend on it.
        let standing = standing(ledger, id, order, &Policy::default());
        let (captured, reversed) = (standing.captured_minor, standing.reversed_minor);
        found.check(reversed <= captured, "P13", || {
            format!("order {id}: {reversed} reversed of {captured} captured")
        });
    }
}

/// What is reserved and sold is what orders hold, piece by piece, and never more than there is.
fn products(ledger: &Ledger, found: &mut Found) {
    let mut held: BTreeMap<&Sku, (u64, u64)> = BTreeMap::new();
    for stock in ledger.orders.rows().values().filter_map(|order| order.stock.as_ref()) {
        for (sku, n) in &stock.pieces {
            let (reserved, sold) = held.entry(sku).or_default();
            match stock.state {
                StockState::Reserved => *reserved += n,
                StockState::Sold => *sold += n,
                StockState::Released => {}
            }
        }
    }
    for (sku, product) in ledger.products.rows() {
        let figures = (product.reserved, product.sold);
        let held = held.remove(sku).unwrap_or_default();
        found.check(figures == held, "P13", || {
            format!("of {sku} {figures:?} are reserved and sold, and orders hold {held:?}")
        });
        let taken = product.reserved + product.sold;
        found.check(product.stock.is_none_or(|stock| taken <= stock), "P13", || {
            format!("of {sku} {taken} are reserved or sold, of {:?}", product.stock)
        });
    }
    for (sku, held) in held {
        found.check(held == (0, 0), "P13", || format!("orders hold {held:?} of {sku}, which is not there"));
    }
}

fn payments(ledger: &Ledger, found: &mut Found) {
    for (key, payment) in ledger.payments.rows() {
        if let Some(id) = &payment.order {
            let listed = ledger.orders.get(id).is_some_and(|order| order.payments.contains(key));
            found.check(listed, "P6", || format!("{key} serves order {id}, which does not list it"));
            continue;
        }
        for mention in &payment.mentions {
            let waits = ledger.references.get(mention).is_some_and(|row| row.payments.contains(key));
            found.check(waits, "P4", || format!("{key} is unbound and nothing at {mention} will find it"));
        }
    }
    for ((payment, fact), value) in ledger.facts.rows() {
        found.check(ledger.payments.get(payment).is_some(), "P4", || {
            format!("a {} fact of {payment} has no payment", fact.kind())
        });
        let amount = value.amount_minor.unwrap_or(0);
        found.check((0..=crate::money::AMOUNT_MAX).contains(&amount), "P13", || {
            format!("a {} fact of {payment} has the amount {amount}", fact.kind())
        });
    }
}

/// Whether a person sees or saw that a task failed.
fn is_case(ledger: &Ledger, task: &TaskKey) -> bool {
    let failed = |key: &CaseKey| key.reason == Reason::TaskFailed && key.evidence == task.digest();
    ledger.cases_of(&task.subject).any(|(key, _)| failed(key))
}

fn events(ledger: &Ledger, found: &mut Found) {
    for (key, event) in ledger.events.rows() {
        let subject = Subject::Event(key.clone());
        match &event.outcome {
            EventOutcome::Applied => {
                let payment = event.payment.clone().map(|id| PaymentKey { account: key.account.clone(), id });
                let stands = payment.is_some_and(|payment| ledger.payments.get(&payment).is_some());
                found.check(stands, "P4", || format!("event {key} is applied and has no payment"));
            }
            EventOutcome::Unreadable(_) | EventOutcome::Held(_) => {
                let known = ledger.cases_of(&subject).next().is_some();
                found.check(known, "P6", || {
                    format!("event {key} is {} without a case", event.outcome.as_str())
                });
            }
            EventOutcome::Ignored => {}
        }
        let gone = event.body.bytes().is_empty() && event.body.digest() != Digest::of_bytes(b"");
        found.check(!gone || event.dropped_at.is_some(), "P1", || {
            format!("the body of event {key} is gone, and was not dropped")
        });
        let spent = matches!(event.outcome, EventOutcome::Applied | EventOutcome::Held(_));
        found.check(event.dropped_at.is_none() || spent, "P4", || {
            format!("event {key} is {}, and its body was dropped", event.outcome.as_str())
        });
        found.check(event.dropped_at.is_none() || event.body.bytes().is_empty(), "P15", || {
            format!("the body of event {key} was dropped, and is still there")
        });
    }
}

fn entitlements(ledger: &Ledger, found: &mut Found) {
    for (id, unit) in ledger.entitlements.rows().keys() {
        let exists = ledger.orders.get(id).is_some_and(|order| order.units().contains(unit));
        found.check(exists, "P3", || format!("{unit} of order {id} is granted and does not exist"));
        let grant = ledger.tasks.get(&TaskKey::grant(id.clone(), *unit));
        let pending = grant.is_some_and(|task| task.state == TaskState::Pending);
        found.check(!pending, "P3", || format!("{unit} of order {id} is granted and about to be again"));
    }
}

fn tasks(ledger: &Ledger, found: &mut Found) {
    for (key, task) in ledger.tasks.rows() {
        if let (Some(order), Work::Grant(unit)) = (key.order(), &key.work) {
            let granted = ledger.entitlements.rows().contains_key(&(order.clone(), *unit));
            found.check(task.state != TaskState::Done || granted, "P4", || {
                format!("the grant of {unit} of order {order} is done, and nothing is granted")
            });
        }
        found.check(
            task.lease.is_none() || task.state.active() || task.state == TaskState::Done,
            "P9",
            || format!("{key} is {} and somebody has it", task.state.as_str()),
        );
        let calling = task.state == TaskState::Calling;
        found.check(!calling || (task.lease.is_some() && task.request.is_some()), "P11", || {
            format!("{key} is being called, and nothing says by whom or with what")
        });
        let unsure = task.state == TaskState::Uncertain && key.work != Work::Lookup;
        found.check(!unsure || task.request.as_ref().is_some_and(|request| request.uncertain), "P11", || {
            format!("{key} is uncertain, and what was sent is not kept")
        });
        let held = task.state == TaskState::Held;
        let known = ledger.cases_of(&key.subject).any(|(case, _)| case.evidence == key.digest());
        found.check(!held || known, "P10", || format!("{key} is held without a case"));
        let behind = matches!(key.work, Work::Sync { .. }) && task.delivered < task.order_revision;
        found.check(task.state != TaskState::Done || !behind, "P10", || {
            format!("{key} is done, and something newer is desired")
        });
    }
}

fn cases(ledger: &Ledger, found: &mut Found) {
    for (key, case) in ledger.cases.rows() {
        let stands = match &key.subject {
            Subject::Event(event) => ledger.events.get(event).is_some(),
            Subject::Payment(payment) => ledger.payments.get(payment).is_some(),
            Subject::Order(order) => ledger.orders.get(order).is_some(),
        };
        found.check(stands, "P6", || format!("case {} is about nothing that exists", key.handle()));
        let order = case.order.as_ref().is_none_or(|order| ledger.orders.get(order).is_some());
        found.check(order, "P6", || format!("case {} concerns an order that does not exist", key.handle()));
    }
}
