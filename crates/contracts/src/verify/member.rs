//! A signature that stands in the body: one for each item of a batch, or one field of a form.
//!
//! The body has to be read before it is proved, by the same strict reader that reads it afterwards. What is signed
//! are members as text, so the bytes around them prove nothing, and the contract says so.

use std::borrow::Cow;

use super::{Refused, Verifier};
use crate::contract::signature::Part;
use crate::json::{Document, Kind, Value};
use crate::pointer::{Pointer, Scope};
use crate::read::ITEMS_MAX;

impl Verifier {
    /// Tries every key on each item. One forged item refuses the delivery: its provider never sends such a batch.
    pub(super) fn matching_members(&self, member: &Pointer, body: &[u8]) -> Result<usize, Refused> {
        let plan = self.contract.plan();
        let text = plan.syntax.json(body).map_err(|_| Refused::AmbiguousBody)?;
        let document = Document::parse(&text).map_err(|_| Refused::AmbiguousBody)?;
        let root = document.root();
        let Some(items) = &plan.items else { return self.matching_member(member, root) };
        let list = items.find(Scope { event: root, item: None }).ok_or(Refused::MissingSignature)?;
        let mut position = None;
        for (n, item) in list.children().enumerate() {
            if n == ITEMS_MAX {
                return Err(Refused::AmbiguousBody);
            }
            position = position.max(Some(self.matching_member(member, item)?));
        }
        // An empty batch carries no signature.
        position.ok_or(Refused::MissingSignature)
    }

    fn matching_member(&self, member: &Pointer, event: Value<'_>) -> Result<usize, Refused> {
        let scope = Scope { event, item: None };
        let claimed = match member.find(scope).map(Value::kind) {
            Some(Kind::Text(text)) if !text.is_empty() => text,
            Some(Kind::Text(_)) | None => return Err(Refused::MissingSignature),
            Some(_) => return Err(Refused::MalformedSignature),
        };
        let signature = self.contract.signature();
        let mut parts = Vec::with_capacity(signature.signed.len());
        for part in &signature.signed {
            parts.push(match part {
                Part::Member(pointer) => as_signed(pointer.find(scope))?,
                Part::Literal(text) => Cow::Borrowed(text.as_str()),
                _ => Cow::Borrowed(""),
            });
        }
        let mut matching = None;
        for key in &self.keys {
            let encoding = signature.schemes[key.scheme].encoding;
            let bytes = parts.iter().map(|part| part.as_bytes());
            if key.fits_any(bytes, std::iter::once(&**claimed), encoding) {
                matching = matching.or(Some(key.secret_position));
            }
        }
        matching.ok_or(Refused::SignatureMismatch)
    }
}

/// A member as it is signed: text unescaped, a number digit for digit, nothing for what is absent.
fn as_signed(value: Option<Value<'_>>) -> Result<Cow<'_, str>, Refused> {
    match value.map(Value::kind) {
        None | Some(Kind::Null) => Ok(Cow::Borrowed("")),
        Some(Kind::Text(text)) => Ok(Cow::Borrowed(text)),
        Some(Kind::Number(digits)) => Ok(Cow::Borrowed(digits)),
        Some(Kind::Bool(is)) => Ok(Cow::Borrowed(if *is { "true" } else { "false" })),
        Some(Kind::List | Kind::Object) => Err(Refused::AmbiguousBody),
    }
}
