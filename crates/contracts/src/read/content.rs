//! What two deliveries of one event must have in common, where the provider changes a member between them.
//!
//! A digest over a canonical form of the event without the named members: names sorted, strings unescaped,
//! numbers digit for digit, no white space. Digests are stored, so this form never changes for a given contract.

use paidonce_ledger::Digest;

use crate::json::{Kind, Value};
use crate::pointer::{Pointer, Scope};

/// The digest of `event` without its top members named in `without`.
pub(super) fn digest(event: Value<'_>, without: &[String]) -> Digest {
    let mut canonical = Vec::with_capacity(event.raw().len() + 256);
    write_members(
        event.members_by_name().filter(|member| !without.iter().any(|name| name == member.name())),
        &mut canonical,
    );
    Digest::of_bytes(&canonical)
}

/// The digest of these members of an event and of nothing else; one that is absent is nothing.
pub(super) fn digest_of(scope: Scope<'_>, members: &[Pointer]) -> Digest {
    let mut canonical = Vec::with_capacity(256);
    for pointer in members {
        write_text(b'p', pointer.text(), &mut canonical);
        match pointer.find(scope) {
            Some(value) => write(value, &mut canonical),
            None => canonical.push(b'z'),
        }
    }
    Digest::of_bytes(&canonical)
}

fn write(value: Value<'_>, to: &mut Vec<u8>) {
    match value.kind() {
        Kind::Null => to.push(b'z'),
        Kind::Bool(true) => to.push(b't'),
        Kind::Bool(false) => to.push(b'f'),
        Kind::Number(text) => write_text(b'n', text, to),
        Kind::Text(text) => write_text(b's', text, to),
        Kind::List => {
            to.push(b'[');
            value.children().for_each(|item| write(item, to));
            to.push(b']');
        }
        Kind::Object => write_members(value.members_by_name(), to),
    }
}

fn write_members<'d>(members: impl Iterator<Item = Value<'d>>, to: &mut Vec<u8>) {
    to.push(b'{');
    for member in members {
        write_text(b'm', member.name(), to);
        write(member, to);
    }
    to.push(b'}');
}

/// A tag, the length (seven bits a byte, the high bit says that more follow), the text: nothing inside a text can
/// look like structure.
#[allow(clippy::cast_possible_truncation)] // Seven bits fit in eight.
fn write_text(tag: u8, text: &str, to: &mut Vec<u8>) {
    to.push(tag);
    let mut length = text.len();
    while length >= 0x80 {
        to.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    to.push(length as u8);
    to.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    fn digest_of(text: &str) -> Digest {
        digest(Document::parse(text.as_bytes()).unwrap().root(), &["p".to_owned()])
    }

    #[test]
    fn what_is_left_out_and_how_it_is_written_does_not_count() {
        let first = digest_of(r#"{"a":"\u0041/","b":[1,{"c":null,"d":true}],"p":1}"#);
        assert_eq!(first, digest_of(r#"{ "p" : {"x":2}, "b":[1,{"d":true,"c":null}],"a":"A\/"}"#));
        assert_eq!(first, digest_of(r#"{"b":[1,{"d":true,"c":null}],"a":"A/"}"#));
    }

    #[test]
    fn everything_else_counts() {
        let texts = [
            r#"{"a":1}"#,
            r#"{"a":1.0}"#,
            r#"{"a":"1"}"#,
            r#"{"a":[1]}"#,
            r#"{"a":null}"#,
            r#"{}"#,
            r#"{"b":1}"#,
            r#"{"a":{"p":1}}"#,
            r#"{"a":{}}"#,
            r#"{"a":[1,2]}"#,
            r#"{"a":[2,1]}"#,
            r#"{"a":[[1],2]}"#,
        ];
        let digests: std::collections::BTreeSet<_> = texts.iter().map(|text| digest_of(text)).collect();
        assert_eq!(digests.len(), texts.len());
    }
}
