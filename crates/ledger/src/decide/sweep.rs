//! What time makes due, found by looking: nothing depends on a message that might be lost (P10).

use crate::case::{Reason, Subject};
use crate::digest::Body;
use crate::fact::FactKey;
use crate::id::{EventKey, OrderId, PaymentKey, ReferenceKey};
use crate::key::{Key, Need};
use crate::ledger::Ledger;
use crate::order::{Order, OrderState};
use crate::reply::Reply;
use crate::row::Event;
use crate::standing::Finding;
use crate::task::{Task, TaskKey, TaskState};

use super::settle::{Cause, settle, standing};
use super::{Context, case, lookup, outbox};

pub(super) fn sweep(ledger: &mut Ledger, key: &Key, context: Context<'_>) -> Result<Reply, Need> {
    match key {
        Key::Order(id) => order(ledger, id, context)?,
        Key::Payment(payment) => self::payment(ledger, payment, context)?,
        Key::Event(event) => {
            // Loaded or not is asked first: absence is never inferred.
            if ledger.event(event)?.is_some() {
                tasks(ledger, &Subject::Event(event.clone()), context);
                body(ledger, event, context)?;
            }
        }
        Key::Reference(_) | Key::Product(_) | Key::Command(_) | Key::ApiKey(_) => {}
    }
    Ok(Reply::Swept)
}

/// Expires an order whose time is over, unless it is covered; applies the present policy to what is derived from it.
fn order(ledger: &mut Ledger, id: &OrderId, context: Context<'_>) -> Result<(), Need> {
    let Some(order) = ledger.order(id)?.cloned() else { return Ok(()) };
    let since = ledger.savepoint();
    let over = order.expires_at.is_some_and(|at| at <= context.now);
    if order.state == OrderState::Open && over && ledger.entitlements_of(id).next().is_none() {
        let stands = standing(ledger, id, &order, context)?;
        let closed_covering_minor = stands.covering_minor;
        let order = if stands.covered {
            // Paid in time, and perhaps held: its time is over, and it did not run out.
            Order { expires_at: None, ..order }
        } else {
            Order { state: OrderState::Expired, closed_covering_minor, ..order }
        };
        ledger.orders.put(id.clone(), order);
    } else if over && order.expires_at.is_some() && order.state == OrderState::Open {
        ledger.orders.put(id.clone(), Order { expires_at: None, ..order });
    }
    settle(ledger, id, &Cause { since: &since, trace: None }, context)?;
    // After the order: a worker that is gone, or an effect that is configured by now, changes nothing about it.
    tasks(ledger, &Subject::Order(id.clone()), context);
    Ok(())
}

/// A payment that named something of ours, and whose order does not come, is a person's. An in-store sale never is.
fn payment(ledger: &mut Ledger, key: &PaymentKey, context: Context<'_>) -> Result<(), Need> {
    let Some(payment) = ledger.payment(key)?.cloned() else { return Ok(()) };
    tasks(ledger, &Subject::Payment(key.clone()), context);
    if payment.order.is_some() {
        return Ok(());
    }
    if ledger.facts_of(key).contains_key(&FactKey::Announced) {
        lookup::settle_unbound(ledger, key, None, context)?;
    }
    let Some(patience_ms) = context.policy.unbound_after_ms else { return Ok(()) };
    let ours = |mention: &&ReferenceKey| matches!(mention, ReferenceKey::Issued(_));
    let late = payment.first_at.plus_ms(patience_ms) <= context.now;
    if let Some(mention) = payment.mentions.iter().find(ours).filter(|_| late) {
        let detail = format!("it named {mention}, and no order came for it");
        let finding = Finding::new(Subject::Payment(key.clone()), Reason::Unbound, detail);
        case::open(ledger, finding, None, None, context)?;
    }
    Ok(())
}

/// Drops an event's bytes whose time is over. The row stays, and with it what a redelivery is recognised by; while a case
/// about it is open, a person may want to see what came.
fn body(ledger: &mut Ledger, key: &EventKey, context: Context<'_>) -> Result<(), Need> {
    let Some(retention_ms) = context.policy.body_retention_ms else { return Ok(()) };
    let Some(event) = ledger.event(key)?.cloned() else { return Ok(()) };
    let over = event.received_at.plus_ms(retention_ms) <= context.now;
    let open = |ledger: &Ledger| {
        ledger.cases_of(&Subject::Event(key.clone())).any(|(_, case)| case.resolution.is_none())
    };
    if over && event.body_is_spent() && !open(ledger) {
        let body = Body::with_digest([], event.body.digest());
        ledger.events.put(key.clone(), Event { body, dropped_at: Some(context.now), ..event });
    }
    Ok(())
}

/// Takes up what lost its worker, and what was parked while nothing could carry it out.
fn tasks(ledger: &mut Ledger, subject: &Subject, context: Context<'_>) {
    let all: Vec<(TaskKey, Task)> =
        ledger.tasks_of(subject).map(|(key, task)| (key.clone(), task.clone())).collect();
    for (key, task) in all {
        let taken_up = outbox::abandoned(ledger, &key, task.clone(), context);
        let rule = key.effect().map(|effect| context.policy.effects.get(effect));
        let configured = rule.is_none_or(|rule| rule.is_some_and(|rule| !rule.unconfigured));
        let taken_up = match taken_up.state {
            TaskState::Parked if configured => {
                Task { state: TaskState::Pending, due_at: context.now, ..taken_up }
            }
            _ => taken_up,
        };
        if taken_up != task {
            ledger.tasks.put(key, taken_up);
        }
    }
}
