//! What the outside is told: tasks that follow from what a decision has changed, in the same commit.
//!
//! Only a change makes one: an effect that is configured later tells nothing of what happened before it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::case::{CaseKey, Subject};
use crate::digest::Digest;
use crate::fact::FactKey;
use crate::id::OrderId;
use crate::key::Need;
use crate::ledger::Ledger;
use crate::order::{Order, OrderState, Unit};
use crate::standing::Standing;
use crate::task::{Happening, Occasion, Task, TaskKey, TaskState, Work};

use super::settle::Cause;
use super::{Context, outbox};

/// One thing that happened to an order or to one of its units.
type Happened = (Unit, Occasion);

/// Tells what happened to an order since the cause's beginning.
pub(super) fn tell(
    ledger: &mut Ledger,
    id: &OrderId,
    order: &Order,
    standing: &Standing,
    cause: &Cause<'_>,
    context: Context<'_>,
) -> Result<(), Need> {
    if context.policy.effects.is_empty() {
        return Ok(());
    }
    let (happened, moved) = happened(ledger, id, order, standing, cause);
    for (unit, revision) in moved {
        sync(ledger, id, unit, revision, cause.trace, context)?;
    }
    let subject = Subject::Order(id.clone());
    for (unit, occasion) in happened {
        send(ledger, &subject, unit, &occasion, order.revision + 1, cause.trace, context)?;
    }
    Ok(())
}

/// What happened, and which units' entitlements moved, to which revision.
fn happened(
    ledger: &Ledger,
    id: &OrderId,
    order: &Order,
    standing: &Standing,
    cause: &Cause<'_>,
) -> (BTreeSet<Happened>, BTreeSet<(Unit, u64)>) {
    let history = ledger.history(cause.since);
    let revision = order.revision + 1;
    let at = |what, which: String| Occasion { what, which: which.into() };
    let (mut all, mut moved) = (BTreeSet::new(), BTreeSet::new());
    for ((of, unit), before) in history.entitlements {
        let Some(now) = ledger.entitlements.get(&(of.clone(), *unit)).filter(|_| of == id) else { continue };
        let was = before.map(|row| row.revoked_at.is_none());
        let what = match (was, now.revoked_at.is_none()) {
            (None, true) => at(Happening::EntitlementGranted, String::new()),
            (Some(true), false) => at(Happening::EntitlementRevoked, now.order_revision.to_string()),
            (Some(false), true) => at(Happening::EntitlementReinstated, now.order_revision.to_string()),
            _ => continue,
        };
        all.insert((*unit, what));
        moved.insert((*unit, now.order_revision));
    }
    for (_, before) in history.orders.iter().filter(|(of, _)| *of == id) {
        let what = match (before.map(|before| &before.state), &order.state) {
            (Some(OrderState::Open), OrderState::Cancelled) => Happening::OrderCancelled,
            (Some(OrderState::Open), OrderState::Expired) => Happening::OrderExpired,
            _ => continue,
        };
        all.insert((Unit::Order, at(what, revision.to_string())));
    }
    // An order's first grant task is the first time that it may be granted.
    let grants = |key: &TaskKey| matches!(key.work, Work::Grant(_)) && key.order() == Some(id);
    if history.tasks.iter().any(|(key, before)| before.is_none() && grants(key)) {
        all.insert((Unit::Order, at(Happening::OrderPaid, String::new())));
    }
    for (payment, fact) in history.facts.iter().filter(|(of, _)| order.payments.contains(of)) {
        match fact {
            FactKey::Refunded { .. } | FactKey::TotalRefunded(_) | FactKey::Captured { .. }
                if standing.reversed_minor > 0 =>
            {
                // By how much went back in all, so that one refund told in two ways is one.
                all.insert((Unit::Order, at(Happening::OrderRefunded, standing.reversed_minor.to_string())));
            }
            FactKey::Disputed { id: dispute, stage, .. } => {
                let rank = ledger.facts.get(&(payment.clone(), fact.clone())).map_or(0, |value| value.rank);
                let parts = [payment.to_string(), dispute.to_string(), format!("{stage} {rank}")];
                let digest = Digest::of_parts(parts.iter().map(String::as_bytes)).to_hex();
                all.insert((Unit::Order, at(Happening::OrderDisputed, digest[..16].to_owned())));
            }
            _ => {}
        }
    }
    (all, moved)
}

/// Tells that something waits for a person. A case that concerns an order is told as the order's.
pub(super) fn case_opened(
    ledger: &mut Ledger,
    key: &CaseKey,
    order: Option<&OrderId>,
    context: Context<'_>,
) -> Result<(), Need> {
    if context.policy.effects.is_empty() {
        return Ok(());
    }
    let subject = order.map_or_else(|| key.subject.clone(), |order| Subject::Order(order.clone()));
    let revision = match order {
        Some(order) => ledger.order(order)?.map_or(0, |order| order.revision + 1),
        None => 0,
    };
    let occasion = Occasion { what: Happening::CaseOpened, which: key.handle().into() };
    send(ledger, &subject, Unit::Order, &occasion, revision, None, context)
}

/// One task for each effect that tells this. Its key is the occasion, so that nothing is told twice.
fn send(
    ledger: &mut Ledger,
    subject: &Subject,
    unit: Unit,
    occasion: &Occasion,
    revision: u64,
    trace: Option<&Arc<str>>,
    context: Context<'_>,
) -> Result<(), Need> {
    let telling =
        |(_, rule): &(_, &crate::policy::EffectRule)| !rule.sync && rule.on.contains(&occasion.what);
    for (effect, _) in context.policy.effects.iter().filter(telling) {
        let work = Work::Send { unit, effect: effect.clone(), occasion: occasion.clone() };
        let key = TaskKey { subject: subject.clone(), work };
        if ledger.task(&key)?.is_none() {
            ledger.tasks.put(key, Task::due(context.now, revision, trace.cloned()));
        }
    }
    Ok(())
}

/// One task for each destination that keeps a copy: the newer state supersedes what was not sent, and passes an older
/// one that became a case.
fn sync(
    ledger: &mut Ledger,
    id: &OrderId,
    unit: Unit,
    revision: u64,
    trace: Option<&Arc<str>>,
    context: Context<'_>,
) -> Result<(), Need> {
    for (effect, _) in context.policy.effects.iter().filter(|(_, rule)| rule.sync) {
        let key = TaskKey {
            subject: Subject::Order(id.clone()),
            work: Work::Sync { unit, effect: effect.clone() },
        };
        let task = match ledger.task(&key)?.cloned() {
            None => Task::due(context.now, revision, trace.cloned()),
            // On its way: whoever settles it sees that more is desired. A person's stop, and what is not configured,
            // stay so.
            Some(task)
                if matches!(task.state, TaskState::Calling | TaskState::Stopped | TaskState::Parked) =>
            {
                Task { order_revision: revision, ..task }
            }
            Some(task) => {
                outbox::end_cases(ledger, &key, context);
                Task {
                    state: TaskState::Pending,
                    created_at: context.now,
                    due_at: if task.lease.is_some() { task.due_at } else { context.now },
                    attempts: 0,
                    order_revision: revision,
                    request: None,
                    ..task
                }
            }
        };
        ledger.tasks.put(key, task);
    }
    Ok(())
}
