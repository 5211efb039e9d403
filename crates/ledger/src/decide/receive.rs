//! Receiving a delivery: each event is decided alone, and all of it is one commit.

use crate::case::{Reason, Subject};
use crate::command::{Receive, Reprocess};
use crate::fact::Fact;
use crate::id::{EventKey, OrderId, PaymentKey, ReferenceKey};
use crate::key::Need;
use crate::ledger::{Ledger, Savepoint};
use crate::notice::{Claims, Notice, Reading};
use crate::policy::{Hints, SourcePolicy, Truth, Unmatched};
use crate::reply::{EventReply, Received, Refusal, Reply};
use crate::row::{Event, EventOutcome, Payment};
use crate::standing::Finding;

use super::bind::bind;
use super::settle::{Cause, settle};
use super::{Context, case, lookup};

pub(super) fn receive(ledger: &mut Ledger, command: &Receive, context: Context<'_>) -> Result<Reply, Need> {
    let replies = command.notices.iter().map(|notice| {
        let (received, order) = receive_one(ledger, command, notice, context)?;
        Ok(EventReply { event: notice.id.clone(), received, order })
    });
    replies.collect::<Result<_, Need>>().map(Reply::Received)
}

type One = (Received, Option<OrderId>);

fn receive_one(
    ledger: &mut Ledger,
    command: &Receive,
    notice: &Notice,
    context: Context<'_>,
) -> Result<One, Need> {
    let key = EventKey { account: command.account.clone(), id: notice.id.clone() };
    // P2: the row's key is the event's identity, whichever endpoint or secret carried it.
    if let Some(event) = ledger.event(&key)?.cloned() {
        return repeated(ledger, key, event, notice, context);
    }
    if let Some(finding) = misdirected(command, notice, &key) {
        let outcome = EventOutcome::Held(finding.reason);
        let received = Received::Held(finding.reason);
        store(ledger, key, command, notice, outcome, context);
        case::open(ledger, finding, None, None, context)?;
        return Ok((received, None));
    }
    match &notice.reading {
        Reading::Ignored => {
            store(ledger, key, command, notice, EventOutcome::Ignored, context);
            Ok((Received::Ignored, None))
        }
        Reading::Unreadable(why) => {
            // Never "not for us": it is kept, and a person sees it.
            store(ledger, key.clone(), command, notice, EventOutcome::Unreadable(why.clone()), context);
            let finding = Finding::new(Subject::Event(key), Reason::Unreadable, why.clone());
            case::open(ledger, finding, None, None, context)?;
            Ok((Received::Unreadable, None))
        }
        Reading::Facts(claims) => apply(ledger, key, command, notice, claims, context),
    }
}

/// Reads a stored event again, as the current contract reads it: one that was unreadable or ignored is applied through
/// the same joins as a new one. The bytes must be the stored ones.
pub(super) fn reprocess(
    ledger: &mut Ledger,
    command: &Reprocess,
    context: Context<'_>,
) -> Result<Reply, Need> {
    let (notice, receive) = (&command.notice, command.receive());
    let key = EventKey { account: command.account.clone(), id: notice.id.clone() };
    let Some(stored) = ledger.event(&key)?.cloned() else {
        return Ok(Reply::Refused(Refusal::UnknownEvent));
    };
    if stored.body != notice.body {
        return Ok(Reply::Refused(Refusal::OtherBytes));
    }
    if matches!(stored.outcome, EventOutcome::Applied | EventOutcome::Held(_)) {
        return Ok(Reply::Refused(Refusal::AlreadyApplied));
    }
    let start = ledger.savepoint();
    let reply =
        |received, order| Ok(Reply::Received(vec![EventReply { event: notice.id.clone(), received, order }]));
    // P6: what is not for this source moves nothing, whenever it is read.
    if let Some(finding) = misdirected(&receive, notice, &key) {
        let (outcome, received) = (EventOutcome::Held(finding.reason), Received::Held(finding.reason));
        ledger.events.put(key.clone(), Event { outcome, ..stored });
        case::settle(ledger, &Subject::Event(key), |case| case.reason == Reason::Unreadable, context);
        case::open(ledger, finding, None, None, context)?;
        return reply(received, None);
    }
    let mut again = Event { content: notice.content, kind: notice.kind.clone(), ..stored };
    let claims = match &notice.reading {
        Reading::Unreadable(why) => {
            again.outcome = EventOutcome::Unreadable(why.clone());
            ledger.events.put(key.clone(), again);
            let finding = Finding::new(Subject::Event(key), Reason::Unreadable, why.clone());
            case::open(ledger, finding, None, None, context)?;
            return reply(Received::Unreadable, None);
        }
        Reading::Ignored => {
            again.outcome = EventOutcome::Ignored;
            ledger.events.put(key.clone(), again);
            case::settle(ledger, &Subject::Event(key), |case| case.reason == Reason::Unreadable, context);
            return reply(Received::Ignored, None);
        }
        Reading::Facts(claims) => claims,
    };
    again.outcome = EventOutcome::Applied;
    again.payment = Some(claims.payment.clone());
    ledger.events.put(key.clone(), again);
    case::settle(ledger, &Subject::Event(key), |case| case.reason == Reason::Unreadable, context);
    let (received, order) = join_and_bind(ledger, &receive, notice, claims, &start, context)?;
    reply(received, order)
}

/// The identity is known: the same content is a duplicate, other content a conflict (P7).
fn repeated(
    ledger: &mut Ledger,
    key: EventKey,
    event: Event,
    notice: &Notice,
    context: Context<'_>,
) -> Result<One, Need> {
    let order = match &event.payment {
        Some(id) => {
            let payment = PaymentKey { account: key.account.clone(), id: id.clone() };
            ledger.payment(&payment)?.and_then(|payment| payment.order.clone())
        }
        None => None,
    };
    if event.content == notice.content {
        let duplicates = event.duplicates.saturating_add(1);
        ledger.events.put(key, Event { duplicates, last_at: context.now, ..event });
        return Ok((Received::Duplicate, order));
    }
    // Nothing of it depends on the first one's bytes, which may have been dropped: the same conflict is the same case then.
    let detail = format!(
        "the event came with two contents: first with digest {:?}, now with digest {:?}",
        event.content, notice.content
    );
    let finding = Finding::new(Subject::Event(key), Reason::PayloadConflict, detail);
    case::open(ledger, finding, order.as_ref(), Some(notice.body.clone()), context)?;
    Ok((Received::Conflict, order))
}

/// Genuine, and not for this source's account or mode: it moves nothing (P6).
fn misdirected(command: &Receive, notice: &Notice, key: &EventKey) -> Option<Finding> {
    let own = &command.account;
    let subject = || Subject::Event(key.clone());
    if let Some(account) = notice.account.as_ref().filter(|account| **account != own.name) {
        let detail = format!("it names account {account}; source {} is for {}", command.source, own.name);
        return Some(Finding::new(subject(), Reason::WrongAccount, detail));
    }
    let mode = notice.mode.filter(|mode| *mode != own.mode)?;
    let detail = format!("it is a {mode} event; source {} is for {}", command.source, own.mode);
    Some(Finding::new(subject(), Reason::WrongMode, detail))
}

fn store(
    ledger: &mut Ledger,
    key: EventKey,
    command: &Receive,
    notice: &Notice,
    outcome: EventOutcome,
    context: Context<'_>,
) {
    let payment = match &notice.reading {
        Reading::Facts(claims) if outcome == EventOutcome::Applied => Some(claims.payment.clone()),
        _ => None,
    };
    let event = Event {
        source: command.source.clone(),
        kind: notice.kind.clone(),
        outcome,
        payment,
        content: notice.content,
        body: notice.body.clone(),
        dropped_at: None,
        received_at: context.now,
        duplicates: 0,
        last_at: context.now,
        trace: command.trace.clone(),
    };
    ledger.events.put(key, event);
}

/// Stores the event, joins its facts, binds its payment and settles its order; or, where the source wants the
/// provider to try again, leaves no trace.
fn apply(
    ledger: &mut Ledger,
    key: EventKey,
    command: &Receive,
    notice: &Notice,
    claims: &Claims,
    context: Context<'_>,
) -> Result<One, Need> {
    let start = ledger.savepoint();
    store(ledger, key, command, notice, EventOutcome::Applied, context);
    join_and_bind(ledger, command, notice, claims, &start, context)
}

/// What an event's claims do to its payment and to the order that it serves.
fn join_and_bind(
    ledger: &mut Ledger,
    command: &Receive,
    notice: &Notice,
    claims: &Claims,
    start: &Savepoint,
    context: Context<'_>,
) -> Result<One, Need> {
    let policy = context.policy.source(&command.source);
    let payment = PaymentKey { account: command.account.clone(), id: claims.payment.clone() };
    mention(ledger, &payment, command, notice, &policy, context)?;
    match policy.truth {
        Truth::Event => join(ledger, &payment, &claims.facts)?,
        // The event's own word proves nothing; that it came means that somebody must ask.
        Truth::Fetch => join(ledger, &payment, &[Fact::announced()])?,
    }
    let Some(order) = bind(ledger, &payment, context)? else {
        lookup::settle_unbound(ledger, &payment, command.trace.as_ref(), context)?;
        return unmatched(ledger, &payment, &policy, start, context);
    };
    settle(ledger, &order, &Cause { since: start, trace: command.trace.as_ref() }, context)?;
    Ok((Received::Accepted, Some(order)))
}

/// The payment's row, with everything this event names added to it.
fn mention(
    ledger: &mut Ledger,
    key: &PaymentKey,
    command: &Receive,
    notice: &Notice,
    policy: &SourcePolicy,
    context: Context<'_>,
) -> Result<(), Need> {
    let known = ledger.payment(key)?.cloned();
    let mut payment = known.clone().unwrap_or_else(|| Payment::new(context.now));
    let counts =
        |mention: &ReferenceKey| policy.hints == Hints::OwnIds || !matches!(mention, ReferenceKey::Own(_));
    payment.mentions.extend(command.mentions(notice).into_iter().filter(counts));
    if known.as_ref() != Some(&payment) {
        ledger.payments.put(key.clone(), payment);
    }
    Ok(())
}

fn join(ledger: &mut Ledger, payment: &PaymentKey, facts: &[Fact]) -> Result<(), Need> {
    let asked = ledger.payment(payment)?.map_or(0, |payment| payment.asked);
    for fact in facts {
        let fact = fact.clone().asked(asked);
        let standing = ledger.fact(payment, &fact.key)?;
        let joined = fact.join_into(standing);
        if standing != Some(joined) {
            ledger.facts.put((payment.clone(), fact.key.clone()), joined);
        }
    }
    Ok(())
}

fn unmatched(
    ledger: &mut Ledger,
    payment: &PaymentKey,
    policy: &SourcePolicy,
    start: &Savepoint,
    context: Context<'_>,
) -> Result<One, Need> {
    match policy.unmatched {
        Unmatched::Keep => {}
        Unmatched::Reject => {
            ledger.undo_to_savepoint(start);
            return Ok((Received::Rejected, None));
        }
        Unmatched::Hold => {
            let detail = "it names no order that is known here".to_owned();
            let finding = Finding::new(Subject::Payment(payment.clone()), Reason::Unbound, detail);
            case::open(ledger, finding, None, None, context)?;
        }
    }
    Ok((Received::Unbound, None))
}
