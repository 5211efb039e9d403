//! Vectors out of their JSON. Members that are only for people are passed over.

use std::collections::BTreeMap;

use super::Vector;
use crate::json::{Document, Kind, Value};
use crate::secret::Secret;

/// A file of vectors that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct VectorError {
    place: String,
    problem: String,
}

pub(super) fn vectors(text: &str) -> Result<Vec<Vector>, VectorError> {
    let whole = |problem: String| VectorError { place: "the file".to_owned(), problem };
    let document = Document::parse(text.as_bytes()).map_err(|error| whole(error.to_string()))?;
    if *document.root().kind() != Kind::List {
        return Err(whole("not a list of vectors".to_owned()));
    }
    let numbered = document.root().children().enumerate();
    numbered
        .map(|(n, value)| {
            let place = match member(value, "id").and_then(text_of) {
                Some(id) => format!("vector {id}"),
                None => format!("vector {} of the list", n + 1),
            };
            vector(value).map_err(|problem| VectorError { place, problem })
        })
        .collect()
}

fn vector(value: Value<'_>) -> Result<Vector, String> {
    let optional = |name: &str| member(value, name).and_then(text_of).map(str::to_owned);
    let required = |name: &str| optional(name).ok_or_else(|| format!("{name}: a text is needed"));
    Ok(Vector {
        id: required("id")?,
        description: optional("description").unwrap_or_default(),
        valid: match required("expect")?.as_str() {
            "valid" => true,
            "invalid" => false,
            _ => return Err("expect: valid or invalid".to_owned()),
        },
        reason: optional("reason"),
        scheme: optional("scheme"),
        attack: member(value, "attack").is_some_and(|value| *value.kind() == Kind::Bool(true)),
        secrets: texts(value, "secret")?.into_iter().map(Secret::new).collect(),
        headers: headers(value)?,
        body: required("body")?,
        now_unix_s: number(value, "now")?.unwrap_or(0),
        tolerance_s: number(value, "tolerance_s")?,
        method: optional("method"),
        url: optional("url"),
        context: context(value),
        answer: optional("expect_response_body"),
    })
}

/// A member that is not `null`.
fn member<'d>(value: Value<'d>, name: &str) -> Option<Value<'d>> {
    value.child(name).filter(|value| *value.kind() != Kind::Null)
}

fn text_of<'d>(value: Value<'d>) -> Option<&'d str> {
    match value.kind() {
        Kind::Text(text) => Some(text),
        _ => None,
    }
}

fn number(value: Value<'_>, name: &str) -> Result<Option<i64>, String> {
    match member(value, name).map(Value::kind) {
        None => Ok(None),
        Some(Kind::Number(text)) => text.parse().map(Some).map_err(|_| format!("{name}: whole seconds")),
        Some(_) => Err(format!("{name}: whole seconds")),
    }
}

/// A text or a list of texts; none if it is not there.
fn texts(value: Value<'_>, name: &str) -> Result<Vec<String>, String> {
    let Some(value) = member(value, name) else { return Ok(Vec::new()) };
    let one = |value: Value<'_>| {
        text_of(value).map(str::to_owned).ok_or_else(|| format!("{name}: a text or a list of texts"))
    };
    match value.kind() {
        Kind::List => value.children().map(one).collect(),
        _ => Ok(vec![one(value)?]),
    }
}

fn headers(value: Value<'_>) -> Result<Vec<(String, String)>, String> {
    let headers = member(value, "headers").ok_or("headers: an object is needed")?;
    if *headers.kind() != Kind::Object {
        return Err("headers: an object is needed".to_owned());
    }
    let mut lines = Vec::new();
    for header in headers.children() {
        let name = header.name();
        for value in texts(headers, name)? {
            lines.push((name.to_owned(), value));
        }
    }
    Ok(lines)
}

fn context(value: Value<'_>) -> BTreeMap<String, String> {
    let members = member(value, "context").into_iter().flat_map(Value::children);
    members.filter_map(|member| Some((member.name().to_owned(), text_of(member)?.to_owned()))).collect()
}
