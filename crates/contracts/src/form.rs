//! `application/x-www-form-urlencoded`, written again as the JSON object of texts that paths lead through. Strict,
//! so that one signed text has one meaning; two fields of one name are refused by the reader of that JSON.
//!
//! It knows nothing of files or of any other kind of form.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The most fields that are read. Providers send a dozen.
const FIELDS_MAX: usize = 256;

/// The form as JSON text.
pub(crate) fn json(body: &[u8]) -> Result<String, &'static str> {
    let text = std::str::from_utf8(body).map_err(|_| "not a form: no UTF-8")?;
    // Some senders end the body with a line break, which is no part of a form.
    let text = text.trim_end_matches(['\r', '\n']);
    let mut json = String::with_capacity(text.len() + 64);
    json.push('{');
    for (n, pair) in text.split('&').filter(|pair| !pair.is_empty()).enumerate() {
        if n == FIELDS_MAX {
            return Err("a form with more fields than are read");
        }
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if n > 0 {
            json.push(',');
        }
        quote(&unescape(name)?, &mut json);
        json.push(':');
        quote(&unescape(value)?, &mut json);
    }
    json.push('}');
    Ok(json)
}

fn quote(text: &str, to: &mut String) {
    to.push('"');
    for char in text.chars() {
        match char {
            '"' => to.push_str("\\\""),
            '\\' => to.push_str("\\\\"),
            '\0'..='\x1f' => write!(to, "\\u{:04x}", u32::from(char)).expect("text grows"),
            other => to.push(other),
        }
    }
    to.push('"');
}

fn unescape(text: &str) -> Result<Cow<'_, str>, &'static str> {
    const BROKEN: &str = "not a form: an escape is broken";
    if !text.bytes().any(|byte| matches!(byte, b'%' | b'+')) {
        return Ok(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = rest.get(..2).ok_or(BROKEN)?;
                bytes.extend(hex::decode(digits).map_err(|_| BROKEN)?);
                rest = &rest[2..];
            }
            other => bytes.push(*other),
        }
    }
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| BROKEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_unescaped_once_and_quoted() {
        assert_eq!(
            json("id=tr_1&x=a+b%2Bc%0A&empty=&bare&utf=%C3%A9&q=%22%5C\n".as_bytes()).unwrap(),
            r#"{"id":"tr_1","x":"a b+c\u000a","empty":"","bare":"","utf":"é","q":"\"\\"}"#
        );
    }

    #[test]
    fn what_has_no_one_meaning_is_refused() {
        for body in ["a=%", "a=%1", "a=%zz", "a=%ff"] {
            assert!(json(body.as_bytes()).is_err(), "{body}");
        }
        assert!(json(&b"a=1&".repeat(FIELDS_MAX + 1)).is_err());
        assert!(crate::json::Document::parse(json(b"id=1&id=2").unwrap().as_bytes()).is_err());
    }
}
