//! Under which id a request's command goes, and which trace it belongs to.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use paidonce_ledger::{CommandId, OrderId, Stamp};

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
    /// As [`Sent::stamp`], for the buyer of an order.
    pub(super) fn stamp_of_buyer(&self, order: &OrderId, route: &str) -> Stamp {
        // A name that no API key can be confused with: it is scoped by its route.
        let id = self.command_id(&format!("buyer of {order}"), route);
        Stamp { id, by: Arc::from("buyer"), reason: None }
    }

    fn command_id(&self, by: &str, route: &str) -> CommandId {
        match &self.key {
            Some(key) => fresh::keyed_command_id(by, route, key),
            None => fresh::command_id(),
        }
    }

    /// The key, where there must be one: what is made twice by mistake cannot be taken back.
    pub(super) fn required_key(&self) -> Result<&str, Refusal> {
        self.key.as_deref().ok_or_else(|| {
            let detail = "send an Idempotency-Key header: a text of your own, another for each order, the same for \
                          each retry of one";
            Refusal::new(StatusCode::BAD_REQUEST, "idempotency_key_missing", detail)
        })
    }

    /// The stamp of this request's command. `route` is the method and the route's template.
    pub(super) fn stamp(&self, caller: &Caller, route: &str, reason: Option<&str>) -> Stamp {
        let id = self.command_id(&caller.name, route);
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
