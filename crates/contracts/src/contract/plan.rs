//! How one delivery is read, checked: identity, type, mode, money. The event table is `table`'s.

use std::collections::BTreeMap;

use paidonce_ledger::{DECIMALS_MAX, MoneyUnit};

use super::format::{ConditionFormat, Format, IdFormat, ModeFormat, MoneyFormat, ReadFormat, Shape, Texts};
use super::mistake::{Mistake, Place};
use super::signature::Signature;
use super::table::{Table, compile as compile_table};
use crate::pointer::{Pointer, Pointers};

/// Everything that reading needs.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) id: IdRule,
    pub(crate) kind: Pointers,
    pub(crate) account: Pointers,
    pub(crate) mode: Option<ModeRule>,
    pub(crate) test: Option<Pointer>,
    pub(crate) items: Option<Pointer>,
    /// Members at the top of an event that may differ between two deliveries of it. Empty: no byte may.
    pub(crate) without: Vec<String>,
    pub(crate) ignore_when: Vec<Condition>,
    pub(crate) money: MoneyRule,
    pub(crate) table: Table,
}

/// Where an event's id comes from. Only what the signature covers can be one.
#[derive(Debug)]
pub(crate) enum IdRule {
    Member(Pointers),
    /// A signed header. What follows it in the signed text must not occur in the id: the boundary could be
    /// moved, and one signature would prove two ids.
    Header {
        index: usize,
        separator: String,
    },
    /// A digest over members that together tell one event from another.
    Derived(Vec<Pointer>),
}

/// How a payload says whether its money is real.
#[derive(Debug)]
pub(crate) enum ModeRule {
    Livemode(Pointers),
    Words { member: Pointers, live: Vec<String>, test: Vec<String> },
}

/// What a member must be.
#[derive(Debug)]
pub(crate) struct Condition {
    pub(crate) pointer: Pointer,
    pub(crate) test: ConditionFormat,
}

/// How amounts are written.
#[derive(Debug)]
pub(crate) struct MoneyRule {
    pub(crate) shape: Shape,
    pub(crate) currency: Pointers,
    pub(crate) asset: Option<AssetRule>,
    /// Decimals that this provider gives a currency's minor unit where it departs from ISO.
    pub(crate) exponents: BTreeMap<MoneyUnit, u8>,
}

/// Where an amount in an asset on a network says so.
#[derive(Debug)]
pub(crate) struct AssetRule {
    pub(crate) network: Pointer,
    pub(crate) asset: Pointer,
    pub(crate) decimals: Pointer,
}

/// What `[read]` still lacks.
pub(crate) fn missing(format: &ReadFormat) -> Vec<&'static str> {
    let mut missing = Vec::new();
    if format.id.is_none() {
        missing.push("read.id (the signed member that identifies an event)");
    }
    if format.kind.is_none() {
        missing.push("read.type (the member that says what an event is about)");
    }
    missing
}

/// Checks everything but `[signature]`.
pub(crate) fn compile(format: &Format, signature: &Signature) -> Result<Plan, Mistake> {
    let (read, at) = (&format.read, Place::of("read"));
    let items = read.items.as_deref().map(|text| pointer(text, &at.key("items"))).transpose()?;
    let money = money(&format.money)?;
    let same_content = read.same_content.as_ref().map(|same| same.without.clone()).unwrap_or_default();
    if let Some(name) = same_content.iter().find(|name| name.contains('.')) {
        return Err(at.key("same_content").mistake(format!("{name:?}: only members at the top of an event")));
    }
    Ok(Plan {
        id: id(read, items.is_some(), signature, &at.key("id"))?,
        kind: pointers(read.kind.as_ref(), &at.key("type"))?,
        account: pointers(read.account.as_ref(), &at.key("account"))?,
        mode: read.mode.as_ref().map(|mode| mode_rule(mode, &at.key("mode"))).transpose()?,
        test: read.test.as_deref().map(|text| pointer(text, &at.key("test"))).transpose()?,
        items,
        without: same_content,
        ignore_when: conditions(&read.ignore_when, &at.key("ignore_when"))?,
        table: compile_table(format, &money)?,
        money,
    })
}

fn id(read: &ReadFormat, batch: bool, signature: &Signature, at: &Place) -> Result<IdRule, Mistake> {
    match &read.id {
        Some(IdFormat::Member(members)) => Ok(IdRule::Member(pointers(Some(members), at)?)),
        Some(IdFormat::Derived(members)) => {
            Ok(IdRule::Derived(pointers(Some(members), &at.key("derived"))?.0))
        }
        Some(IdFormat::Header(name)) => {
            let at = at.key("header");
            if batch {
                return Err(
                    at.mistake("the items of one delivery cannot share one id; name a member of the item")
                );
            }
            let (index, separator) = signature.signed_header(name).ok_or_else(|| {
                at.mistake(format!(
                    "this header is not signed, so anybody can change it on a captured delivery; \
                     name a member of the body, or sign it: signature.signed = [\"{{header:{name}}}\", ...]"
                ))
            })?;
            let separator = separator
                .ok_or_else(|| at.mistake("nothing fixed follows this header in signature.signed"))?;
            Ok(IdRule::Header { index, separator: separator.to_owned() })
        }
        None => Err(at.mistake("state where the event's id stands")),
    }
}

fn mode_rule(mode: &ModeFormat, at: &Place) -> Result<ModeRule, Mistake> {
    match mode {
        ModeFormat::Livemode(members) => Ok(ModeRule::Livemode(pointers(Some(members), at)?)),
        ModeFormat::Words { member, live, test } => Ok(ModeRule::Words {
            member: pointers(Some(member), &at.key("member"))?,
            live: live.clone(),
            test: test.clone(),
        }),
    }
}

fn money(format: &MoneyFormat) -> Result<MoneyRule, Mistake> {
    let at = Place::of("money");
    let mut exponents = BTreeMap::new();
    for (code, exponent) in &format.exponents {
        let at = at.key("exponents").key(code);
        let unit = MoneyUnit::iso(code).map_err(|error| at.mistake(error.to_string()))?;
        if *exponent > DECIMALS_MAX {
            return Err(at.mistake(format!("at most {DECIMALS_MAX} decimals")));
        }
        exponents.insert(unit, *exponent);
    }
    let asset = match (&format.network, &format.asset, &format.decimals) {
        (None, None, None) => None,
        (Some(network), Some(asset), Some(decimals)) => Some(AssetRule {
            network: pointer(network, &at.key("network"))?,
            asset: pointer(asset, &at.key("asset"))?,
            decimals: pointer(decimals, &at.key("decimals"))?,
        }),
        _ => return Err(at.mistake("network, asset and decimals belong together: state all three or none")),
    };
    Ok(MoneyRule {
        // Whether a shape is needed at all is only known by the facts; `table` asks there.
        shape: format.shape.unwrap_or(Shape::Minor),
        currency: pointers(Some(&format.currency), &at.key("currency"))?,
        asset,
        exponents,
    })
}

/// One path.
pub(super) fn pointer(text: &str, at: &Place) -> Result<Pointer, Mistake> {
    let pointer = Pointer::parse(text).map_err(|problem| at.mistake(format!("{text:?}: {problem}")))?;
    if pointer.is_of_item() {
        return Err(at.mistake(format!("{text:?}: only a fact with `each` has items; remove the first dot")));
    }
    Ok(pointer)
}

/// Several paths.
pub(super) fn pointers(texts: Option<&Texts>, at: &Place) -> Result<Pointers, Mistake> {
    let texts = texts.map(|texts| texts.0.as_slice()).unwrap_or_default();
    texts.iter().map(|text| pointer(text, at)).collect::<Result<_, _>>().map(Pointers)
}

/// A set of conditions.
pub(super) fn conditions(
    format: &BTreeMap<String, ConditionFormat>,
    at: &Place,
) -> Result<Vec<Condition>, Mistake> {
    let condition = |(path, test): (&String, &ConditionFormat)| {
        let at = at.key(path);
        if *test == ConditionFormat::Texts(Vec::new()) {
            return Err(at.mistake("an empty list matches nothing"));
        }
        Ok(Condition { pointer: pointer(path, &at)?, test: test.clone() })
    };
    format.iter().map(condition).collect()
}
