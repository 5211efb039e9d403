//! What an event of a known type asserts: the first row whose conditions hold, its payment, names and facts.

use std::sync::Arc;

use paidonce_ledger::Fact;
use paidonce_ledger::{Claims, Reading};
use paidonce_ledger::{EventId, FactId, Hint, PaymentId, ReferenceId};

use super::scalar::{Unreadable, absent, id_text, malformed};
use super::{holds_all, money};
use crate::contract::format::Truth;
use crate::contract::plan::Plan;
use crate::contract::table::{FactRule, FactShape, Meaning, Row, StateRule};
use crate::json::Kind;
use crate::pointer::{Pointer, Scope};

/// The most items of one `each` list. Providers list ten refunds of a charge.
const EACH_MAX: usize = 1_000;

pub(crate) fn reading(plan: &Plan, kind: &str, event: &EventId, scope: Scope<'_>) -> Reading {
    match plan.table.get(kind) {
        None => Reading::Ignored,
        Some(rows) => asserted(plan, rows, event, scope).unwrap_or_else(|why| why.reading()),
    }
}

fn asserted(
    plan: &Plan,
    rows: &[Arc<Row>],
    event: &EventId,
    scope: Scope<'_>,
) -> Result<Reading, Unreadable> {
    let row = rows.iter().find(|row| holds_all(&row.when, scope)).ok_or_else(|| no_row(rows))?;
    let Meaning::Claims { payment, references, hints, facts } = &row.meaning else {
        return Ok(Reading::Ignored);
    };
    let (pointer, value) = payment.find(scope).ok_or_else(|| absent(payment))?;
    let text = id_text(value).ok_or_else(|| malformed(pointer, "not an id"))?;
    let payment = PaymentId::new(text).map_err(|error| malformed(pointer, error))?;
    let mut claims = Claims { payment, references: Vec::new(), hints: Vec::new(), facts: Vec::new() };
    for reference in names(references, scope).filter_map(|text| ReferenceId::new(text).ok()) {
        if reference.as_str() != claims.payment.as_str() && !claims.references.contains(&reference) {
            claims.references.push(reference);
        }
    }
    for hint in names(hints, scope).filter_map(|text| Hint::new(text).ok()) {
        if !claims.hints.contains(&hint) {
            claims.hints.push(hint);
        }
    }
    // Whoever can forge the content of a delivery may make us ask, and nothing more.
    let facts = if plan.truth == Truth::Fetch { &[] } else { &facts[..] };
    for rule in facts {
        push_facts(plan, rule, scope, event, &mut claims)?;
    }
    Ok(Reading::Facts(claims))
}

/// A type that matters, in a condition that the contract does not know: somebody has to look.
fn no_row(rows: &[Arc<Row>]) -> Unreadable {
    let mut members: Vec<&str> = Vec::new();
    for condition in rows.iter().flat_map(|row| &row.when) {
        if !members.contains(&condition.pointer.text()) {
            members.push(condition.pointer.text());
        }
    }
    Unreadable(format!("{}: absent, or not a value that the contract knows", members.join(", ")))
}

/// The names that are there. One that cannot be a name of ours is none: it could lead nowhere.
fn names<'d>(pointers: &[Pointer], scope: Scope<'d>) -> impl Iterator<Item = &'d str> {
    pointers.iter().filter_map(move |pointer| id_text(pointer.find(scope)?))
}

fn push_facts(
    plan: &Plan,
    rule: &FactRule,
    scope: Scope<'_>,
    event: &EventId,
    claims: &mut Claims,
) -> Result<(), Unreadable> {
    let Some(each) = &rule.each else {
        claims.facts.push(fact(plan, rule, scope, event, &claims.payment)?);
        return Ok(());
    };
    // Such lists are extras, which newer versions of an API leave out: their absence is no gap.
    let Some(list) = each.find(scope) else { return Ok(()) };
    if *list.kind() != Kind::List {
        return Err(malformed(each, "not a list"));
    }
    if list.children().count() > EACH_MAX {
        return Err(malformed(each, "more items than are read"));
    }
    for item in list.children() {
        let scope = Scope { item: Some(item), ..scope };
        claims.facts.push(fact(plan, rule, scope, event, &claims.payment)?);
    }
    Ok(())
}

fn fact(
    plan: &Plan,
    rule: &FactRule,
    scope: Scope<'_>,
    event: &EventId,
    payment: &PaymentId,
) -> Result<Fact, Unreadable> {
    let money = || money::money(&plan.money, rule, scope);
    Ok(match &rule.kind {
        FactShape::Pending => Fact::pending(money()?),
        FactShape::Authorized => Fact::authorized(money()?),
        FactShape::Captured(rank) => {
            Fact::captured(fact_id(rule, scope, payment)?, state(rank, scope)?, money()?)
        }
        FactShape::AttemptFailed => Fact::attempt_failed(event.clone()),
        FactShape::Ended(ending) => Fact::ended(state(ending, scope)?),
        FactShape::Refunded(rank) => {
            Fact::refunded(fact_id(rule, scope, payment)?, state(rank, scope)?, money()?)
        }
        FactShape::Disputed { stage, state: rank } => {
            Fact::disputed(fact_id(rule, scope, payment)?, *stage, state(rank, scope)?, money()?)
        }
        FactShape::TotalCaptured => Fact::total_captured(money()?),
        FactShape::TotalRefunded => Fact::total_refunded(money()?),
    })
}

fn fact_id(rule: &FactRule, scope: Scope<'_>, payment: &PaymentId) -> Result<FactId, Unreadable> {
    if rule.id.0.is_empty() {
        return FactId::new(payment.as_str()).map_err(|error| Unreadable(error.to_string()));
    }
    let (pointer, value) = rule.id.find(scope).ok_or_else(|| absent(&rule.id))?;
    let text = id_text(value).ok_or_else(|| malformed(pointer, "not an id"))?;
    FactId::new(text).map_err(|error| malformed(pointer, error))
}

fn state<S: Copy>(rule: &StateRule<S>, scope: Scope<'_>) -> Result<S, Unreadable> {
    match rule {
        StateRule::Fixed(state) => Ok(*state),
        StateRule::Words { member, values } => match member.find(scope).map(|value| value.kind()) {
            None => Err(malformed(member, "absent")),
            Some(Kind::Text(word)) => values
                .get(&**word)
                .copied()
                .ok_or_else(|| malformed(member, "not a value that the contract knows")),
            Some(_) => Err(malformed(member, "not text")),
        },
    }
}
