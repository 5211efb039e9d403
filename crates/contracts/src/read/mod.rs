//! From a verified body to notices: what the contract's paths find, in the ledger's words.
//!
//! It never fails and never decides: what cannot be read becomes a notice that names the member (never its
//! value), so that a genuine delivery is always stored. Reached only through `Verified`.

mod claim;
mod content;
mod identity;
mod money;
mod sample;
pub(crate) mod scalar;
mod stored;

use std::sync::Arc;

use paidonce_ledger::Body;
use paidonce_ledger::{EventId, Mode, Name};
use paidonce_ledger::{Notice, Reading};

use crate::contract::format::ConditionFormat;
use crate::contract::plan::{Condition, ContentRule, KindRule, ModeRule, Plan};
use crate::json::{Document, Kind, Value};
use crate::pointer::Scope;
use scalar::{Unreadable, malformed};

pub(crate) use claim::reading;
pub use stored::Stored;

/// The most events that one delivery may carry. The largest known batch is 250.
pub const ITEMS_MAX: usize = 1_000;

/// What a genuine delivery is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// A test notification, or a batch without events: answered 2xx, stored nowhere, changes nothing.
    Test,
    /// Its events, at least one, each to be decided alone.
    Events(Vec<Notice>),
}

/// What came beside the body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Received<'r> {
    /// The headers that the contract names, by its numbers.
    pub(crate) headers: &'r [&'r [u8]],
    pub(crate) at_unix_s: i64,
}

/// Reads a delivery.
pub(crate) fn read(plan: &Plan, body: &[u8], received: Received<'_>) -> Delivery {
    let text = match plan.syntax.json(body) {
        Ok(text) => text,
        Err(problem) => return Delivery::Events(vec![nameless(body, format!("body: {problem}"))]),
    };
    let document = match Document::parse(&text) {
        Ok(document) => document,
        Err(error) => return Delivery::Events(vec![nameless(body, format!("body: {error}"))]),
    };
    let root = document.root();
    if is_test(plan, root) {
        return Delivery::Test;
    }
    let Some(items) = &plan.items else { return Delivery::Events(vec![notice(plan, root, body, received)]) };
    let problem = match items.find(Scope { event: root, item: None }) {
        None => "absent",
        Some(list) if *list.kind() != Kind::List => "not a list",
        Some(list) => match list.children().take(ITEMS_MAX + 1).count() {
            0 if plan.empty_items => return Delivery::Test,
            0 => "an empty list",
            n if n > ITEMS_MAX => "a list with more items than are read",
            _ => {
                let notices = list.children().map(|item| notice(plan, item, item.raw(), received));
                return Delivery::Events(notices.collect());
            }
        },
    };
    Delivery::Events(vec![nameless(body, format!("{}: {problem}", items.text()))])
}

/// Whether a delivery says that it is only a test: exactly `true`, or by the contract's conditions.
fn is_test(plan: &Plan, root: Value<'_>) -> bool {
    let member = plan.test.as_ref().and_then(|test| test.find(Scope { event: root, item: None }));
    let scope = Scope { event: root, item: None };
    member.is_some_and(|value| *value.kind() == Kind::Bool(true))
        || (!plan.test_when.is_empty() && holds_all(&plan.test_when, scope))
}

/// A notice of bytes that have no readable identity: they are their own.
fn nameless(bytes: &[u8], why: String) -> Notice {
    let body = Body::new(bytes);
    Notice {
        id: id_of_bytes(&body),
        kind: Arc::from(""),
        account: None,
        mode: None,
        reading: Reading::Unreadable(why),
        content: body.digest(),
        body,
    }
}

fn id_of_bytes(body: &Body) -> EventId {
    EventId::new(format!("sha256:{}", body.digest())).expect("71 characters of ASCII are an id")
}

pub(crate) fn notice(plan: &Plan, event: Value<'_>, bytes: &[u8], received: Received<'_>) -> Notice {
    if *event.kind() != Kind::Object {
        return nameless(bytes, "body: not an object".to_owned());
    }
    let (scope, body) = (Scope { event, item: None }, Body::new(bytes));
    let id = identity::id(&plan.id, scope, &body, received);
    let kind = kind(plan, scope, received.headers);
    notice_of(plan, event, body, (id, kind))
}

/// An event's identity and type, as far as they were found.
type Named = (Result<EventId, Unreadable>, Result<Arc<str>, Unreadable>);

/// The notice of an object whose identity was looked for.
fn notice_of(plan: &Plan, event: Value<'_>, body: Body, (id, kind): Named) -> Notice {
    let scope = Scope { event, item: None };
    let (account, mode) = (account(plan, scope), mode(plan, scope));
    let ignored = !plan.ignore_when.is_empty() && holds_all(&plan.ignore_when, scope);
    let reading = match (&id, &kind, &account, &mode) {
        (Ok(_), ..) if ignored => Reading::Ignored,
        (Ok(id), Ok(kind), Ok(_), Ok(_)) => claim::reading(plan, kind, id, scope),
        (Err(why), ..) | (_, Err(why), ..) | (_, _, Err(why), _) | (.., Err(why)) => why.reading(),
    };
    Notice {
        id: id.unwrap_or_else(|_| id_of_bytes(&body)),
        kind: kind.unwrap_or_default(),
        account: account.unwrap_or_default(),
        mode: mode.unwrap_or_default(),
        reading,
        content: match &plan.content {
            // Not the bytes are signed but what they say.
            ContentRule::All if plan.syntax.signs_document() => content::digest(event, &[]),
            ContentRule::All => body.digest(),
            ContentRule::Without(members) => content::digest(event, members),
            ContentRule::Only(members) => content::digest_of(scope, members),
        },
        body,
    }
}

pub(crate) fn kind(plan: &Plan, scope: Scope<'_>, headers: &[&[u8]]) -> Result<Arc<str>, Unreadable> {
    match &plan.kind {
        KindRule::Member(pointers) => scalar::kind(pointers, scope),
        KindRule::Join(members, separator) => scalar::joined(members, separator, scope),
        KindRule::Header(number) => scalar::of_header(headers.get(*number).copied().unwrap_or_default()),
        KindRule::Fixed(word) => Ok(Arc::from(word.as_str())),
        KindRule::Unstated(name) => Err(Unreadable(format!("signature.values.{name}: not stated"))),
    }
}

fn account(plan: &Plan, scope: Scope<'_>) -> Result<Option<Name>, Unreadable> {
    let Some((pointer, value)) = plan.account.find(scope) else { return Ok(None) };
    let text = scalar::id_text(value).ok_or_else(|| malformed(pointer, "not an id"))?;
    Name::new(text).map(Some).map_err(|error| malformed(pointer, error))
}

pub(crate) fn mode(plan: &Plan, scope: Scope<'_>) -> Result<Option<Mode>, Unreadable> {
    match &plan.mode {
        None => Ok(None),
        Some(rule @ (ModeRule::Livemode(pointers) | ModeRule::Testmode(pointers))) => {
            match pointers.find(scope) {
                None => Ok(None),
                Some((pointer, value)) => match value.kind() {
                    Kind::Bool(is) => {
                        let live = *is == matches!(rule, ModeRule::Livemode(_));
                        Ok(Some(if live { Mode::Live } else { Mode::Test }))
                    }
                    _ => Err(malformed(pointer, "not a boolean")),
                },
            }
        }
        Some(ModeRule::Words { member, live, test }) => match member.find(scope) {
            None => Ok(None),
            Some((pointer, value)) => match value.kind() {
                Kind::Text(word) if live.iter().any(|known| known == word) => Ok(Some(Mode::Live)),
                Kind::Text(word) if test.iter().any(|known| known == word) => Ok(Some(Mode::Test)),
                _ => Err(malformed(pointer, "none of the contract's words for live and test")),
            },
        },
    }
}

/// Whether all of `conditions` hold.
pub(crate) fn holds_all(conditions: &[Condition], scope: Scope<'_>) -> bool {
    conditions.iter().all(|condition| {
        let value = condition.pointer.find(scope);
        match (&condition.test, value.map(Value::kind)) {
            (ConditionFormat::Present, value) => value.is_some(),
            (ConditionFormat::Absent, value) => value.is_none(),
            (ConditionFormat::Bool(expected), Some(Kind::Bool(is))) => expected == is,
            (ConditionFormat::Texts(expected), Some(Kind::Text(is))) => {
                expected.iter().any(|text| text == is)
            }
            _ => false,
        }
    })
}
