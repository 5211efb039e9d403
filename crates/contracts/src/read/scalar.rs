//! Single values: ids, types and words, and what to call a member that has another form.

use std::fmt;
use std::sync::Arc;

use paidonce_ledger::{ID_BYTES_MAX, Reading};

use crate::json::{Kind, Value};
use crate::pointer::{Pointer, Pointers, Scope};

/// Why an event cannot be read: the member and what is wrong, never its value. P14
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unreadable(pub(super) String);

impl Unreadable {
    pub(super) fn reading(&self) -> Reading {
        Reading::Unreadable(self.0.clone())
    }
}

pub(super) fn malformed(pointer: &Pointer, problem: impl fmt::Display) -> Unreadable {
    Unreadable(format!("{}: {problem}", pointer.text()))
}

pub(super) fn absent(pointers: &Pointers) -> Unreadable {
    Unreadable(format!("{}: absent", pointers.text()))
}

/// The text of an id: a string, a whole number digit for digit, or the `id` of an object that the provider
/// expanded in its place.
pub(super) fn id_text<'d>(value: Value<'d>) -> Option<&'d str> {
    match value.kind() {
        Kind::Object => match value.child("id")?.kind() {
            Kind::Text(text) => Some(text),
            _ => None,
        },
        _ => plain_text(value),
    }
}

/// A string, or a whole number digit for digit.
pub(super) fn plain_text<'d>(value: Value<'d>) -> Option<&'d str> {
    match value.kind() {
        Kind::Text(text) => Some(text),
        Kind::Number(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => Some(text),
        _ => None,
    }
}

/// The event's type, short enough to be a key and fit to be shown.
pub(super) fn kind(pointers: &Pointers, scope: Scope<'_>) -> Result<Arc<str>, Unreadable> {
    let (pointer, value) = pointers.find(scope).ok_or_else(|| absent(pointers))?;
    match value.kind() {
        Kind::Text(text) if text.is_empty() => Err(malformed(pointer, "empty")),
        Kind::Text(text) if text.len() > ID_BYTES_MAX => Err(malformed(pointer, "too long for a type")),
        Kind::Text(text) if text.chars().any(char::is_control) => {
            Err(malformed(pointer, "holds control characters"))
        }
        Kind::Text(text) => Ok(Arc::from(&**text)),
        _ => Err(malformed(pointer, "not text")),
    }
}
