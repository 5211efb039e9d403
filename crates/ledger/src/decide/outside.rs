//! Money that moved outside any provider: a fact with its own id, like every other.

use crate::command::{MarkOutside, Outside};
use crate::fact::{CaptureState, Fact, RefundState};
use crate::key::Need;
use crate::ledger::Ledger;
use crate::reply::{Refusal, Reply};
use crate::row::Payment;

use super::Context;
use super::settle::{Cause, settle};

pub(super) fn mark(ledger: &mut Ledger, command: &MarkOutside, context: Context<'_>) -> Result<Reply, Need> {
    let Some(mut order) = ledger.order(&command.order)?.cloned() else {
        return Ok(Reply::Refused(Refusal::UnknownOrder));
    };
    let key = command.payment();
    let known = ledger.payment(&key)?.cloned();
    let of_another = known.as_ref().is_some_and(|payment| payment.order.as_ref() != Some(&command.order));
    let (id, money) = (command.id.clone(), Some(command.money.clone()));
    let fact = match &command.what {
        Outside::Paid => Fact::captured(id, CaptureState::Settled, money),
        Outside::PaidReversed if known.is_none() => return Ok(Reply::Refused(Refusal::UnknownPayment)),
        Outside::PaidReversed => Fact::captured(id, CaptureState::Reversed, money),
        Outside::Refunded(_) if known.is_none() => return Ok(Reply::Refused(Refusal::UnknownPayment)),
        Outside::Refunded(_) => Fact::refunded(id, RefundState::Succeeded, money),
    };
    if of_another {
        return Ok(Reply::Refused(Refusal::NotOfThisOrder));
    }
    let since = ledger.savepoint();
    if known.is_none() {
        let payment = Payment { order: Some(command.order.clone()), ..Payment::new(context.now) };
        ledger.payments.put(key.clone(), payment);
        order.payments.insert(key.clone());
        ledger.orders.put(command.order.clone(), order);
    }
    let standing = ledger.fact(&key, &fact.key)?;
    let joined = fact.join_into(standing);
    if standing != Some(joined) {
        ledger.facts.put((key, fact.key), joined);
    }
    settle(ledger, &command.order, &Cause { since: &since, trace: None }, context)?;
    Ok(Reply::Done)
}
