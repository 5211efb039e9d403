//! Lookups: their numbers, and their answers. Serial per payment, so that a slow old answer is refused.

use crate::command::{AskLookup, Observe};
use crate::fact::{DisputeState, Fact, FactKey, FactValue};
use crate::key::Need;
use crate::ledger::Ledger;
use crate::reply::{Refusal, Reply};
use crate::row::Payment;

use super::bind::bind;
use super::settle::{Cause, settle};
use super::{Context, lookup};

pub(super) fn ask(ledger: &mut Ledger, command: &AskLookup) -> Result<Reply, Need> {
    let Some(payment) = ledger.payment(&command.payment)?.cloned() else {
        return Ok(Reply::Refused(Refusal::UnknownPayment));
    };
    let asked = payment.asked.saturating_add(1);
    ledger.payments.put(command.payment.clone(), Payment { asked, ..payment });
    Ok(Reply::Asked(asked))
}

pub(super) fn observe(ledger: &mut Ledger, command: &Observe, context: Context<'_>) -> Result<Reply, Need> {
    let key = &command.payment;
    let Some(payment) = ledger.payment(key)?.cloned() else {
        return Ok(Reply::Refused(Refusal::UnknownPayment));
    };
    if command.number > payment.asked {
        return Ok(Reply::Refused(Refusal::NeverAsked));
    }
    let fell = command.provider_revision < payment.provider_revision;
    if command.number <= payment.listing || fell {
        return Ok(Reply::Refused(Refusal::OlderSnapshot { have: payment.listing }));
    }
    let since = ledger.savepoint();
    let (listing, provider_revision) = (command.number, command.provider_revision);
    let listed_at = Some(context.now);
    ledger.payments.put(key.clone(), Payment { listing, listed_at, provider_revision, ..payment });
    for fact in &command.facts {
        let fact = fact.clone().asked(command.number);
        let standing = ledger.fact(key, &fact.key)?;
        let value = settled(&fact, standing);
        ledger.facts.put((key.clone(), fact.key), value);
    }
    match bind(ledger, key, context)? {
        Some(order) => settle(ledger, &order, &Cause { since: &since, trace: None }, context)?,
        None => lookup::settle_unbound(ledger, key, None, context)?,
    }
    Ok(Reply::Observed)
}

/// The listing's word joined with what stood, but for a dispute stage that was both won and lost: that is what the
/// provider was asked, and its answer stands.
fn settled(fact: &Fact, standing: Option<FactValue>) -> FactValue {
    let contradictory = DisputeState::WonAndLost as u8;
    match standing {
        Some(before) if matches!(fact.key, FactKey::Disputed { .. }) && before.rank == contradictory => {
            FactValue { amount_minor: before.amount_minor.max(fact.value.amount_minor), ..fact.value }
        }
        standing => fact.join_into(standing),
    }
}
