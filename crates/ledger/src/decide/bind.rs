//! Which order a payment serves (DESIGN section 6.5). A payment serves one order for ever.

use std::collections::BTreeSet;

use crate::case::{Reason, Subject};
use crate::fact::Facts;
use crate::id::{OrderId, PaymentKey, ReferenceKey};
use crate::key::Need;
use crate::ledger::Ledger;
use crate::order::Order;
use crate::row::{Payment, Reference};
use crate::standing::Finding;

use super::{Context, case};

/// Where everything that a payment named leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Binding {
    /// To this order.
    To(OrderId),
    /// To no order that exists.
    Nowhere,
    /// To a decision that a person must make.
    Held(Option<OrderId>, Reason, String),
}

/// Binds an unbound payment if what it named leads to one order. Otherwise leaves it where a later registration
/// or order will find it.
pub(super) fn bind(
    ledger: &mut Ledger,
    key: &PaymentKey,
    context: Context<'_>,
) -> Result<Option<OrderId>, Need> {
    let Some(payment) = ledger.payment(key)?.cloned() else { return Ok(None) };
    if payment.order.is_some() {
        return named_another(ledger, key, &payment, context);
    }
    match resolve(ledger, key, &payment)? {
        Binding::To(id) => {
            let Some(mut order) = ledger.order(&id)?.cloned() else { return Ok(None) };
            order.payments.insert(key.clone());
            ledger.orders.put(id.clone(), order);
            ledger.payments.put(key.clone(), Payment { order: Some(id.clone()), ..payment });
            let unbound =
                [Reason::Unbound, Reason::NamesTwoOrders, Reason::HintRefused, Reason::WrongMoneyUnit];
            let over = |case: &crate::case::CaseKey| unbound.contains(&case.reason);
            case::settle(ledger, &Subject::Payment(key.clone()), over, context);
            Ok(Some(id))
        }
        Binding::Nowhere => wait(ledger, key, &payment.mentions).map(|()| None),
        Binding::Held(order, reason, detail) => {
            let finding = Finding::new(Subject::Payment(key.clone()), reason, detail);
            case::open(ledger, finding, order.as_ref(), None, context)?;
            wait(ledger, key, &payment.mentions).map(|()| None)
        }
    }
}

/// A bound payment stays where it is. If it names another order as well, a person must know.
fn named_another(
    ledger: &mut Ledger,
    key: &PaymentKey,
    payment: &Payment,
    context: Context<'_>,
) -> Result<Option<OrderId>, Need> {
    let named = orders_named(ledger, &payment.mentions, |_| true)?;
    for other in named.iter().filter(|id| Some(*id) != payment.order.as_ref()) {
        let detail = format!("it serves another order and also names order {other}");
        let finding = Finding::new(Subject::Payment(key.clone()), Reason::NamesTwoOrders, detail);
        case::open(ledger, finding, payment.order.as_ref(), None, context)?;
    }
    Ok(payment.order.clone())
}

/// Leaves the payment in every row through which its order may come.
fn wait(ledger: &mut Ledger, key: &PaymentKey, mentions: &BTreeSet<ReferenceKey>) -> Result<(), Need> {
    for mention in mentions {
        let mut reference = ledger.reference(mention)?.cloned().unwrap_or_default();
        if reference.payments.insert(key.clone()) {
            ledger.references.put(mention.clone(), reference);
        }
    }
    Ok(())
}

fn orders_named(
    ledger: &Ledger,
    mentions: &BTreeSet<ReferenceKey>,
    which: fn(&ReferenceKey) -> bool,
) -> Result<BTreeSet<OrderId>, Need> {
    let mut orders = BTreeSet::new();
    for mention in mentions.iter().filter(|mention| which(mention)) {
        orders.extend(ledger.reference(mention)?.and_then(|reference| reference.order.clone()));
    }
    Ok(orders)
}

/// By a registered reference; else by a hint, within limits; never by both if they disagree.
pub(super) fn resolve(ledger: &Ledger, key: &PaymentKey, payment: &Payment) -> Result<Binding, Need> {
    let registered = |mention: &ReferenceKey| matches!(mention, ReferenceKey::Provider(..));
    let named = orders_named(ledger, &payment.mentions, |_| true)?;
    let by_reference = orders_named(ledger, &payment.mentions, registered)?;
    let mut orders = named.iter();
    match (orders.next(), orders.next()) {
        (None, _) => Ok(Binding::Nowhere),
        (Some(one), Some(two)) => {
            let detail = format!("it names order {one} and order {two}: it was bound to neither");
            Ok(Binding::Held(None, Reason::NamesTwoOrders, detail))
        }
        (Some(id), None) if by_reference.contains(id) => Ok(Binding::To(id.clone())),
        (Some(id), None) => {
            let Some(order) = ledger.order(id)? else { return Ok(Binding::Nowhere) };
            Ok(by_hint(key, &ledger.facts_of(key), id, order))
        }
    }
}

/// A hint is weaker than a reference: it leads only to an order that has none at this account, in the right unit
/// and for no more than the order's total.
///
/// The limit is the total and not what is outstanding, so that the order in which two payments arrive does not
/// decide which of them is bound (P5); the surplus opens a case.
fn by_hint(key: &PaymentKey, facts: &Facts, id: &OrderId, order: &Order) -> Binding {
    let refused = |reason, why: String| Binding::Held(Some(id.clone()), reason, why);
    let at_account = |reference: &ReferenceKey| matches!(reference, ReferenceKey::Provider(account, _) if *account == key.account);
    if order.references.iter().any(at_account) {
        let why = format!("it hints at order {id}, whose registered references it does not match");
        return refused(Reason::HintRefused, why);
    }
    let unit = order.total.unit();
    let mut money = facts.iter().filter(|(fact, _)| fact.unit().is_some()).peekable();
    if money.peek().is_none() {
        // A failed try alone says nothing that matters to an order yet, and a capture without an amount is
        // not evidence for a hint; both are kept and looked at again with the payment's next event.
        let unsaid = facts.keys().any(|fact| matches!(fact.kind(), "captured"));
        if unsaid {
            return refused(Reason::NoTotal, format!("it hints at order {id} and does not say its amount"));
        }
        return Binding::Nowhere;
    }
    for (fact, value) in money {
        if fact.unit() != Some(unit) {
            let why = format!("it hints at order {id}, which is in {unit}, with money in another unit");
            return refused(Reason::WrongMoneyUnit, why);
        }
        if value.amount_minor.is_some_and(|amount| amount > order.total.amount_minor()) {
            return refused(Reason::HintRefused, format!("it hints at order {id} with more than its total"));
        }
    }
    Binding::To(id.clone())
}

/// Registers `reference` for an order. `Err(other)` if it belongs to another one.
pub(super) fn register(
    ledger: &mut Ledger,
    reference: &ReferenceKey,
    order: &OrderId,
    expected: Option<&crate::money::Money>,
) -> Result<Result<(), Taken>, Need> {
    let row = ledger.reference(reference)?.cloned().unwrap_or_default();
    match &row.order {
        Some(other) if other != order => return Ok(Err(Taken::By(other.clone()))),
        Some(_) if row.expected.as_ref() != expected => return Ok(Err(Taken::Differs)),
        Some(_) => return Ok(Ok(())),
        None => {}
    }
    let row = Reference { order: Some(order.clone()), expected: expected.cloned(), ..row };
    ledger.references.put(reference.clone(), row);
    Ok(Ok(()))
}

/// Why a reference cannot be registered.
pub(super) enum Taken {
    By(OrderId),
    Differs,
}

/// Binds every payment that was waiting at these rows.
pub(super) fn bind_waiting(
    ledger: &mut Ledger,
    references: impl IntoIterator<Item = ReferenceKey>,
    context: Context<'_>,
) -> Result<(), Need> {
    let mut waiting = BTreeSet::new();
    for reference in references {
        waiting.extend(ledger.reference(&reference)?.into_iter().flat_map(|row| row.payments.clone()));
    }
    for payment in waiting {
        bind(ledger, &payment, context)?;
    }
    Ok(())
}
