//! JSON as JavaScript writes it: `JSON.stringify(params, Object.keys(params).sort())`.
//!
//! That call filters and orders the members of nested objects by the outer names, which other libraries of the same
//! provider do not do, so an object inside is ambiguous and refused. So is a number whose digits JavaScript would
//! lose: two texts would have one signature.

use crate::json::{Kind, Value};

/// Why a body has no one canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ambiguous;

/// The canonical text of an object.
pub(super) fn text(object: Value<'_>) -> Result<String, Ambiguous> {
    if *object.kind() != Kind::Object {
        return Err(Ambiguous);
    }
    let mut members: Vec<Value<'_>> = object.children().collect();
    // JavaScript sorts by UTF-16 units, which is not the order of bytes beyond U+FFFF.
    members.sort_by(|one, other| one.name().encode_utf16().cmp(other.name().encode_utf16()));
    let mut to = String::with_capacity(object.raw().len());
    to.push('{');
    for (n, member) in members.into_iter().enumerate() {
        if n > 0 {
            to.push(',');
        }
        quote(member.name(), &mut to);
        to.push(':');
        write(member, &mut to)?;
    }
    to.push('}');
    Ok(to)
}

fn write(value: Value<'_>, to: &mut String) -> Result<(), Ambiguous> {
    match value.kind() {
        Kind::Null => to.push_str("null"),
        Kind::Bool(true) => to.push_str("true"),
        Kind::Bool(false) => to.push_str("false"),
        Kind::Text(text) => quote(text, to),
        Kind::Number(text) => to.push_str(&number(text)?),
        Kind::List => {
            to.push('[');
            for (n, item) in value.children().enumerate() {
                if n > 0 {
                    to.push(',');
                }
                write(item, to)?;
            }
            to.push(']');
        }
        Kind::Object => return Err(Ambiguous),
    }
    Ok(())
}

/// A number as JavaScript prints it, if it prints the same number.
fn number(text: &str) -> Result<String, Ambiguous> {
    let value: f64 = text.parse().map_err(|_| Ambiguous)?;
    if !value.is_finite() {
        return Err(Ambiguous);
    }
    let printed = ryu_js::Buffer::new().format_finite(value).to_owned();
    if decimal(&printed) == decimal(text) { Ok(printed) } else { Err(Ambiguous) }
}

/// Sign, digits without outer zeros, and the power of ten of the last digit: one form for each number. `None` for an
/// exponent that no amount has, which then equals nothing.
fn decimal(text: &str) -> Option<(bool, String, i32)> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().ok().filter(|power: &i32| power.abs() < 10_000)?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let kept = all.trim_end_matches('0');
    let dropped = i32::try_from(all.len() - kept.len()).ok()?;
    let power = exponent - i32::try_from(fraction.len()).ok()? + dropped;
    let digits = kept.trim_start_matches('0');
    if digits.is_empty() {
        Some((false, String::new(), 0))
    } else {
        Some((negative, digits.to_owned(), power))
    }
}

/// A string as `JSON.stringify` quotes it.
pub(super) fn quote(text: &str, to: &mut String) {
    to.push('"');
    for character in text.chars() {
        match character {
            '"' => to.push_str("\\\""),
            '\\' => to.push_str("\\\\"),
            '\u{8}' => to.push_str("\\b"),
            '\t' => to.push_str("\\t"),
            '\n' => to.push_str("\\n"),
            '\u{c}' => to.push_str("\\f"),
            '\r' => to.push_str("\\r"),
            '\0'..='\u{1f}' => to.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => to.push(character),
        }
    }
    to.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    fn of(body: &str) -> Result<String, Ambiguous> {
        text(Document::parse(body.as_bytes()).unwrap().root())
    }

    #[test]
    fn it_is_what_javascript_writes() {
        let body = "{ \"b\" : 50.0, \"a\": 1e21, \"c\":[1.50,null,true], \"\u{fb33}\":1, \"\u{1f600}\":2, \"n\":0.0000001, \"s\":\"\\u0001\\/\u{e9}\" }";
        let expect = "{\"a\":1e+21,\"b\":50,\"c\":[1.5,null,true],\"n\":1e-7,\"s\":\"\\u0001/\u{e9}\",\"\u{1f600}\":2,\"\u{fb33}\":1}";
        assert_eq!(of(body).unwrap(), expect);
        assert_eq!(of("{\"a\":-0}").unwrap(), "{\"a\":0}");
    }

    #[test]
    fn what_two_texts_could_share_is_refused() {
        for body in [
            "{\"a\":{}}",
            "{\"a\":[{}]}",
            "[]",
            "{\"a\":9007199254740993}",
            "{\"a\":0.1000000000000000001}",
            "{\"a\":1e400}",
        ] {
            assert_eq!(of(body), Err(Ambiguous), "{body}");
        }
    }
}
