//! Which payments are to be looked up: those that owe it, at accounts where that can be done.

use std::sync::Arc;

use crate::case::Subject;
use crate::fact::{Fact, FactKey};
use crate::id::PaymentKey;
use crate::key::Need;
use crate::ledger::Ledger;
use crate::order::Order;
use crate::task::{Task, TaskKey, TaskState, Work};

use super::{Context, outbox};

/// The lookup of one payment.
pub(super) fn task_of(payment: &PaymentKey) -> TaskKey {
    TaskKey { subject: Subject::Payment(payment.clone()), work: Work::Lookup }
}

/// The lookup's task: there while the payment owes one. Where nobody can be asked, what is owed is a case.
pub(super) fn settle(
    ledger: &mut Ledger,
    payment: &PaymentKey,
    owed: bool,
    trace: Option<&Arc<str>>,
    context: Context<'_>,
) -> Result<(), Need> {
    if !context.policy.lookups.contains_key(&payment.account) {
        return Ok(());
    }
    let key = task_of(payment);
    let known = ledger.task(&key)?.cloned();
    let task = match (owed, known) {
        (true, None) => Task::due(context.now, 0, trace.cloned()),
        // Owed anew: what was tried for the last answer counts no more.
        (true, Some(task)) if matches!(task.state, TaskState::Done | TaskState::Cancelled) => {
            let version = task.version;
            Task { version, ..Task::due(context.now, 0, trace.cloned()) }
        }
        (false, Some(task)) if task.state.active() || task.state == TaskState::Held => {
            outbox::end_cases(ledger, &key, context);
            Task { state: TaskState::Done, lease: None, ..task }
        }
        _ => return Ok(()),
    };
    ledger.tasks.put(key, task);
    Ok(())
}

/// As [`settle`], for a payment that serves no order: only what was announced is owed then.
pub(super) fn settle_unbound(
    ledger: &mut Ledger,
    payment: &PaymentKey,
    trace: Option<&Arc<str>>,
    context: Context<'_>,
) -> Result<(), Need> {
    let owed = ledger.facts_of(payment).contains_key(&FactKey::Announced);
    settle(ledger, payment, owed, trace, context)
}

/// Whether the provider is to be asked before this order is granted, and has not been lately: then every payment that
/// can be looked up owes it.
pub(super) fn wanted_before_grant(
    ledger: &mut Ledger,
    order: &Order,
    context: Context<'_>,
) -> Result<bool, Need> {
    let Some(fresh_ms) = context.policy.grant_check_ms else { return Ok(false) };
    let mut wanted = false;
    for key in &order.payments {
        let Some(payment) = ledger.payment(key)? else { continue };
        let fresh = payment.listed_at.is_some_and(|at| at.plus_ms(fresh_ms) >= context.now);
        if fresh || !context.policy.lookups.contains_key(&key.account) {
            continue;
        }
        let fact = Fact::announced().asked(payment.asked);
        let standing = ledger.fact(key, &fact.key)?;
        ledger.facts.put((key.clone(), fact.key.clone()), fact.join_into(standing));
        wanted = true;
    }
    Ok(wanted)
}
