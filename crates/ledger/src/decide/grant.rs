//! Granting a unit: recheck, write the entitlement, mark the task done, in one commit. Needs no outside call.

use crate::command::{GrantFailed, Outcome, RetryTask};
use crate::id::{OrderId, Owner};
use crate::key::Need;
use crate::ledger::Ledger;
use crate::order::{Order, Unit};
use crate::reply::{Granted, Refusal, Reply};
use crate::row::Entitlement;
use crate::task::{Attempt, AttemptKey, Task, TaskKey, TaskState, Work};

use super::settle::{Cause, settle, standing};
use super::{Context, lookup, outbox};

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
    ledger.tasks.put(key.clone(), Task { state, attempts: task.attempts.saturating_add(1), ..task.clone() });
    outbox::end_cases(ledger, key, context);
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

/// The merchant's own statements refused a grant, so nothing of it was committed: it is tried again later, or becomes a
/// case. Only the task and its case change: nothing was learnt about the order.
pub(super) fn failed(
    ledger: &mut Ledger,
    command: &GrantFailed,
    context: Context<'_>,
) -> Result<Reply, Need> {
    let key = &command.task;
    let task = ledger.task(key)?.filter(|_| matches!(key.work, Work::Grant(_))).cloned();
    let Some(task) = task else { return Ok(Reply::Refused(Refusal::UnknownTask)) };
    if task.state != TaskState::Pending || task.version != command.version {
        // P2: it was recorded before, or others have tried since.
        return Ok(Reply::Settled(task.state));
    }
    let task = Task { version: task.version + 1, attempts: task.attempts.saturating_add(1), ..task };
    let attempt = Attempt {
        owner: Owner::new("grant").expect("a short plain text is an identity"),
        at: context.now,
        took_ms: 0,
        outcome: Outcome::Retry(None).as_str().into(),
        detail: command.detail.clone(),
    };
    ledger.attempts.put(AttemptKey { task: key.clone(), version: task.version }, attempt);
    outbox::again(ledger, key, task, None, &command.detail, context).map(Reply::Settled)
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
    // One that had used up its tries gets as many again: a person has mended what it failed of.
    let spent = task.state == TaskState::Held && task.attempts >= outbox::retries(key, context).attempts_max;
    let attempts = if spent { 0 } else { task.attempts };
    ledger.tasks.put(key.clone(), Task { state, due_at: context.now, attempts, ..task });
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
