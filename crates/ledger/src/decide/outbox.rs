//! The life of a task: claimed, prepared, called, settled. A step without the task's present version is refused (P9).

use crate::case::{Case, CaseKey, Reason, Subject};
use crate::command::{Claim, Outcome, Prepare, Renew, Settle};
use crate::key::Need;
use crate::ledger::Ledger;
use crate::policy::{EffectRule, Retries};
use crate::reply::{Claimed, Refusal, Reply};
use crate::row::Payment;
use crate::standing::Finding;
use crate::task::{Attempt, AttemptKey, Happening, Lease, Request, Task, TaskKey, TaskState, Work};
use crate::time::Timestamp;

use super::{Context, case};

/// A request is sent again only if it can arrive this long before the receiver forgets its key.
const WINDOW_MARGIN_MS: i64 = 60_000;

pub(super) fn claim(ledger: &mut Ledger, command: &Claim, context: Context<'_>) -> Result<Reply, Need> {
    let key = &command.task;
    let Some(task) = ledger.task(key)?.cloned() else {
        return Ok(Reply::Refused(Refusal::UnknownTask));
    };
    if let Some(lease) = &task.lease {
        if lease.owner == command.owner && lease.until > context.now {
            // P2: its first execution, whose commit's outcome was lost.
            return Ok(Reply::Claimed(claimed(ledger, key, &task, lease, context)?));
        }
        if lease.until > context.now {
            return Ok(Reply::NotClaimed(task.state));
        }
    }
    let task = abandoned(ledger, key, task, context);
    let waits = task.due_at > context.now && task.lease.is_none();
    if !task.state.active() || waits || !known(key, context) {
        ledger.tasks.put(key.clone(), task.clone());
        return Ok(Reply::NotClaimed(task.state));
    }
    if let Some(end) = ended(ledger, key, &task, context)? {
        let task = end_task(ledger, key, task, end, context)?;
        return Ok(Reply::NotClaimed(task));
    }
    if let (Work::Lookup, Subject::Payment(payment)) = (&key.work, &key.subject)
        && let Some(row) = ledger.payment(payment)?.cloned()
    {
        // Serial, under this lease: the number tells an old answer from a new one.
        ledger.payments.put(payment.clone(), Payment { asked: row.asked.saturating_add(1), ..row });
    }
    let until = context.now.plus_ms(command.lease_ms);
    let lease = Lease { owner: command.owner.clone(), until };
    let task = Task {
        version: task.version + 1,
        attempts: task.attempts.saturating_add(1),
        due_at: until,
        lease: Some(lease.clone()),
        ..task
    };
    ledger.tasks.put(key.clone(), task.clone());
    Ok(Reply::Claimed(claimed(ledger, key, &task, &lease, context)?))
}

/// A task whose worker is gone: what it was calling may have arrived.
pub(super) fn abandoned(ledger: &mut Ledger, key: &TaskKey, task: Task, context: Context<'_>) -> Task {
    let Some(lease) = task.lease.as_ref().filter(|lease| lease.until <= context.now) else { return task };
    let attempt = Attempt {
        owner: lease.owner.clone(),
        at: context.now,
        took_ms: 0,
        outcome: Outcome::Uncertain.as_str().into(),
        detail: "the lease ended and nobody said what came of it".into(),
    };
    ledger.attempts.put(AttemptKey { task: key.clone(), version: task.version }, attempt);
    let calling = task.state == TaskState::Calling;
    let request = task.request.map(|request| Request { uncertain: request.uncertain || calling, ..request });
    let state = if calling { TaskState::Uncertain } else { task.state };
    // P9: the version rises, so that whoever comes back late is refused.
    Task { state, request, lease: None, version: task.version + 1, due_at: context.now, ..task }
}

/// Whether this installation's policy knows what would carry it out. An unknown name is left alone: another process,
/// of another release, may know it.
fn known(key: &TaskKey, context: Context<'_>) -> bool {
    match (&key.work, &key.subject) {
        (Work::Grant(_), _) => false,
        (Work::Lookup, Subject::Payment(payment)) => context.policy.lookups.contains_key(&payment.account),
        (Work::Lookup, _) => false,
        (Work::Sync { effect, .. } | Work::Send { effect, .. }, _) => {
            context.policy.effects.contains_key(effect)
        }
    }
}

fn rule<'a>(key: &TaskKey, context: Context<'a>) -> Option<&'a EffectRule> {
    key.effect().and_then(|effect| context.policy.effects.get(effect))
}

pub(super) fn retries(key: &TaskKey, context: Context<'_>) -> Retries {
    match &key.subject {
        Subject::Payment(payment) if key.work == Work::Lookup => {
            context.policy.lookups.get(&payment.account).map(|rule| rule.retries).unwrap_or_default()
        }
        _ if matches!(key.work, Work::Grant(_)) => context.policy.grant_retries,
        _ => rule(key, context).map(|rule| rule.retries).unwrap_or_default(),
    }
}

/// Why a task is not tried (again).
enum End {
    /// Nobody wants it any more.
    NotWanted,
    /// It was tried as often as it may be.
    Exhausted,
    /// Its outcome is unknown, and asking again is all that could be done, and cannot be.
    Unknown,
}

fn ended(ledger: &Ledger, key: &TaskKey, task: &Task, context: Context<'_>) -> Result<Option<End>, Need> {
    if !wanted(ledger, key)? {
        return Ok(Some(End::NotWanted));
    }
    if unsafe_to_repeat(key, task, context) && !rule(key, context).is_some_and(|rule| rule.can_ask) {
        return Ok(Some(End::Unknown));
    }
    let exhausted = key.work != Work::Lookup && task.attempts >= retries(key, context).attempts_max;
    Ok(exhausted.then_some(End::Exhausted))
}

/// P11: a request that may have arrived is repeated only while the receiver knows its key.
fn unsafe_to_repeat(key: &TaskKey, task: &Task, context: Context<'_>) -> bool {
    let Some(request) = task.request.as_ref().filter(|request| request.uncertain) else { return false };
    let window = rule(key, context).and_then(|rule| rule.key_window_ms);
    window.is_none_or(|window| request.first_at.plus_ms(window - WINDOW_MARGIN_MS) <= context.now)
}

/// P8: what is told as granted must be granted when it is sent. Everything else stays true once it happened.
fn wanted(ledger: &Ledger, key: &TaskKey) -> Result<bool, Need> {
    let (Some(order), Work::Send { unit, occasion, .. }) = (key.order(), &key.work) else { return Ok(true) };
    let grants = matches!(occasion.what, Happening::EntitlementGranted | Happening::EntitlementReinstated);
    if !grants {
        return Ok(true);
    }
    Ok(ledger.entitlement(order, *unit)?.is_some_and(|row| row.revoked_at.is_none()))
}

fn claimed(
    ledger: &Ledger,
    key: &TaskKey,
    task: &Task,
    lease: &Lease,
    context: Context<'_>,
) -> Result<Claimed, Need> {
    let number = match &key.subject {
        Subject::Payment(payment) if key.work == Work::Lookup => {
            ledger.payment(payment)?.map_or(0, |payment| payment.asked)
        }
        _ => 0,
    };
    let revision = task.request.as_ref().map_or(task.order_revision, |request| request.revision);
    Ok(Claimed {
        version: task.version,
        until: lease.until,
        attempt: task.attempts,
        revision: task.order_revision,
        idempotency_key: key.idempotency_key(revision),
        request: task.request.clone(),
        ask: unsafe_to_repeat(key, task, context),
        number,
    })
}

/// The task under a lease that still holds.
fn leased(ledger: &Ledger, key: &TaskKey, version: u64, context: Context<'_>) -> Result<Option<Task>, Need> {
    let task = ledger.task(key)?.filter(|task| task.version == version);
    Ok(task.filter(|task| task.lease.as_ref().is_some_and(|lease| lease.until > context.now)).cloned())
}

pub(super) fn renew(ledger: &mut Ledger, command: &Renew, context: Context<'_>) -> Result<Reply, Need> {
    let Some(task) = leased(ledger, &command.task, command.version, context)? else {
        return Ok(Reply::Refused(Refusal::LeaseLost));
    };
    let until = context.now.plus_ms(command.lease_ms);
    let lease = task.lease.clone().map(|lease| Lease { until, ..lease });
    ledger.tasks.put(command.task.clone(), Task { lease, due_at: until, ..task });
    Ok(Reply::Renewed(until))
}

pub(super) fn prepare(ledger: &mut Ledger, command: &Prepare, context: Context<'_>) -> Result<Reply, Need> {
    let key = &command.task;
    let Some(task) = leased(ledger, key, command.version, context)? else {
        return Ok(Reply::Refused(Refusal::LeaseLost));
    };
    if !wanted(ledger, key)? {
        return Ok(Reply::Refused(Refusal::NotWanted));
    }
    if unsafe_to_repeat(key, &task, context) {
        return Ok(Reply::Refused(Refusal::NotWanted));
    }
    // P11: the bytes that were rendered first are the bytes, whatever a later try would render.
    let request = match &task.request {
        Some(request) => request.clone(),
        None if command.revision != task.order_revision => {
            return Ok(Reply::Refused(Refusal::Superseded));
        }
        None => Request {
            revision: command.revision,
            body: command.body.clone(),
            first_at: context.now,
            uncertain: false,
        },
    };
    let (state, stored) = (TaskState::Calling, Some(request.clone()));
    ledger.tasks.put(key.clone(), Task { state, request: stored, ..task });
    Ok(Reply::Prepared(request))
}

pub(super) fn record(ledger: &mut Ledger, command: &Settle, context: Context<'_>) -> Result<Reply, Need> {
    let key = &command.task;
    let Some(task) = ledger.task(key)?.filter(|task| task.version == command.version).cloned() else {
        return Ok(Reply::Refused(Refusal::LeaseLost));
    };
    let Some(lease) = task.lease.clone() else {
        // P2: it was recorded before, or what it was for has ended.
        return Ok(Reply::Settled(task.state));
    };
    let attempt = Attempt {
        owner: lease.owner,
        at: context.now,
        took_ms: command.took_ms,
        outcome: command.outcome.as_str().into(),
        detail: command.detail.clone(),
    };
    ledger.attempts.put(AttemptKey { task: key.clone(), version: task.version }, attempt);
    let task = Task { lease: None, ..task };
    let state = match &command.outcome {
        // An answer that settled everything has ended the task with it; what is here is still owed.
        Outcome::Done if key.work == Work::Lookup => {
            again(ledger, key, task, None, &command.detail, context)?
        }
        Outcome::Done => done(ledger, key, task, context),
        Outcome::Retry(not_before) => {
            // Nothing was prepared in this try, so the receiver was asked what became of an earlier one, and does not
            // have it: it may be sent again.
            let asked = task.state == TaskState::Uncertain;
            let request = task.request.clone();
            let request = request.map(|sent| Request { uncertain: sent.uncertain && !asked, ..sent });
            let task = Task { state: TaskState::Pending, request, ..task };
            again(ledger, key, task, *not_before, &command.detail, context)?
        }
        // Nothing was prepared, so nothing of it can have left.
        Outcome::Uncertain if task.request.is_none() && key.work != Work::Lookup => {
            again(ledger, key, Task { state: TaskState::Pending, ..task }, None, &command.detail, context)?
        }
        Outcome::Uncertain => {
            let request = task.request.clone().map(|request| Request { uncertain: true, ..request });
            let task = Task { state: TaskState::Uncertain, request, ..task };
            again(ledger, key, task, None, &command.detail, context)?
        }
        Outcome::Refused => held(ledger, key, task, Reason::TaskFailed, &command.detail, context)?,
        Outcome::NotConfigured => put(ledger, key, Task { state: TaskState::Parked, ..task }),
    };
    Ok(Reply::Settled(state))
}

fn put(ledger: &mut Ledger, key: &TaskKey, task: Task) -> TaskState {
    let state = task.state;
    ledger.tasks.put(key.clone(), task);
    state
}

/// It arrived. A copy for which something newer is desired meanwhile goes on with that.
fn done(ledger: &mut Ledger, key: &TaskKey, task: Task, context: Context<'_>) -> TaskState {
    let sent = task.request.as_ref().map_or(task.order_revision, |request| request.revision);
    let delivered = task.delivered.max(sent);
    let newer = matches!(key.work, Work::Sync { .. }) && task.order_revision > delivered;
    end_cases(ledger, key, context);
    let task = Task { delivered, request: None, ..task };
    if newer {
        let fresh = Task { state: TaskState::Pending, due_at: context.now, attempts: 0, ..task };
        return put(ledger, key, fresh);
    }
    put(ledger, key, Task { state: TaskState::Done, ..task })
}

/// It is tried again, later; or it has been tried often enough.
pub(super) fn again(
    ledger: &mut Ledger,
    key: &TaskKey,
    task: Task,
    not_before: Option<Timestamp>,
    detail: &str,
    context: Context<'_>,
) -> Result<TaskState, Need> {
    let retries = retries(key, context);
    let sent = task.request.as_ref().map(|request| request.revision);
    // What was not delivered is passed by what is newer.
    if matches!(key.work, Work::Sync { .. }) && sent.is_some_and(|sent| sent < task.order_revision) {
        let fresh =
            Task { state: TaskState::Pending, request: None, attempts: 0, due_at: context.now, ..task };
        return Ok(put(ledger, key, fresh));
    }
    if key.work == Work::Lookup {
        impatient(ledger, key, &task, detail, context)?;
    } else if task.attempts >= retries.attempts_max {
        let reason =
            if task.state == TaskState::Uncertain { Reason::OutcomeUnknown } else { Reason::TaskFailed };
        return held(ledger, key, task, reason, detail, context);
    }
    let wait = backoff_ms(key, task.attempts, retries);
    let due_at = not_before.unwrap_or(context.now).max(context.now.plus_ms(wait));
    Ok(put(ledger, key, Task { due_at, ..task }))
}

/// Twice as long after each try, at most `longest_ms`, and by up to a fifth shorter: spread by the task's own digest, so
/// that what failed together does not come back together, and the same program decides the same.
fn backoff_ms(key: &TaskKey, attempts: u32, retries: Retries) -> i64 {
    let doubled = retries.first_ms.saturating_mul(1_i64 << attempts.saturating_sub(1).min(40));
    let wait = doubled.clamp(0, retries.longest_ms.max(0));
    let spread = i64::from(key.digest().0[(attempts % 32) as usize]);
    wait - wait / 5 * spread / 255
}

/// A lookup that keeps failing is tried on, and a person is told.
fn impatient(
    ledger: &mut Ledger,
    key: &TaskKey,
    task: &Task,
    detail: &str,
    context: Context<'_>,
) -> Result<(), Need> {
    let Subject::Payment(payment) = &key.subject else { return Ok(()) };
    let Some(rule) = context.policy.lookups.get(&payment.account) else { return Ok(()) };
    if task.created_at.plus_ms(rule.patience_ms) > context.now {
        return Ok(());
    }
    open(ledger, key, Reason::LookupFailing, format!("the provider could not be asked: {detail}"), context)
}

fn held(
    ledger: &mut Ledger,
    key: &TaskKey,
    task: Task,
    reason: Reason,
    detail: &str,
    context: Context<'_>,
) -> Result<TaskState, Need> {
    let tries = task.attempts;
    anew(ledger, key, reason)?;
    open(ledger, key, reason, format!("{key}, after {tries} tries: {detail}"), context)?;
    Ok(put(ledger, key, Task { state: TaskState::Held, ..task }))
}

fn end_task(
    ledger: &mut Ledger,
    key: &TaskKey,
    task: Task,
    end: End,
    context: Context<'_>,
) -> Result<TaskState, Need> {
    match end {
        End::NotWanted => Ok(put(ledger, key, Task { state: TaskState::Cancelled, lease: None, ..task })),
        End::Exhausted => held(ledger, key, task, Reason::TaskFailed, "no try is left", context),
        End::Unknown => {
            let detail = "it may have arrived, and the receiver no longer knows its key";
            held(ledger, key, task, Reason::OutcomeUnknown, detail, context)
        }
    }
}

/// What a person had ended and tried again has come back: they see it again.
fn anew(ledger: &mut Ledger, key: &TaskKey, reason: Reason) -> Result<(), Need> {
    let known = CaseKey { subject: key.subject.clone(), reason, evidence: key.digest() };
    if let Some(case) = ledger.case(&known)?.filter(|case| case.resolution.is_some()).cloned() {
        ledger.cases.put(known, Case { resolution: None, ..case });
    }
    Ok(())
}

/// One case for each task and reason, however often it comes back.
fn open(
    ledger: &mut Ledger,
    key: &TaskKey,
    reason: Reason,
    detail: String,
    context: Context<'_>,
) -> Result<(), Need> {
    let finding = Finding { subject: key.subject.clone(), reason, evidence: key.digest(), detail };
    let order = match &key.subject {
        Subject::Order(order) => Some(order.clone()),
        Subject::Payment(payment) => ledger.payment(payment)?.and_then(|payment| payment.order.clone()),
        Subject::Event(_) => None,
    };
    case::open(ledger, finding, order.as_ref(), None, context)
}

/// Ends the cases that a task became: it is done, or passed by something newer.
pub(super) fn end_cases(ledger: &mut Ledger, key: &TaskKey, context: Context<'_>) {
    let evidence = key.digest();
    let reasons = [Reason::TaskFailed, Reason::OutcomeUnknown, Reason::LookupFailing];
    case::settle(
        ledger,
        &key.subject,
        |case| case.evidence == evidence && reasons.contains(&case.reason),
        context,
    );
}
