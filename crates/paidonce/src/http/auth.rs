//! Who is asking: API keys by their SHA-256, and what each may do. A handler states its need by what it takes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use paidonce_ledger::{Digest, Scope, Timestamp};

use super::app::App;
use super::problem::Refusal;

/// How long a key that was found is not looked up again; so long a revoked key may go on working.
const CACHED_MS: i64 = 2_000;

/// The most keys that are remembered.
const CACHE_MAX: usize = 1_024;

/// Whose key a request carried.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    /// The key's name: the `by` of what it does.
    pub(super) name: Arc<str>,
    scope: Scope,
}

/// A caller that may read.
pub(super) struct Viewer;

/// A caller that may act: on orders, references, events, cases, tasks and entitlements.
pub(super) struct Operator(pub(super) Caller);

/// Keys that were found lately. Unknown ones are not remembered: there are too many of them.
#[derive(Default)]
pub(super) struct Keys(Mutex<HashMap<Digest, (Timestamp, Caller)>>);

impl Keys {
    fn recent(&self, digest: &Digest, now: Timestamp) -> Option<Caller> {
        let keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (until, caller) = keys.get(digest)?;
        (*until > now).then(|| caller.clone())
    }

    fn remember(&self, digest: Digest, caller: &Caller, now: Timestamp) {
        let mut keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if keys.len() >= CACHE_MAX {
            keys.clear();
        }
        keys.insert(digest, (now.plus_ms(CACHED_MS), caller.clone()));
    }
}

/// What follows `Bearer` in the one Authorization header.
pub(super) fn bearer(parts: &Parts) -> Option<&str> {
    let mut headers = parts.headers.get_all(AUTHORIZATION).iter();
    let (Some(header), None) = (headers.next(), headers.next()) else { return None };
    let (scheme, text) = header.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| text.trim())
}

async fn caller(parts: &Parts, app: &App) -> Result<Caller, Refusal> {
    let unknown = || {
        let detail = "send a valid API key: Authorization: Bearer pk_...; `paidonce keys add` makes one";
        Refusal::new(StatusCode::UNAUTHORIZED, "unauthorized", detail).header(WWW_AUTHENTICATE, "Bearer")
    };
    let key = bearer(parts).filter(|key| key.starts_with("pk_")).ok_or_else(unknown)?;
    let (digest, now) = (Digest::of_bytes(key.as_bytes()), app.engine.now());
    if let Some(caller) = app.keys.recent(&digest, now) {
        return Ok(caller);
    }
    let found = app.engine.query(move |store| store.api_key(&digest)).await;
    let found = found.map_err(|error| {
        tracing::error!(%error, "an API key cannot be looked up");
        Refusal::unavailable("the store does not answer")
    })?;
    let (name, key) = found.filter(|(_, key)| key.revoked_at.is_none()).ok_or_else(unknown)?;
    let caller = Caller { name: Arc::from(name.as_str()), scope: key.scope };
    app.keys.remember(digest, &caller, now);
    Ok(caller)
}

async fn allowed(parts: &Parts, app: &App, needed: Scope) -> Result<Caller, Refusal> {
    let caller = caller(parts, app).await?;
    if caller.scope >= needed {
        return Ok(caller);
    }
    let detail = format!("the key's scope is {}, this needs {}", caller.scope.as_str(), needed.as_str());
    Err(Refusal::new(StatusCode::FORBIDDEN, "forbidden", detail))
}

impl FromRequestParts<Arc<App>> for Viewer {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refusal> {
        allowed(parts, app, Scope::View).await.map(|_| Self)
    }
}

impl FromRequestParts<Arc<App>> for Operator {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refusal> {
        allowed(parts, app, Scope::Operate).await.map(Self)
    }
}
