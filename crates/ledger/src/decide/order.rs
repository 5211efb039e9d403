//! The merchant's commands about orders: place, register a reference, cancel.

use std::collections::BTreeSet;

use crate::command::{CancelOrder, PlaceOrder, RegisterReference};
use crate::id::ReferenceKey;
use crate::key::Need;
use crate::ledger::Ledger;
use crate::order::{Order, OrderState};
use crate::reply::{Refusal, Reply};
use crate::standing::Word;

use super::bind::{Taken, bind_waiting, register as register_row};
use super::settle::{Cause, settle, standing};
use super::{Context, stock};

pub(super) fn place(ledger: &mut Ledger, command: &PlaceOrder, context: Context<'_>) -> Result<Reply, Need> {
    let request = command.request();
    if let Some(order) = ledger.order(&command.order)? {
        if order.request != request {
            return Ok(Reply::Refused(Refusal::OrderExists));
        }
        // Its token belongs to the request that placed it.
        return Ok(Reply::Placed { order: command.order.clone(), hint: order.hint.clone(), token: None });
    }
    let since = ledger.savepoint();
    // P12, P13: decided on every attempt, in the order's own commit.
    let stock = match stock::reserve(ledger, command)? {
        Ok(stock) => stock,
        Err(refusal) => return Ok(Reply::Refused(refusal)),
    };
    for reference in &command.references {
        let key = reference.key();
        if let Err(taken) = register_row(ledger, &key, &command.order, reference.expected.as_ref())? {
            return Ok(refused(taken));
        }
    }
    let keys = command.reference_keys();
    let (registered, ways): (BTreeSet<_>, BTreeSet<_>) =
        keys.iter().cloned().partition(|key| matches!(key, ReferenceKey::Provider(..)));
    ledger.orders.put(command.order.clone(), Order { stock, ..new_order(command, registered, context) });
    for way in &ways {
        if let Err(taken) = register_row(ledger, way, &command.order, None)? {
            return Ok(refused(taken));
        }
    }
    bind_waiting(ledger, keys, context)?;
    settle(ledger, &command.order, &Cause { since: &since, trace: command.trace.as_ref() }, context)?;
    let token = command.token.as_ref().map(|token| token.secret.clone());
    Ok(Reply::Placed { order: command.order.clone(), hint: command.hint.clone(), token })
}

fn new_order(command: &PlaceOrder, references: BTreeSet<ReferenceKey>, context: Context<'_>) -> Order {
    Order {
        customer: command.customer.clone(),
        lines: command.lines.clone(),
        total: command.total.clone(),
        fulfil: command.fulfil,
        hint: command.hint.clone(),
        state: OrderState::Open,
        closed_covering_minor: 0,
        placed_at: context.now,
        expires_at: command.expires_at,
        request: command.request(),
        token: command.token.clone(),
        stock: None,
        revision: 0,
        payments: BTreeSet::new(),
        references,
        trace: command.trace.clone(),
    }
}

fn refused(taken: Taken) -> Reply {
    Reply::Refused(match taken {
        Taken::By(by) => Refusal::ReferenceTaken { by },
        Taken::Differs => Refusal::ReferenceDiffers,
    })
}

pub(super) fn register(
    ledger: &mut Ledger,
    command: &RegisterReference,
    context: Context<'_>,
) -> Result<Reply, Need> {
    let Some(mut order) = ledger.order(&command.order)?.cloned() else {
        return Ok(Reply::Refused(Refusal::UnknownOrder));
    };
    let since = ledger.savepoint();
    let key = command.reference.key();
    if let Err(taken) = register_row(ledger, &key, &command.order, command.reference.expected.as_ref())? {
        return Ok(refused(taken));
    }
    if order.references.insert(key.clone()) {
        ledger.orders.put(command.order.clone(), order);
    }
    bind_waiting(ledger, [key], context)?;
    settle(ledger, &command.order, &Cause { since: &since, trace: None }, context)?;
    Ok(Reply::Registered)
}

pub(super) fn cancel(
    ledger: &mut Ledger,
    command: &CancelOrder,
    context: Context<'_>,
) -> Result<Reply, Need> {
    let Some(order) = ledger.order(&command.order)?.cloned() else {
        return Ok(Reply::Refused(Refusal::UnknownOrder));
    };
    if ledger.entitlements_of(&command.order).any(|(_, entitlement)| entitlement.revoked_at.is_none()) {
        return Ok(Reply::Refused(Refusal::AlreadyGranted));
    }
    let since = ledger.savepoint();
    if order.state == OrderState::Open {
        let stands = standing(ledger, &command.order, &order, context)?;
        let untouched = stands.word == Word::Unpaid && stands.captured_minor == 0;
        if command.unpaid && !untouched {
            return Ok(Reply::Refused(Refusal::NotUnpaid));
        }
        let closed_covering_minor = stands.covering_minor;
        let closed = Order { state: OrderState::Cancelled, closed_covering_minor, ..order };
        ledger.orders.put(command.order.clone(), closed);
    }
    settle(ledger, &command.order, &Cause { since: &since, trace: None }, context)?;
    Ok(Reply::Cancelled)
}
