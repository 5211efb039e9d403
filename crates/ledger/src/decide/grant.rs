//! Granting a unit: recheck, write the entitlement, mark the task done, in one commit. Needs no outside call.

use crate::command::RetryTask;
use crate::id::OrderId;
use crate::key::Need;
use crate::ledger::Ledger;
use crate::order::{Order, Unit};
use crate::reply::{Granted, Refusal, Reply};
use crate::row::Entitlement;
use crate::task::{Task, TaskKey, TaskState, Work};

use super::settle::{Cause, settle, standing};
use super::{Context, lookup};

pub(super) fn grant(ledger: &mut Ledger, key: &TaskKey, context: Context<'_>) -> Result<Reply, Need> {
    let (Some(id), Work::Grant(unit)) = (key.order().cloned(), &key.work) else {
        return Ok(Reply::Refused(Refusal::UnknownTask));
    };
    let Some(task) = ledger.task(key)?.cloned() else {
        return Ok(Reply::Refused(Refusal::UnknownTask));
    };
    let Some(order) = ledger.order(&id)?.cloned() else {
        return Ok(Reply::Refused(Refusal::UnknownOrder));
    };
    // P3: the unit is the key, so a second worker, event or payment finds it taken.
    let stands = ledger.entitlement(&id, *unit)?.is_some();
    if task.state != TaskState::Pending {
        return Ok(Reply::Granted(if stands { Granted::Before } else { Granted::NotEligible }));
    }
    let since = ledger.savepoint();
    let cause = Cause { since: &since, trace: task.trace.as_ref() };
    if !stands && lookup::wanted_before_grant(ledger, &order, context)? {
        // The order now owes a look, so the task is taken back; the answer brings it again.
        settle(ledger, &id, &cause, context)?;
        return Ok(Reply::Granted(Granted::NotEligible));
    }
    // P8: what was committed by now decides, not what made the task.
    let eligible = standing(ledger, &id, &order, context)?.eligible;
    let (state, granted) = match (stands, eligible) {
        (true, _) => (TaskState::Done, Granted::Before),
        (false, true) => (TaskState::Done, Granted::Now),
        (false, false) => (TaskState::Cancelled, Granted::NotEligible),
    };
    if granted == Granted::Now {
        ledger.entitlements.put((id.clone(), *unit), entitlement(&order, *unit, context));
    }
    ledger.tasks.put(key.clone(), Task { state, attempts: task.attempts + 1, ..task.clone() });
    settle(ledger, &id, &cause, context)?;
    Ok(Reply::Granted(granted))
}

fn entitlement(order: &Order, unit: Unit, context: Context<'_>) -> Entitlement {
    Entitlement {
        customer: order.customer.clone(),
        lines: order.lines_of(unit),
        granted_at: context.now,
        order_revision: order.revision + 1,
        revoked_at: None,
        revoked_by: None,
        kept_by: None,
    }
}

/// Makes a task due at once. Whether it may do anything is decided when it is tried, as always.
pub(super) fn retry(ledger: &mut Ledger, command: &RetryTask, context: Context<'_>) -> Result<Reply, Need> {
    let key = &command.task;
    let Some(task) = ledger.task(key)?.cloned() else {
        return Ok(Reply::Refused(Refusal::UnknownTask));
    };
    // What a worker has in hand is tried already.
    if matches!(task.state, TaskState::Done | TaskState::Calling) || task.lease.is_some() {
        return Ok(Reply::Refused(Refusal::TaskNotRetryable { state: task.state }));
    }
    let since = ledger.savepoint();
    // A request whose outcome is unknown stays so: the next claim decides whether it may be sent again.
    let unsure = task.request.as_ref().is_some_and(|request| request.uncertain);
    let state = if unsure { TaskState::Uncertain } else { TaskState::Pending };
    ledger.tasks.put(key.clone(), Task { state, due_at: context.now, ..task });
    // An order that is not eligible takes its grant back at once: a retry cannot grant what a grant could not.
    settle_of(ledger, key.order(), &Cause { since: &since, trace: None }, context)?;
    Ok(Reply::Retried)
}

/// Settles the order of a task that is an order's.
pub(super) fn settle_of(
    ledger: &mut Ledger,
    order: Option<&OrderId>,
    cause: &Cause<'_>,
    context: Context<'_>,
) -> Result<(), Need> {
    order.map_or(Ok(()), |order| settle(ledger, order, cause, context))
}
