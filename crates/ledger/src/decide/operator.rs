//! What a person decides: cases, tasks, entitlements, closed orders. Each with a name and a reason (P16).

use crate::case::{Case, Resolution, Subject};
use crate::command::{CancelTask, Decision, ResolveCase, ReviveOrder, SetEntitlement, Stamp};
use crate::id::{OrderId, PaymentKey};
use crate::key::Need;
use crate::ledger::Ledger;
use crate::order::{Order, OrderState};
use crate::reply::{Refusal, Reply};
use crate::row::{Entitlement, Payment};
use crate::task::{Task, TaskState};

use super::grant::settle_of;
use super::settle::{Cause, settle};
use super::{Context, stock};

pub(super) fn resolve(
    ledger: &mut Ledger,
    command: &ResolveCase,
    context: Context<'_>,
) -> Result<Reply, Need> {
    let Some(case) = ledger.case(&command.case)?.cloned() else {
        return Ok(Reply::Refused(Refusal::UnknownCase));
    };
    if case.resolution.is_some() {
        return Ok(Reply::Refused(Refusal::CaseEnded));
    }
    let word = match &command.decision {
        // The audit row holds the note.
        Decision::Note => return Ok(Reply::Done),
        Decision::Accept => "accepted",
        Decision::Reject => "rejected",
        Decision::Bind(order) => {
            let Subject::Payment(payment) = &command.case.subject else {
                return Ok(Reply::Refused(Refusal::NotAPayment));
            };
            if let Some(refusal) = rebind(ledger, payment, order, context)? {
                return Ok(Reply::Refused(refusal));
            }
            "bound"
        }
    };
    // Binding may have ended the case already, as later facts do: the person's word is the one that is kept.
    let note = note(word, &command.stamp);
    let resolution = Some(Resolution { at: context.now, by: Some(command.stamp.by.clone()), note });
    ledger.cases.put(command.case.clone(), Case { resolution, ..case });
    Ok(Reply::Done)
}

fn note(word: &str, stamp: &Stamp) -> String {
    stamp.reason.as_ref().map_or_else(|| word.to_owned(), |reason| format!("{word}: {reason}"))
}

/// Moves a payment to an order, if nothing was granted on either side of the move.
fn rebind(
    ledger: &mut Ledger,
    payment: &PaymentKey,
    to: &OrderId,
    context: Context<'_>,
) -> Result<Option<Refusal>, Need> {
    let Some(row) = ledger.payment(payment)?.cloned() else { return Ok(Some(Refusal::UnknownPayment)) };
    let Some(mut order) = ledger.order(to)?.cloned() else { return Ok(Some(Refusal::UnknownOrder)) };
    let since = ledger.savepoint();
    let from = row.order.clone().filter(|from| from != to);
    if let Some(from) = &from {
        let Some(mut left) = ledger.order(from)?.cloned() else { return Ok(Some(Refusal::UnknownOrder)) };
        if ledger.entitlements_of(from).next().is_some() {
            return Ok(Some(Refusal::AlreadyGranted));
        }
        left.payments.remove(payment);
        ledger.orders.put(from.clone(), left);
    }
    order.payments.insert(payment.clone());
    ledger.orders.put(to.clone(), order);
    ledger.payments.put(payment.clone(), Payment { order: Some(to.clone()), ..row });
    let cause = Cause { since: &since, trace: None };
    for id in from.iter().chain([to]) {
        settle(ledger, id, &cause, context)?;
    }
    Ok(None)
}

pub(super) fn cancel_task(
    ledger: &mut Ledger,
    command: &CancelTask,
    context: Context<'_>,
) -> Result<Reply, Need> {
    let Some(task) = ledger.task(&command.task)?.cloned() else {
        return Ok(Reply::Refused(Refusal::UnknownTask));
    };
    if task.state == TaskState::Done {
        return Ok(Reply::Refused(Refusal::TaskNotRetryable { state: task.state }));
    }
    let since = ledger.savepoint();
    if task.state != TaskState::Stopped {
        // P9: whoever has it in hand loses it.
        let version = task.version + 1;
        ledger
            .tasks
            .put(command.task.clone(), Task { state: TaskState::Stopped, version, lease: None, ..task });
    }
    settle_of(ledger, command.task.order(), &Cause { since: &since, trace: None }, context)?;
    Ok(Reply::Done)
}

/// Takes back or gives back. It never makes a second one: the unit's row is the one there is (P3).
pub(super) fn set_entitlement(
    ledger: &mut Ledger,
    command: &SetEntitlement,
    context: Context<'_>,
) -> Result<Reply, Need> {
    let Some(row) = ledger.entitlement(&command.order, command.unit)?.cloned() else {
        return Ok(Reply::Refused(Refusal::NotGranted));
    };
    let Some(order) = ledger.order(&command.order)?.cloned() else {
        return Ok(Reply::Refused(Refusal::UnknownOrder));
    };
    let since = ledger.savepoint();
    let (by, order_revision) = (Some(command.stamp.by.clone()), order.revision + 1);
    let set = if command.granted {
        Entitlement { revoked_at: None, revoked_by: None, kept_by: by, order_revision, ..row.clone() }
    } else {
        let revoked_at = row.revoked_at.or(Some(context.now));
        Entitlement { revoked_at, revoked_by: by, kept_by: None, order_revision, ..row.clone() }
    };
    if row.revoked_at.is_some() == command.granted || row.kept_by.is_some() != set.kept_by.is_some() {
        ledger.entitlements.put((command.order.clone(), command.unit), set);
    }
    settle(ledger, &command.order, &Cause { since: &since, trace: None }, context)?;
    Ok(Reply::Done)
}

pub(super) fn revive(
    ledger: &mut Ledger,
    command: &ReviveOrder,
    context: Context<'_>,
) -> Result<Reply, Need> {
    let Some(order) = ledger.order(&command.order)?.cloned() else {
        return Ok(Reply::Refused(Refusal::UnknownOrder));
    };
    let since = ledger.savepoint();
    if order.state != OrderState::Open {
        // A revival is a new reservation.
        if let Some(refusal) = stock::missing(ledger, &order)? {
            return Ok(Reply::Refused(refusal));
        }
        let open = Order { state: OrderState::Open, closed_covering_minor: 0, ..order };
        ledger.orders.put(command.order.clone(), open);
    }
    settle(ledger, &command.order, &Cause { since: &since, trace: None }, context)?;
    Ok(Reply::Done)
}
