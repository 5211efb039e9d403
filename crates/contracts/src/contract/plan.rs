//! How one delivery is read, checked: identity, type, mode, money. The event table is `table`'s.

use std::borrow::Cow;
use std::collections::BTreeMap;

use paidonce_ledger::{DECIMALS_MAX, MoneyUnit};

use super::format::{
    ConditionFormat, Format, IdFormat, ModeFormat, MoneyFormat, ReadFormat, Shape, Syntax, Texts, Truth,
    TypeFormat,
};
use super::mistake::{Mistake, Place};
use super::signature::{Signature, SignaturePlace};
use super::table::{Around, Table, compile as compile_table};
use crate::code::Code;
use crate::form;
use crate::pointer::{Pointer, Pointers};

/// Everything that reading needs.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) truth: Truth,
    pub(crate) id: IdRule,
    pub(crate) kind: KindRule,
    pub(crate) syntax: BodySyntax,
    pub(crate) account: Pointers,
    pub(crate) mode: Option<ModeRule>,
    pub(crate) test: Option<Pointer>,
    /// Empty: no delivery is a test notification by these.
    pub(crate) test_when: Vec<Condition>,
    pub(crate) items: Option<Pointer>,
    pub(crate) empty_items: bool,
    pub(crate) content: ContentRule,
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
    /// A digest over members that together tell one event from another; the second ones may be absent.
    Derived(Vec<Pointer>, Vec<Pointer>),
    /// A digest over the bytes: the same bytes are the same event.
    Body,
    /// Nothing tells one event from another: the same bytes may mean another change.
    None,
}

/// Where an event's type comes from.
#[derive(Debug)]
pub(crate) enum KindRule {
    Member(Pointers),
    Join(Vec<Pointer>, String),
    /// A header that has to be there, by its number. Nothing signs it.
    Header(usize),
    Fixed(String),
    /// What the source has to state under this name, and did not.
    Unstated(String),
}

/// How a body becomes the JSON that paths lead through.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BodySyntax {
    Json,
    Form,
    Code(Code),
}

impl BodySyntax {
    /// Whether "the same content" is asked of what the body says, because its bytes are not what is signed.
    pub(crate) fn signs_document(self) -> bool {
        matches!(self, Self::Code(code) if code.signs_document())
    }

    /// The body as JSON text; as it came, if it is that already.
    pub(crate) fn json(self, body: &[u8]) -> Result<Cow<'_, [u8]>, &'static str> {
        match self {
            Self::Json => Ok(Cow::Borrowed(body)),
            Self::Form => form::json(body).map(|text| Cow::Owned(text.into_bytes())),
            Self::Code(code) => code.document(body),
        }
    }
}

/// What two deliveries of one event must have in common.
#[derive(Debug)]
pub(crate) enum ContentRule {
    /// Every byte.
    All,
    /// Everything but these members at the top of the event.
    Without(Vec<String>),
    /// These members, and nothing else.
    Only(Vec<Pointer>),
}

/// How a payload says whether its money is real.
#[derive(Debug)]
pub(crate) enum ModeRule {
    Livemode(Pointers),
    Testmode(Pointers),
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
    /// The unit of amounts beside which no currency stands.
    pub(crate) fixed: Option<MoneyUnit>,
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
    let around = Around { read, money: &format.money, event: &format.event, at: Place::of("event") };
    let syntax = match (&signature.place, read.syntax) {
        (SignaturePlace::Code { code, .. }, Syntax::Json) => BodySyntax::Code(*code),
        (_, Syntax::Json) => BodySyntax::Json,
        (_, Syntax::Form) if items.is_some() => {
            return Err(at.key("items").mistake("a form has no lists"));
        }
        (_, Syntax::Form) => BodySyntax::Form,
    };
    Ok(Plan {
        truth: format.truth,
        id: id(read, items.is_some(), signature, &at.key("id"))?,
        kind: kind(read, &format.signature.values, signature, &at.key("type"))?,
        syntax,
        account: pointers(read.account.as_ref(), &at.key("account"))?,
        mode: read.mode.as_ref().map(|mode| mode_rule(mode, &at.key("mode"))).transpose()?,
        test: read.test.as_deref().map(|text| pointer(text, &at.key("test"))).transpose()?,
        items,
        empty_items: read.empty_items,
        test_when: conditions(&read.test_when, &at.key("test_when"))?,
        content: content(read, &at.key("same_content"))?,
        ignore_when: conditions(&read.ignore_when, &at.key("ignore_when"))?,
        table: compile_table(&around, &money)?,
        money,
    })
}

fn content(read: &ReadFormat, at: &Place) -> Result<ContentRule, Mistake> {
    let Some(same) = &read.same_content else { return Ok(ContentRule::All) };
    if let Some(name) = same.without.iter().find(|name| name.contains('.')) {
        return Err(at.mistake(format!("{name:?}: only members at the top of an event")));
    }
    Ok(match (same.without.is_empty(), same.only.is_empty()) {
        (true, true) => ContentRule::All,
        (false, _) => ContentRule::Without(same.without.clone()),
        (true, false) => ContentRule::Only(pointers(Some(&Texts(same.only.clone())), &at.key("only"))?.0),
    })
}

fn kind(
    read: &ReadFormat,
    values: &BTreeMap<String, String>,
    signature: &Signature,
    at: &Place,
) -> Result<KindRule, Mistake> {
    match &read.kind {
        None => Err(at.mistake("state where the event's type stands")),
        Some(TypeFormat::Member(members)) => Ok(KindRule::Member(pointers(Some(members), at)?)),
        Some(TypeFormat::Join { members, separator }) => {
            let members = pointers(Some(members), &at.key("join"))?.0;
            if separator.is_empty() || members.len() < 2 {
                return Err(at.mistake("two members or more, and a separator of a character or more"));
            }
            Ok(KindRule::Join(members, separator.clone()))
        }
        Some(TypeFormat::Header(name)) => {
            let at = at.key("header");
            let number = signature.header(name).ok_or_else(|| {
                at.mistake("this header may be absent; name it in signature.require_headers, or sign it")
            })?;
            Ok(KindRule::Header(number))
        }
        // A contract is whole without it, and can be shown and proved; a source is not.
        Some(TypeFormat::Value(name)) => Ok(match values.get(name).filter(|value| !value.is_empty()) {
            Some(value) => KindRule::Fixed(value.clone()),
            None => KindRule::Unstated(name.clone()),
        }),
        Some(TypeFormat::Fixed(word)) if word.is_empty() => Err(at.mistake("a word for the type")),
        Some(TypeFormat::Fixed(word)) => Ok(KindRule::Fixed(word.clone())),
    }
}

fn id(read: &ReadFormat, batch: bool, signature: &Signature, at: &Place) -> Result<IdRule, Mistake> {
    match &read.id {
        Some(IdFormat::Member(members)) => Ok(IdRule::Member(pointers(Some(members), at)?)),
        Some(IdFormat::Derived { members, optional }) => Ok(IdRule::Derived(
            pointers(Some(members), &at.key("derived"))?.0,
            pointers(Some(optional), &at.key("optional"))?.0,
        )),
        Some(IdFormat::Body | IdFormat::None) if batch => {
            Err(at.mistake("the items of one delivery need an id each; name a member of the item"))
        }
        Some(IdFormat::Body) => Ok(IdRule::Body),
        Some(IdFormat::None) => Ok(IdRule::None),
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

pub(super) fn mode_rule(mode: &ModeFormat, at: &Place) -> Result<ModeRule, Mistake> {
    match mode {
        ModeFormat::Livemode(members) => Ok(ModeRule::Livemode(pointers(Some(members), at)?)),
        ModeFormat::Testmode(members) => {
            Ok(ModeRule::Testmode(pointers(Some(members), &at.key("testmode"))?))
        }
        ModeFormat::Words { member, live, test } => Ok(ModeRule::Words {
            member: pointers(Some(member), &at.key("member"))?,
            live: live.clone(),
            test: test.clone(),
        }),
    }
}

pub(super) fn money(format: &MoneyFormat) -> Result<MoneyRule, Mistake> {
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
    let fixed = match &format.fixed_currency {
        None => None,
        Some(code) => {
            let at = at.key("fixed_currency");
            Some(MoneyUnit::iso(code).map_err(|error| at.mistake(error.to_string()))?)
        }
    };
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
        fixed,
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
