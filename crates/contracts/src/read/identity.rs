//! An event's identity, from what its signature covers and from nothing else.

use paidonce_ledger::Digest;
use paidonce_ledger::EventId;

use super::scalar::{Unreadable, absent, malformed, plain_text};
use crate::contract::plan::IdRule;
use crate::json::Kind;
use crate::pointer::{Pointer, Scope};

pub(super) fn id(rule: &IdRule, scope: Scope<'_>, headers: &[&[u8]]) -> Result<EventId, Unreadable> {
    match rule {
        IdRule::Member(pointers) => {
            let (pointer, value) = pointers.find(scope).ok_or_else(|| absent(pointers))?;
            let text = plain_text(value).ok_or_else(|| malformed(pointer, "not an id"))?;
            EventId::new(text).map_err(|error| malformed(pointer, error))
        }
        IdRule::Header { index, separator } => {
            let refused = |problem: &str| Unreadable(format!("the id's header: {problem}"));
            let value = headers.get(*index).copied().unwrap_or_default();
            let text = std::str::from_utf8(value).map_err(|_| refused("not UTF-8"))?;
            // ("a.1", "2", x) and ("a", "1", "2." x) have one signature: the boundary must be where it seems.
            if text.contains(separator.as_str()) {
                return Err(refused(&format!("holds {separator:?}, which separates what is signed")));
            }
            EventId::new(text).map_err(|error| refused(&error.to_string()))
        }
        IdRule::Derived(members) => derived(members, scope),
    }
}

/// A digest over the members, each with its length and its kind, so that none can lend a byte to another.
fn derived(members: &[Pointer], scope: Scope<'_>) -> Result<EventId, Unreadable> {
    let mut parts: Vec<&[u8]> = Vec::with_capacity(members.len() * 2);
    for pointer in members {
        let value = pointer.find(scope).ok_or_else(|| malformed(pointer, "absent"))?;
        let (tag, text) = match value.kind() {
            Kind::Text(text) => ("text", &**text),
            Kind::Number(text) => ("number", *text),
            Kind::Bool(true) => ("bool", "true"),
            Kind::Bool(false) => ("bool", "false"),
            Kind::Null | Kind::List | Kind::Object => return Err(malformed(pointer, "not a single value")),
        };
        parts.extend([tag.as_bytes(), text.as_bytes()]);
    }
    let digest = Digest::of_parts(parts);
    EventId::new(format!("derived:{digest}")).map_err(|error| Unreadable(error.to_string()))
}
