//! The event table, checked: for each type the rows, for each row its condition and the facts it asserts.

use std::collections::BTreeMap;

use paidonce_ledger::{CaptureState, DisputeState, Ending, RefundState};

use super::format::{EventFormat, FactFormat, FactKind, MoneyFormat, ReadFormat, Shape, StateFormat, Texts};
use super::mistake::{Mistake, Place};
use super::plan::{Condition, MoneyRule, conditions, pointer, pointers};
use crate::pointer::{Pointer, Pointers};

/// The rows of each type, tried in order. A type that is not here is ignored.
pub(crate) type Table = BTreeMap<String, Vec<std::sync::Arc<Row>>>;

/// What one type means under one condition.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) when: Vec<Condition>,
    pub(crate) meaning: Meaning,
}

/// Whether a row's events say anything about a payment.
#[derive(Debug)]
pub(crate) enum Meaning {
    Ignored,
    Claims { payment: Pointers, references: Vec<Pointer>, hints: Vec<Pointer>, facts: Vec<FactRule> },
}

/// One fact, or one for each item of a list.
#[derive(Debug)]
pub(crate) struct FactRule {
    pub(crate) kind: FactShape,
    /// Empty: the payment's own id.
    pub(crate) id: Pointers,
    pub(crate) amount: Pointers,
    /// Empty: the contract's.
    pub(crate) currency: Pointers,
    /// How the amount is written; `None`: as the contract's are.
    pub(crate) shape: Option<Shape>,
    pub(crate) each: Option<Pointer>,
}

/// The kind of a fact and how its state is found.
#[derive(Debug)]
pub(crate) enum FactShape {
    Pending,
    Authorized,
    Captured(StateRule<CaptureState>),
    AttemptFailed,
    Ended(StateRule<Ending>),
    Refunded(StateRule<RefundState>),
    Disputed { stage: u8, state: StateRule<DisputeState> },
    TotalCaptured,
    TotalRefunded,
}

/// A state that the contract fixes, or that a member says in the provider's words.
#[derive(Debug)]
pub(crate) enum StateRule<S> {
    Fixed(S),
    Words { member: Pointer, values: BTreeMap<String, S> },
}

/// A list of rows, and what holds for all of them.
pub(super) struct Around<'f> {
    pub(super) read: &'f ReadFormat,
    pub(super) money: &'f MoneyFormat,
    pub(super) event: &'f [EventFormat],
    /// Where the list stands.
    pub(super) at: Place,
}

/// Checks `[[event]]` or `[[lookup.event]]`.
pub(super) fn compile(format: &Around<'_>, money: &MoneyRule) -> Result<Table, Mistake> {
    let mut table = Table::new();
    for (n, event) in format.event.iter().enumerate() {
        let at = format.at.index(n);
        let row = std::sync::Arc::new(row(event, format, money, &at)?);
        if event.kind.0.is_empty() {
            return Err(at.key("type").mistake("at least one type"));
        }
        for kind in &event.kind.0 {
            let rows = table.entry(kind.clone()).or_default();
            if rows.last().is_some_and(|row| row.when.is_empty()) {
                return Err(at.mistake(format!("never reached: an earlier row for {kind:?} has no `when`")));
            }
            rows.push(row.clone());
        }
    }
    Ok(table)
}

fn row(event: &EventFormat, format: &Around<'_>, money: &MoneyRule, at: &Place) -> Result<Row, Mistake> {
    let when = conditions(&event.when, &at.key("when"))?;
    if event.ignore {
        if event.lookup
            || event.payment.is_some()
            || event.references.is_some()
            || event.hints.is_some()
            || !event.facts.is_empty()
        {
            return Err(at.mistake("an ignored row asserts nothing; remove its other members"));
        }
        return Ok(Row { when, meaning: Meaning::Ignored });
    }
    if event.lookup != event.facts.is_empty() {
        return Err(at.mistake(if event.lookup {
            "lookup = true says that the event asserts nothing; remove its facts"
        } else {
            "state facts = [{ kind = \"captured\", ... }], lookup = true, or ignore = true"
        }));
    }
    let payment = event.payment.as_ref().or(format.read.payment.as_ref());
    let payment = pointers(payment, &at.key("payment"))?;
    if payment.0.is_empty() {
        return Err(
            at.mistake("state payment = \"...\", here or in [read]: the member with the payment's id")
        );
    }
    let references = event.references.as_ref().unwrap_or(&format.read.references);
    let hints = event.hints.as_ref().unwrap_or(&format.read.hints);
    let mut facts = Vec::with_capacity(event.facts.len());
    for (n, one) in event.facts.iter().enumerate() {
        facts.push(fact(one, format, money, &at.key("facts").index(n))?);
    }
    let references = pointers(Some(references), &at.key("references"))?.0;
    let hints = pointers(Some(hints), &at.key("hints"))?.0;
    Ok(Row { when, meaning: Meaning::Claims { payment, references, hints, facts } })
}

fn fact(fact: &FactFormat, format: &Around<'_>, money: &MoneyRule, at: &Place) -> Result<FactRule, Mistake> {
    let each = fact.each.as_deref().map(|text| pointer(text, &at.key("each"))).transpose()?;
    let in_scope = |texts: Option<&Texts>, at: &Place| scoped(texts, each.is_some(), at);
    let rule = FactRule {
        kind: shape(fact, each.is_some(), at)?,
        id: in_scope(fact.id.as_ref(), &at.key("id"))?,
        amount: in_scope(Some(&fact.amount), &at.key("amount"))?,
        currency: in_scope(fact.currency.as_ref(), &at.key("currency"))?,
        shape: fact.shape,
        each,
    };
    let identified =
        matches!(rule.kind, FactShape::Captured(_) | FactShape::Refunded(_) | FactShape::Disputed { .. });
    if !identified && fact.id.is_some() {
        return Err(at.key("id").mistake("only captured, refunded and disputed have ids of their own"));
    }
    if identified && !matches!(rule.kind, FactShape::Captured(_)) && rule.id.0.is_empty() {
        return Err(at.mistake("state id = \"...\": every refund and dispute has its own"));
    }
    let no_money = matches!(rule.kind, FactShape::AttemptFailed | FactShape::Ended(_));
    if no_money && !rule.amount.0.is_empty() {
        return Err(at.key("amount").mistake("this kind of fact has no amount"));
    }
    if rule.amount.0.is_empty() {
        return Ok(rule);
    }
    if format.money.shape.is_none() && fact.shape.is_none() {
        return Err(at.key("amount").mistake(
            "state [money] shape = \"minor\" (an integer of minor units) or \"decimal\" (text in major units)",
        ));
    }
    if rule.currency.0.is_empty()
        && money.currency.0.is_empty()
        && money.asset.is_none()
        && money.fixed.is_none()
    {
        return Err(at
            .key("amount")
            .mistake("state [money] currency = \"...\", or network, asset and decimals"));
    }
    Ok(rule)
}

fn shape(fact: &FactFormat, each: bool, at: &Place) -> Result<FactShape, Mistake> {
    let at_state = at.key("state");
    if fact.stage.is_some() && fact.kind != FactKind::Disputed {
        return Err(at.key("stage").mistake("only disputes have stages"));
    }
    let none = |shape| match fact.state {
        Some(_) => Err(at_state.mistake("this kind of fact has no state")),
        None => Ok(shape),
    };
    let captured = [
        ("pending", CaptureState::Pending),
        ("settled", CaptureState::Settled),
        ("reversed", CaptureState::Reversed),
    ];
    let ended = [("failed", Ending::Failed), ("cancelled", Ending::Cancelled), ("expired", Ending::Expired)];
    let refunded = [
        ("pending", RefundState::Pending),
        ("succeeded", RefundState::Succeeded),
        ("failed", RefundState::Failed),
    ];
    let disputed = [
        ("warning", DisputeState::Warning),
        ("open", DisputeState::Open),
        ("closed", DisputeState::Closed),
        ("won", DisputeState::Won),
        ("lost", DisputeState::Lost),
    ];
    match fact.kind {
        FactKind::Pending => none(FactShape::Pending),
        FactKind::Authorized => none(FactShape::Authorized),
        FactKind::AttemptFailed => none(FactShape::AttemptFailed),
        FactKind::TotalCaptured => none(FactShape::TotalCaptured),
        FactKind::TotalRefunded => none(FactShape::TotalRefunded),
        FactKind::Captured => Ok(FactShape::Captured(state(fact, &captured, each, &at_state)?)),
        FactKind::Ended => Ok(FactShape::Ended(state(fact, &ended, each, &at_state)?)),
        FactKind::Refunded => Ok(FactShape::Refunded(state(fact, &refunded, each, &at_state)?)),
        FactKind::Disputed => {
            let stage = fact.stage.unwrap_or(1);
            if stage == 0 {
                return Err(at.key("stage").mistake("stages are counted from 1"));
            }
            Ok(FactShape::Disputed { stage, state: state(fact, &disputed, each, &at_state)? })
        }
    }
}

fn state<S: Copy>(
    fact: &FactFormat,
    words: &[(&str, S)],
    each: bool,
    at: &Place,
) -> Result<StateRule<S>, Mistake> {
    let known = || words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
    let of_word = |word: &str, at: &Place| {
        let found = words.iter().find(|(known, _)| *known == word).map(|(_, state)| *state);
        found.ok_or_else(|| at.mistake(format!("{word:?} is none of: {}", known())))
    };
    match &fact.state {
        None => Err(at.mistake(format!("state one of: {}", known()))),
        Some(StateFormat::Fixed(word)) => Ok(StateRule::Fixed(of_word(word, at)?)),
        Some(StateFormat::Words { member, values }) => {
            let member_at = at.key("member");
            let member = scoped(Some(&Texts(vec![member.clone()])), each, &member_at)?;
            let mut meant = BTreeMap::new();
            for (word, provider_words) in values {
                let at = at.key("values").key(word);
                let state = of_word(word, &at)?;
                for provider_word in &provider_words.0 {
                    if meant.insert(provider_word.clone(), state).is_some() {
                        return Err(at.mistake(format!("{provider_word:?} already means another state")));
                    }
                }
            }
            let member = member.0.into_iter().next().ok_or_else(|| member_at.mistake("name the member"))?;
            Ok(StateRule::Words { member, values: meant })
        }
    }
}

/// Paths of a fact, which may start at the item of its `each` list.
fn scoped(texts: Option<&Texts>, each: bool, at: &Place) -> Result<Pointers, Mistake> {
    if !each {
        return pointers(texts, at);
    }
    let texts = texts.map(|texts| texts.0.as_slice()).unwrap_or_default();
    let parsed = texts
        .iter()
        .map(|text| Pointer::parse(text).map_err(|problem| at.mistake(format!("{text:?}: {problem}"))));
    parsed.collect::<Result<_, _>>().map(Pointers)
}
