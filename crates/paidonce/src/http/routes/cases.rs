//! `/v1/cases`: what is held for a person, and what that person decides.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use paidonce_ledger::{Case, CaseKey, Command, OrderId, Reply, ResolveCase};
use paidonce_store::CaseFilter;
use serde::Deserialize;
use utoipa::IntoParams;

use super::{page, reason};
use crate::http::app::App;
use crate::http::auth::{Operator, Viewer};
use crate::http::dto::{CaseShown, Listing, Problem, ResolveRequest, Resolved};
use crate::http::extract::{Asked, Json, Named};
use crate::http::problem::Refusal;
use crate::http::reply::{not_answered, submit, unexpected};
use crate::http::stamp::Sent;

const RESOLVE: &str = "POST /v1/cases/{handle}/resolve";

/// Which cases.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct CaseQuery {
    /// Only open ones.
    open: Option<bool>,
    /// That concern this order.
    order: Option<String>,
    /// Rows in a page, 1 to 500.
    limit: Option<usize>,
    /// The `next` of the page before.
    after: Option<String>,
}

/// Lists cases, newest first.
#[utoipa::path(
    get, path = "/v1/cases", tag = "cases", security(("api_key" = [])), params(CaseQuery),
    responses((status = 200, body = Listing<CaseShown>), (status = 400, body = Problem), (status = 401, body = Problem))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    _: Viewer,
    Asked(query): Asked<CaseQuery>,
) -> Result<Answer<Listing<CaseShown>>, Refusal> {
    let page = page::page(query.limit, query.after)?;
    let order = page::filter("order", query.order, OrderId::new)?;
    let filter = CaseFilter { open: query.open.unwrap_or(false), order };
    let listed = app.engine.query(move |store| store.cases(&filter, &page)).await;
    let listed = listed.map_err(|error| not_answered(&error))?;
    Ok(Answer(Listing::of(listed, |(key, case)| CaseShown::of(&key, &case))))
}

/// Shows the case with this short name.
#[utoipa::path(
    get, path = "/v1/cases/{handle}", tag = "cases", security(("api_key" = [])), params(("handle" = String, Path)),
    responses((status = 200, body = CaseShown), (status = 401, body = Problem), (status = 404, body = Problem))
)]
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    _: Viewer,
    Named(handle): Named<String>,
) -> Result<Answer<CaseShown>, Refusal> {
    let (key, case) = found(&app, handle).await?;
    Ok(Answer(CaseShown::of(&key, &case)))
}

/// Decides about a case: it is right, it is wrong, its payment serves an order; or leaves a note.
#[utoipa::path(
    post, path = "/v1/cases/{handle}/resolve", tag = "cases", security(("api_key" = [])),
    params(("handle" = String, Path), ("Idempotency-Key" = Option<String>, Header)), request_body = ResolveRequest,
    responses(
        (status = 200, body = Resolved), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)
    )
)]
pub(crate) async fn resolve(
    State(app): State<Arc<App>>,
    Operator(caller): Operator,
    sent: Sent,
    Named(handle): Named<String>,
    Json(request): Json<ResolveRequest>,
) -> Result<Answer<Resolved>, Refusal> {
    let stamp = sent.stamp(&caller, RESOLVE, Some(reason(&request.reason)?));
    let decision = request.to_decision().map_err(Refusal::mistakes)?;
    let (case, _) = found(&app, handle.clone()).await?;
    match submit(&app.engine, Command::ResolveCase(ResolveCase { stamp, case, decision })).await? {
        Reply::Done => Ok(Answer(request.resolved(&handle))),
        other => Err(unexpected(&other)),
    }
}

async fn found(app: &App, handle: String) -> Result<(CaseKey, Case), Refusal> {
    let found = app.engine.query(move |store| store.case(&handle)).await;
    let found = found.map_err(|error| not_answered(&error))?;
    found.ok_or_else(|| Refusal::not_found("unknown_case", "there is no such case"))
}
