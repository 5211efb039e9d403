//! Under which id a request's command goes, and which trace it belongs to.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use paidonce_ledger::{CommandId, Stamp};

use super::app::App;
use super::auth::Caller;
use super::problem::Refusal;
use crate::fresh;

const IDEMPOTENCY_KEY: &str = "idempotency-key";
const TRACEPARENT: &str = "traceparent";

/// A request's `Idempotency-Key` and trace context.
pub(super) struct Sent {
    key: Option<String>,
    pub(super) trace: Option<Arc<str>>,
}

impl FromRequestParts<Arc<App>> for Sent {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Refusal> {
        Ok(Self { key: key(&parts.headers)?, trace: trace(&parts.headers) })
    }
}

impl Sent {
    /// The stamp of this request's command. `route` is the method and the route's template.
    pub(super) fn stamp(&self, caller: &Caller, route: &str, reason: Option<&str>) -> Stamp {
        let id: CommandId = match &self.key {
            Some(key) => fresh::keyed_command_id(&caller.name, route, key),
            None => fresh::command_id(),
        };
        Stamp { id, by: caller.name.clone(), reason: reason.map(Arc::from) }
    }
}

fn key(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let visible = |bytes: &[u8]| (1..=255).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic);
    match value.to_str() {
        Ok(text) if visible(value.as_bytes()) && values.next().is_none() => Ok(Some(text.to_owned())),
        _ => {
            Err(Refusal::mistake("Idempotency-Key", "write one header of 1 to 255 visible ASCII characters"))
        }
    }
}

/// A W3C trace context of version 00, kept as it is; anything else is none.
pub(super) fn trace(headers: &HeaderMap) -> Option<Arc<str>> {
    let text = headers.get(TRACEPARENT)?.to_str().ok()?;
    let hex = |part: &str, length: usize| {
        part.len() == length && part.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    let parts: Vec<_> = text.splitn(5, '-').collect();
    let [version, trace, span, flags] = parts[..] else { return None };
    let some = |part: &str| part.bytes().any(|byte| byte != b'0');
    let valid =
        version == "00" && hex(trace, 32) && some(trace) && hex(span, 16) && some(span) && hex(flags, 2);
    valid.then(|| Arc::from(text))
}
