//! Granting a unit: recheck, write the entitlement, mark the task done, in one commit. Needs no outside call.

use crate::command::RetryTask;
use crate::key::Need;
use crate::ledger::Ledger;
use crate::reply::{Granted, Refusal, Reply};
use crate::row::{Entitlement, Task, TaskKey, TaskState};

use super::Context;
use super::settle::{Cause, settle, standing};

pub(super) fn grant(ledger: &mut Ledger, key: &TaskKey, context: Context<'_>) -> Result<Reply, Need> {
    let Some(task) = ledger.task(key)?.cloned() else {
        return Ok(Reply::Refused(Refusal::UnknownTask));
    };
    let Some(order) = ledger.order(&key.order)?.cloned() else {
        return Ok(Reply::Refused(Refusal::UnknownOrder));
    };
    // P3: the unit is the key, so a second worker, event or payment finds it taken.
    let stands = ledger.entitlement(&key.order, key.unit)?.is_some();
    if task.state != TaskState::Pending {
        return Ok(Reply::Granted(if stands { Granted::Before } else { Granted::NotEligible }));
    }
    let since = ledger.savepoint();
    let attempts = task.attempts + 1;
    // P8: what was committed by now decides, not what made the task.
    let eligible = standing(ledger, &key.order, &order, context)?.eligible;
    let (state, granted) = match (stands, eligible) {
        (true, _) => (TaskState::Done, Granted::Before),
        (false, true) => (TaskState::Done, Granted::Now),
        (false, false) => (TaskState::Cancelled, Granted::NotEligible),
    };
    if granted == Granted::Now {
        let entitlement = Entitlement {
            customer: order.customer.clone(),
            lines: order.lines_of(key.unit),
            granted_at: context.now,
            order_revision: order.revision + 1,
            revoked_at: None,
            revoked_by: None,
            kept_by: None,
        };
        ledger.entitlements.put((key.order.clone(), key.unit), entitlement);
    }
    let trace = task.trace.clone();
    ledger.tasks.put(key.clone(), Task { state, attempts, ..task });
    settle(ledger, &key.order, &Cause { since: &since, trace: trace.as_ref() }, context)?;
    Ok(Reply::Granted(granted))
}

/// Makes a task due at once. Whether it may do anything is decided when it is tried, as always.
pub(super) fn retry(ledger: &mut Ledger, command: &RetryTask, context: Context<'_>) -> Result<Reply, Need> {
    let key = &command.task;
    let Some(task) = ledger.task(key)?.cloned() else {
        return Ok(Reply::Refused(Refusal::UnknownTask));
    };
    if task.state == TaskState::Done {
        return Ok(Reply::Refused(Refusal::TaskNotRetryable { state: task.state }));
    }
    let since = ledger.savepoint();
    let due = Task { state: TaskState::Pending, due_at: context.now, ..task };
    ledger.tasks.put(key.clone(), due);
    // An order that is not eligible takes its task back at once: a retry cannot grant what a grant could not.
    settle(ledger, &key.order, &Cause { since: &since, trace: None }, context)?;
    Ok(Reply::Retried)
}
