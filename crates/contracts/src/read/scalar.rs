//! Single values: ids, types and words, and what to call a member that has another form.

use std::fmt;
use std::sync::Arc;

use paidonce_ledger::{ID_BYTES_MAX, Reading};

use crate::json::{Kind, Value};
use crate::pointer::{Pointer, Pointers, Scope};

/// Why an event cannot be read: the member and what is wrong, never its value. P14
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unreadable(pub(crate) String);

impl Unreadable {
    pub(crate) fn reading(&self) -> Reading {
        Reading::Unreadable(self.0.clone())
    }
}

pub(crate) fn malformed(pointer: &Pointer, problem: impl fmt::Display) -> Unreadable {
    Unreadable(format!("{}: {problem}", pointer.text()))
}

pub(crate) fn absent(pointers: &Pointers) -> Unreadable {
    Unreadable(format!("{}: absent", pointers.text()))
}

/// The text of an id: a string, a whole number digit for digit, or the `id` of an object that the provider
/// expanded in its place.
pub(crate) fn id_text<'d>(value: Value<'d>) -> Option<&'d str> {
    match value.kind() {
        Kind::Object => match value.child("id")?.kind() {
            Kind::Text(text) => Some(text),
            _ => None,
        },
        _ => plain_text(value),
    }
}

/// A string, or a whole number digit for digit.
pub(crate) fn plain_text<'d>(value: Value<'d>) -> Option<&'d str> {
    match value.kind() {
        Kind::Text(text) => Some(text),
        Kind::Number(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => Some(text),
        _ => None,
    }
}

/// The event's type, short enough to be a key and fit to be shown.
pub(crate) fn kind(pointers: &Pointers, scope: Scope<'_>) -> Result<Arc<str>, Unreadable> {
    let (pointer, value) = pointers.find(scope).ok_or_else(|| absent(pointers))?;
    match value.kind() {
        Kind::Text(text) => fit(text).map_err(|problem| malformed(pointer, problem)),
        _ => Err(malformed(pointer, "not text")),
    }
}

/// Several members that are the type together.
pub(super) fn joined(members: &[Pointer], separator: &str, scope: Scope<'_>) -> Result<Arc<str>, Unreadable> {
    let mut text = String::new();
    for (n, pointer) in members.iter().enumerate() {
        let value = pointer.find(scope).ok_or_else(|| malformed(pointer, "absent"))?;
        let part = match value.kind() {
            Kind::Text(part) if !part.contains(separator) => &**part,
            Kind::Text(_) => return Err(malformed(pointer, "holds what separates the parts of a type")),
            Kind::Bool(true) => "true",
            Kind::Bool(false) => "false",
            _ => return Err(malformed(pointer, "not text")),
        };
        if n > 0 {
            text.push_str(separator);
        }
        text.push_str(part);
    }
    fit(&text).map_err(|problem| malformed(&members[0], problem))
}

/// A header that is the type.
pub(super) fn of_header(value: &[u8]) -> Result<Arc<str>, Unreadable> {
    let text = std::str::from_utf8(value).map_err(|_| "not UTF-8");
    text.and_then(fit).map_err(|problem| Unreadable(format!("the type's header: {problem}")))
}

fn fit(text: &str) -> Result<Arc<str>, &'static str> {
    match text {
        "" => Err("empty"),
        _ if text.len() > ID_BYTES_MAX => Err("too long for a type"),
        _ if text.chars().any(char::is_control) => Err("holds control characters"),
        _ => Ok(Arc::from(text)),
    }
}
