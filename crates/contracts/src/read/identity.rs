//! An event's identity, from what its signature covers and from nothing else.

use paidonce_ledger::{Body, Digest, EventId};

use super::Received;
use super::scalar::{Unreadable, absent, malformed, plain_text};
use crate::contract::plan::IdRule;
use crate::json::Kind;
use crate::pointer::{Pointer, Scope};

pub(super) fn id(
    rule: &IdRule,
    scope: Scope<'_>,
    body: &Body,
    received: Received<'_>,
) -> Result<EventId, Unreadable> {
    match rule {
        IdRule::Member(pointers) => {
            let (pointer, value) = pointers.find(scope).ok_or_else(|| absent(pointers))?;
            let text = plain_text(value).ok_or_else(|| malformed(pointer, "not an id"))?;
            EventId::new(text).map_err(|error| malformed(pointer, error))
        }
        IdRule::Header { index, separator } => {
            let refused = |problem: &str| Unreadable(format!("the id's header: {problem}"));
            let value = received.headers.get(*index).copied().unwrap_or_default();
            let text = std::str::from_utf8(value).map_err(|_| refused("not UTF-8"))?;
            // ("a.1", "2", x) and ("a", "1", "2." x) have one signature: the boundary must be where it seems.
            if text.contains(separator.as_str()) {
                return Err(refused(&format!("holds {separator:?}, which separates what is signed")));
            }
            EventId::new(text).map_err(|error| refused(&error.to_string()))
        }
        IdRule::Derived(members, optional) => derived(members, optional, scope),
        IdRule::Body => named(Digest::of_parts([&b"body"[..], body.bytes()])),
        // Nothing tells two deliveries apart but that they came apart. Two within one second are one event, which is
        // as good as both: neither says more than that somebody has to look.
        IdRule::None => {
            let at = received.at_unix_s.to_be_bytes();
            named(Digest::of_parts([&b"none"[..], &at[..], body.bytes()]))
        }
    }
}

/// A digest over the members, each with its length and its kind, so that none can lend a byte to another.
fn derived(members: &[Pointer], optional: &[Pointer], scope: Scope<'_>) -> Result<EventId, Unreadable> {
    let mut parts: Vec<&[u8]> = Vec::with_capacity(members.len() * 2);
    for (n, pointer) in members.iter().chain(optional).enumerate() {
        let Some(value) = pointer.find(scope) else {
            if n < members.len() {
                return Err(malformed(pointer, "absent"));
            }
            parts.extend([&b"absent"[..], &b""[..]]);
            continue;
        };
        let (tag, text) = match value.kind() {
            Kind::Text(text) => ("text", &**text),
            Kind::Number(text) => ("number", *text),
            Kind::Bool(true) => ("bool", "true"),
            Kind::Bool(false) => ("bool", "false"),
            Kind::Null | Kind::List | Kind::Object => return Err(malformed(pointer, "not a single value")),
        };
        parts.extend([tag.as_bytes(), text.as_bytes()]);
    }
    named(Digest::of_parts(parts))
}

fn named(digest: Digest) -> Result<EventId, Unreadable> {
    EventId::new(format!("derived:{digest}")).map_err(|error| Unreadable(error.to_string()))
}
