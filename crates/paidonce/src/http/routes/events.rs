//! `/v1/events`: what was received, and reading it again. Bodies are not shown here: they hold personal data.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use paidonce_ledger::{EventId, SourceName};
use paidonce_store::EventFilter;
use serde::Deserialize;
use utoipa::IntoParams;

use super::page;
use crate::http::app::App;
use crate::http::auth::{Operator, Viewer};
use crate::http::dto::{EventShown, Listing, Problem, ReprocessRequest, Reprocessed};
use crate::http::extract::{Asked, Json};
use crate::http::problem::Refusal;
use crate::http::reply::{not_answered, not_reprocessed};
use crate::reprocess::{Wanted, reprocess};

/// Which events.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventQuery {
    /// Received by this source first.
    source: Option<String>,
    /// `applied`, `ignored`, `unreadable` or `held`.
    outcome: Option<String>,
    /// With this id, at any account.
    id: Option<String>,
    /// Rows in a page, 1 to 500.
    limit: Option<usize>,
    /// The `next` of the page before.
    after: Option<String>,
}

const OUTCOMES: [&str; 4] = ["applied", "ignored", "unreadable", "held"];

/// Lists events, newest first.
#[utoipa::path(
    get, path = "/v1/events", tag = "events", security(("api_key" = [])), params(EventQuery),
    responses((status = 200, body = Listing<EventShown>), (status = 400, body = Problem), (status = 401, body = Problem))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    _: Viewer,
    Asked(query): Asked<EventQuery>,
) -> Result<Answer<Listing<EventShown>>, Refusal> {
    let page = page::page(query.limit, query.after)?;
    let known = |outcome: String| {
        if OUTCOMES.contains(&outcome.as_str()) {
            Ok(outcome)
        } else {
            Err(format!("one of {}", OUTCOMES.join(", ")))
        }
    };
    let filter = EventFilter {
        source: page::filter("source", query.source, SourceName::new)?,
        outcome: page::filter("outcome", query.outcome, known)?,
        id: page::filter("id", query.id, EventId::new)?,
        payment: None,
    };
    let listed = app.engine.query(move |store| store.events(&filter, &page)).await;
    let listed = listed.map_err(|error| not_answered(&error))?;
    Ok(Answer(Listing::of(listed, |(key, event)| EventShown::of(&key, &event))))
}

/// Reads stored events again that were unreadable (or ignored), by the contracts as they are now. Tells what would
/// change; with `apply`, commits it, one event after another. Doing it again changes nothing, so it takes no
/// Idempotency-Key.
#[utoipa::path(
    post, path = "/v1/events/reprocess", tag = "events", security(("api_key" = [])), request_body = ReprocessRequest,
    responses(
        (status = 200, body = Reprocessed), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem), (status = 503, body = Problem)
    )
)]
pub(crate) async fn again(
    State(app): State<Arc<App>>,
    Operator(caller): Operator,
    Json(request): Json<ReprocessRequest>,
) -> Result<Answer<Reprocessed>, Refusal> {
    let wanted = Wanted::of(&request, &app.accounts).map_err(Refusal::mistakes)?;
    let done = reprocess(&app.engine, &app.readers, &wanted, &caller.name).await;
    done.map(Answer).map_err(|fault| not_reprocessed(&fault))
}
