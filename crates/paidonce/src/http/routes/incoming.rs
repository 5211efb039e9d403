//! `POST /in/{source}`: a provider's delivery. Verified over its raw bytes, read, submitted, and answered only after
//! the commit (P1). `GET` is a provider's test of the endpoint, which some contracts have.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use axum::http::{HeaderMap, Response, StatusCode};
use axum::response::IntoResponse;
use bytes::Bytes;
use paidonce_contracts::{Acknowledgement, Delivery, Refused, Verifier};
use paidonce_ledger::{Command, EventReply, Receive, Received, Reply};

use crate::http::app::{App, Endpoint, IN_ROUTE};
use crate::http::body;
use crate::http::dto::{InAnswer, Problem};
use crate::http::extract::wrong_method;
use crate::http::problem::Refusal;
use crate::http::reply::{not_submitted, unexpected};
use crate::http::stamp::trace;

/// Takes in a provider's notification.
///
/// 2xx means that it is stored. Whoever is not genuine, and whatever source does not exist, gets one and the same 401.
#[utoipa::path(
    post, path = "/in/{source}", tag = "deliveries", params(("source" = String, Path)),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses(
        (status = 200, body = InAnswer, description = "Stored; the status and the body may be the contract's own"),
        (status = 401, body = Problem, description = "Not genuine, or no such source"),
        (status = 408, body = Problem), (status = 409, body = Problem, description = "This id came with other content"),
        (status = 413, body = Problem), (status = 415, body = Problem),
        (status = 422, body = Problem, description = "No order, and the source refuses such payments"),
        (status = 503, body = Problem, description = "Send it again")
    )
)]
pub(crate) async fn receive(
    State(app): State<Arc<App>>,
    source: Result<Path<String>, axum::extract::rejection::PathRejection>,
    request: Request,
) -> Response<Body> {
    let start = Instant::now();
    // A name that is no text names no source.
    let name = source.map(|Path(name)| name).unwrap_or_default();
    let endpoint = app.endpoints.get(&name);
    let (parts, body) = request.into_parts();
    let response = match body::read(&parts.headers, body, app.body_max, app.body_timeout).await {
        Ok(bytes) => match endpoint {
            Some(endpoint) => answer(&app, endpoint, &parts.headers, &bytes, start).await,
            None => unknown(&app, &name, &parts.headers, &bytes),
        },
        Err(refusal) => {
            endpoint
                .map_or(&app.nobody_metrics, |endpoint| &endpoint.metrics)
                .refused(reason(refusal.code()));
            refusal.into_response()
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    match endpoint {
        Some(endpoint) if response.status() == endpoint.source.contract.acknowledgement().status => {
            endpoint.accepted_time.observe(seconds);
        }
        _ => app.metrics.route(IN_ROUTE, response.status().as_u16()).observe(seconds),
    }
    response
}

/// A problem's code as a label that lives for ever.
fn reason(code: &str) -> &'static str {
    ["body_too_large", "body_timeout", "incomplete_body", "content_encoding"]
        .into_iter()
        .find(|known| *known == code)
        .unwrap_or("other")
}

/// One answer for all that is not genuine, byte for byte, whether the source exists or not. The status is the
/// contract's: what its provider takes for no, and not for never again.
fn not_genuine(verifier: Option<&Verifier>) -> Response<Body> {
    let own = verifier.and_then(|verifier| verifier.contract().acknowledgement().refused_status);
    let status = own.and_then(|status| StatusCode::from_u16(status).ok()).unwrap_or(StatusCode::UNAUTHORIZED);
    Refusal::new(status, "not_genuine", "the request is not genuine").into_response()
}

/// The certificate that would prove it is not here: it may come again.
fn no_certificate() -> Response<Body> {
    Refusal::unavailable("the provider's certificate cannot be had now").into_response()
}

/// The same work and the same answer as for a source that exists. Only that nothing is fetched for nobody.
fn unknown(app: &App, name: &str, headers: &HeaderMap, body: &Bytes) -> Response<Body> {
    let decoy = app.decoy(name);
    let verdict = decoy.map(|decoy| verify(app, decoy, headers, body));
    tracing::debug!(
        genuine_elsewhere = verdict.as_ref().is_some_and(Result::is_ok),
        "a delivery came to a source that does not exist"
    );
    app.nobody_metrics.refused("unknown_source");
    match verdict {
        Some(Err(Refused::NeedsCertificate)) => no_certificate(),
        _ => not_genuine(decoy),
    }
}

/// A request's header lines.
fn lines(headers: &HeaderMap) -> Vec<(&str, &[u8])> {
    headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect()
}

fn verify(app: &App, verifier: &Verifier, headers: &HeaderMap, body: &Bytes) -> Result<Delivery, Refused> {
    let (now_unix_s, kept) = (app.engine.now().0 / 1000, app.certificates.kept());
    Ok(verifier.verify_with(&lines(headers), body, now_unix_s, &kept)?.read())
}

/// Verifies; with a certificate that is fetched for it, if there is none or it is not accepted any more.
async fn verify_fetching(
    app: &App,
    verifier: &Verifier,
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<Delivery, Refused> {
    let refused = match verify(app, verifier, headers, body) {
        Err(refused @ (Refused::NeedsCertificate | Refused::Certificate)) => refused,
        verdict => return verdict,
    };
    let Some(url) = verifier.certificate_url(&lines(headers))? else { return Err(refused) };
    match app.certificates.fetch(url, app.engine.now().0).await {
        Ok(new) if new || refused == Refused::NeedsCertificate => verify(app, verifier, headers, body),
        Ok(_) => Err(refused),
        Err(error) => {
            tracing::warn!(%error, "a provider's certificate");
            Err(refused)
        }
    }
}

/// Answers a provider's test of the endpoint.
///
/// Only contracts with such a test have one (Braintree's `bt_challenge`). Every other GET is answered as if there were
/// none, whether the source exists or not.
#[utoipa::path(
    get, path = "/in/{source}", tag = "deliveries", params(("source" = String, Path)),
    responses(
        (status = 200, body = String, content_type = "text/plain", description = "The contract's answer"),
        (status = 405, body = Problem, description = "No such test")
    )
)]
pub(crate) async fn challenge(
    State(app): State<Arc<App>>,
    source: Result<Path<String>, axum::extract::rejection::PathRejection>,
    RawQuery(query): RawQuery,
) -> Response<Body> {
    let name = source.map(|Path(name)| name).unwrap_or_default();
    let endpoint = app.endpoints.get(&name);
    let answer = endpoint.map(|endpoint| endpoint.source.verifier.challenge(&query.unwrap_or_default()));
    match answer {
        Some(Ok(answer)) => plain(StatusCode::OK, answer, "text/plain; charset=utf-8"),
        Some(Err(_)) | None => wrong_method().await.header(ALLOW, "POST").into_response(),
    }
}

async fn answer(
    app: &App,
    endpoint: &Endpoint,
    headers: &HeaderMap,
    body: &Bytes,
    start: Instant,
) -> Response<Body> {
    let (source, metrics) = (&endpoint.source, &endpoint.metrics);
    let acknowledgement = source.contract.acknowledgement();
    let notices = match verify_fetching(app, &source.verifier, headers, body).await {
        Ok(Delivery::Events(notices)) => notices,
        Ok(Delivery::Test) => {
            metrics.received("test");
            tracing::info!(source = %source.name, outcome = "test", "a test notification");
            return acknowledged(acknowledgement, &InAnswer { events: Vec::new() });
        }
        Err(refused) => {
            metrics.refused(refused.reason());
            tracing::debug!(source = %source.name, reason = refused.reason(), "not genuine");
            return match refused {
                Refused::NeedsCertificate => no_certificate(),
                _ => not_genuine(Some(&source.verifier)),
            };
        }
    };
    let (name, account) = (source.name.clone(), source.account.clone());
    let command = Receive { source: name, account, notices, trace: trace(headers) };
    match app.engine.submit(Command::Receive(command)).await {
        Ok(Reply::Received(replies)) => {
            note(endpoint, &replies, start);
            replied(endpoint, acknowledgement, &replies)
        }
        Ok(other) => unexpected(&other).into_response(),
        Err(error) => {
            metrics.refused("unavailable");
            not_submitted(&error).into_response()
        }
    }
}

fn note(endpoint: &Endpoint, replies: &[EventReply], start: Instant) {
    for reply in replies {
        let outcome = reply.received.as_str();
        endpoint.metrics.received(outcome);
        tracing::info!(
            source = %endpoint.source.name,
            event = %reply.event,
            outcome,
            order = reply.order.as_ref().map(tracing::field::display),
            us = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX),
            "received"
        );
    }
}

/// Any refusal in a delivery sets its status: what was stored is a duplicate when it comes again.
fn replied(endpoint: &Endpoint, acknowledgement: &Acknowledgement, replies: &[EventReply]) -> Response<Body> {
    let any = |wanted: Received| replies.iter().any(|reply| reply.received == wanted);
    if any(Received::Rejected) {
        let detail = "the payment belongs to no order, and this source refuses such payments; nothing was stored of it";
        return Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "no_order", detail).into_response();
    }
    if any(Received::Conflict) && endpoint.source.conflict_status >= 400 {
        let status = StatusCode::from_u16(endpoint.source.conflict_status).unwrap_or(StatusCode::CONFLICT);
        let detail = "this event id came before with other content; both are kept, and a case is open";
        return Refusal::new(status, "payload_conflict", detail).into_response();
    }
    acknowledged(acknowledgement, &InAnswer::of(replies))
}

fn acknowledged(acknowledgement: &Acknowledgement, answer: &InAnswer) -> Response<Body> {
    let own = &acknowledgement.body;
    if acknowledgement.status == StatusCode::NO_CONTENT.as_u16() {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        return response;
    }
    let (body, kind) = if own.is_empty() {
        (serde_json::to_string(answer).expect("texts are JSON"), "application/json")
    } else if own.starts_with(['{', '[']) {
        (own.clone(), "application/json")
    } else {
        (own.clone(), "text/plain; charset=utf-8")
    };
    plain(StatusCode::from_u16(acknowledgement.status).unwrap_or(StatusCode::OK), body, kind)
}

fn plain(status: StatusCode, body: String, kind: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
