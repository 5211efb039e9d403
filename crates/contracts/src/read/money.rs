//! Amounts, exactly: digits as they came, in the unit that the event names.
//!
//! What is not said is `None` and owes a lookup later; what is said wrongly makes the event unreadable. No
//! default currency, no rounding, no float.

use paidonce_ledger::{AMOUNT_MAX, Money, MoneyError, MoneyUnit};

use super::scalar::{Unreadable, malformed, plain_text};
use crate::contract::format::Shape;
use crate::contract::plan::{AssetRule, MoneyRule};
use crate::contract::table::FactRule;
use crate::json::{Kind, Value};
use crate::pointer::{Pointer, Scope};

/// The money of one fact.
pub(super) fn money(
    rule: &MoneyRule,
    fact: &FactRule,
    scope: Scope<'_>,
) -> Result<Option<Money>, Unreadable> {
    let Some((pointer, value)) = fact.amount.find(scope) else { return Ok(None) };
    let text = match value.kind() {
        Kind::Text(text) => &**text,
        Kind::Number(text) => text,
        _ => return Err(malformed(pointer, "not an amount")),
    };
    let Some(unit) = unit(rule, fact, scope)? else { return Ok(None) };
    let amount = match fact.shape.unwrap_or(rule.shape) {
        Shape::Decimal => Money::parse(text, unit),
        Shape::Minor => match rule.exponents.get(&unit) {
            None => Money::parse_minor(text, unit),
            Some(exponent) => departing(text, unit, *exponent),
        },
    };
    amount.map(Some).map_err(|error| malformed(pointer, word(&error)))
}

/// Minor units of a provider whose exponent is not ISO's, as ISO's: exact or refused.
fn departing(text: &str, unit: MoneyUnit, exponent: u8) -> Result<Money, MoneyError> {
    let amount = Money::parse_minor(text, unit.clone())?.amount_minor();
    let decimals = unit.decimals();
    let factor = 10_i128.checked_pow(u32::from(exponent.abs_diff(decimals))).ok_or(MoneyError::TooLarge)?;
    if exponent > decimals {
        if amount % factor != 0 {
            return Err(MoneyError::TooPrecise { given: usize::from(exponent), allowed: decimals });
        }
        return Money::new(amount / factor, unit);
    }
    Money::new(amount.checked_mul(factor).unwrap_or(AMOUNT_MAX + 1), unit)
}

fn unit(rule: &MoneyRule, fact: &FactRule, scope: Scope<'_>) -> Result<Option<MoneyUnit>, Unreadable> {
    let currency = if fact.currency.0.is_empty() { &rule.currency } else { &fact.currency };
    let currency = currency.find(scope);
    let asset = rule.asset.as_ref().map(|asset| asset_unit(asset, scope)).transpose()?.flatten();
    match (currency, asset) {
        (Some((pointer, _)), Some(_)) => Err(malformed(pointer, "a currency beside a network's asset")),
        (None, None) => Ok(rule.fixed.clone()),
        (None, asset) => Ok(asset),
        (Some((pointer, value)), None) => {
            let Kind::Text(code) = value.kind() else {
                return Err(malformed(pointer, "not a currency code"));
            };
            MoneyUnit::iso(code).map(Some).map_err(|error| malformed(pointer, word(&error)))
        }
    }
}

/// The unit of an asset on a network: all three members or none.
fn asset_unit(rule: &AssetRule, scope: Scope<'_>) -> Result<Option<MoneyUnit>, Unreadable> {
    let members = [&rule.network, &rule.asset, &rule.decimals];
    let found = members.map(|pointer| pointer.find(scope));
    if found.iter().all(Option::is_none) {
        return Ok(None);
    }
    let text = |pointer: &Pointer, value: Option<Value<'_>>| match value {
        None => Err(malformed(pointer, "absent")),
        Some(value) => plain_text(value).map(str::to_owned).ok_or_else(|| malformed(pointer, "not text")),
    };
    let network = text(&rule.network, found[0])?;
    let asset = text(&rule.asset, found[1])?;
    let decimals = text(&rule.decimals, found[2])?;
    let decimals = decimals.parse().map_err(|_| malformed(&rule.decimals, "not a number of decimals"))?;
    MoneyUnit::asset(&network, &asset, decimals)
        .map(Some)
        .map_err(|error| malformed(&rule.asset, word(&error)))
}

/// The error without the value that caused it. P14
fn word(error: &MoneyError) -> &'static str {
    match error {
        MoneyError::UnknownCurrency(_) => "not an ISO 4217 currency with a minor unit",
        MoneyError::Name(_) | MoneyError::MalformedUnit(_) => "not a unit of money",
        MoneyError::Malformed(_) => "not a plain number of the contract's shape",
        MoneyError::Negative => "negative",
        MoneyError::TooPrecise { .. } => "more decimals than its unit has",
        MoneyError::TooLarge => "above 10^30 minor units",
    }
}
