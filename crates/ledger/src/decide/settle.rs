//! After anything about an order changed: its standing, the cases and tasks that follow, and its revision.

use std::sync::Arc;

use crate::case::{Reason, Subject};
use crate::id::OrderId;
use crate::key::Need;
use crate::ledger::{Ledger, Savepoint};
use crate::order::{Order, Unit};
use crate::policy::AfterGrant;
use crate::row::Entitlement;
use crate::standing::{Finding, Loss, Standing};
use crate::task::{Task, TaskKey, TaskState};

use super::{Context, case, effect, lookup, outbox, stock};

/// Reasons that a standing derives: their cases begin and end with it.
const DERIVED: &[Reason] = &[
    Reason::WrongMoneyUnit,
    Reason::AmountShort,
    Reason::NoTotal,
    Reason::Contradictory,
    Reason::PaidTwice,
    Reason::Overpaid,
    Reason::PaidLate,
    Reason::SoldOut,
    Reason::RefundUnclear,
    Reason::RefundAhead,
    Reason::DisputeContradictory,
    Reason::RefundAfterGrant,
    Reason::DisputeAfterGrant,
    Reason::ReversalAfterGrant,
];

/// What made the order change, for the rows that follow from it.
pub(super) struct Cause<'a> {
    /// Where the change began.
    pub(super) since: &'a Savepoint,
    /// The trace context of what caused it.
    pub(super) trace: Option<&'a Arc<str>>,
}

/// Brings everything that is derived from an order's facts up to date. Does nothing if nothing changed.
pub(super) fn settle(
    ledger: &mut Ledger,
    id: &OrderId,
    cause: &Cause<'_>,
    context: Context<'_>,
) -> Result<(), Need> {
    let Some(order) = ledger.order(id)?.cloned() else { return Ok(()) };
    let standing = standing(ledger, id, &order, context)?;
    let (order, standing) = stock::settle(ledger, id, order, standing, context)?;
    for unit in order.units() {
        entitlement(ledger, id, &order, unit, &standing, context)?;
        task(ledger, id, &order, unit, standing.eligible, cause, context)?;
    }
    for (payment, account) in &standing.payments {
        lookup::settle(ledger, payment, !account.owed.is_empty(), cause.trace, context)?;
    }
    cases(ledger, id, &order, &standing, context)?;
    effect::tell(ledger, id, &order, &standing, cause, context)?;
    if ledger.changed_since_savepoint(cause.since) {
        let revision = order.revision + 1;
        ledger.orders.put(id.clone(), Order { revision, ..order });
    }
    Ok(())
}

/// An order's standing by all facts of its payments.
pub(super) fn standing(
    ledger: &Ledger,
    id: &OrderId,
    order: &Order,
    context: Context<'_>,
) -> Result<Standing, Need> {
    Ok(Standing::of(id, order, &ledger.payments_of(order)?, context.policy))
}

fn cases(
    ledger: &mut Ledger,
    id: &OrderId,
    order: &Order,
    standing: &Standing,
    context: Context<'_>,
) -> Result<(), Need> {
    let mut findings = standing.findings.clone();
    findings.extend(after_grant(ledger, id, order, standing, context));
    let subjects = order.payments.iter().cloned().map(Subject::Payment);
    for subject in subjects.chain([Subject::Order(id.clone())]) {
        let stands = |reason, evidence| {
            findings.iter().any(|f| f.subject == subject && f.reason == reason && f.evidence == evidence)
        };
        let over =
            |key: &crate::case::CaseKey| DERIVED.contains(&key.reason) && !stands(key.reason, key.evidence);
        case::settle(ledger, &subject, over, context);
    }
    for finding in findings {
        case::open(ledger, finding, Some(id), None, context)?;
    }
    Ok(())
}

/// What was granted and is no longer paid for, where a person is to decide.
fn after_grant(
    ledger: &Ledger,
    id: &OrderId,
    order: &Order,
    standing: &Standing,
    context: Context<'_>,
) -> Option<Finding> {
    let decided = |row: &Entitlement| row.revoked_at.is_some() || row.kept_by.is_some();
    let granted = ledger.entitlements_of(id).any(|(_, row)| !decided(row));
    let loss = standing.loss()?;
    if !granted || loss.policy(context.policy) != AfterGrant::Review {
        return None;
    }
    let reason = match loss {
        Loss::Refund => Reason::RefundAfterGrant,
        Loss::Dispute => Reason::DisputeAfterGrant,
        Loss::Reversal => Reason::ReversalAfterGrant,
    };
    let detail = format!("granted, and now {}: {}", standing.word, standing.why(order).join("; "));
    Some(Finding::new(Subject::Order(id.clone()), reason, detail))
}

/// Takes back what the policy says is to be taken back, and gives it back when the standing is restored. What a person
/// decided about an entitlement stays.
fn entitlement(
    ledger: &mut Ledger,
    id: &OrderId,
    order: &Order,
    unit: Unit,
    standing: &Standing,
    context: Context<'_>,
) -> Result<(), Need> {
    let Some(row) = ledger.entitlement(id, unit)?.cloned() else { return Ok(()) };
    let lost = standing.loss().is_some_and(|loss| loss.policy(context.policy) == AfterGrant::Revoke);
    let by_policy = row.revoked_at.is_some() && row.revoked_by.is_none();
    let revoked_at = match (lost, row.revoked_at) {
        (true, None) if row.kept_by.is_none() => Some(context.now),
        (false, Some(_)) if by_policy && standing.loss().is_none() => None,
        _ => return Ok(()),
    };
    let row = Entitlement { revoked_at, order_revision: order.revision + 1, ..row };
    ledger.entitlements.put((id.clone(), unit), row);
    Ok(())
}

/// The grant task of one unit: there while the order is eligible and the unit is not granted.
fn task(
    ledger: &mut Ledger,
    id: &OrderId,
    order: &Order,
    unit: Unit,
    eligible: bool,
    cause: &Cause<'_>,
    context: Context<'_>,
) -> Result<(), Need> {
    if ledger.entitlement(id, unit)?.is_some() {
        return Ok(());
    }
    let key = TaskKey::grant(id.clone(), unit);
    let task = match (eligible, ledger.task(&key)?) {
        (true, None) => Task::due(context.now, order.revision + 1, cause.trace.cloned()),
        (true, Some(task)) if task.state == TaskState::Cancelled => Task {
            state: TaskState::Pending,
            due_at: context.now,
            attempts: 0,
            order_revision: order.revision + 1,
            ..task.clone()
        },
        // What waits for a person waits no longer: there is nothing to grant.
        (false, Some(task)) if matches!(task.state, TaskState::Pending | TaskState::Held) => {
            Task { state: TaskState::Cancelled, ..task.clone() }
        }
        _ => return Ok(()),
    };
    if task.state == TaskState::Cancelled {
        outbox::end_cases(ledger, &key, context);
    }
    ledger.tasks.put(key, task);
    Ok(())
}
