//! `/v1/audit`: who did what, and why.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use paidonce_ledger::OrderId;
use paidonce_store::AuditFilter;
use serde::Deserialize;
use utoipa::IntoParams;

use super::page;
use crate::http::app::App;
use crate::http::auth::Viewer;
use crate::http::dto::{AuditShown, Listing, Problem};
use crate::http::extract::Asked;
use crate::http::problem::Refusal;
use crate::http::reply::not_answered;

/// Which audit rows.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditQuery {
    /// That concerned this order.
    order: Option<String>,
    /// Done by this key, user or program.
    by: Option<String>,
    /// Rows in a page, 1 to 500.
    limit: Option<usize>,
    /// The `next` of the page before.
    after: Option<String>,
}

/// Lists what was done, newest first.
#[utoipa::path(
    get, path = "/v1/audit", tag = "operation", security(("api_key" = [])), params(AuditQuery),
    responses((status = 200, body = Listing<AuditShown>), (status = 400, body = Problem), (status = 401, body = Problem))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    _: Viewer,
    Asked(query): Asked<AuditQuery>,
) -> Result<Answer<Listing<AuditShown>>, Refusal> {
    let page = page::page(query.limit, query.after)?;
    let filter = AuditFilter { order: page::filter("order", query.order, OrderId::new)?, by: query.by };
    let listed = app.engine.query(move |store| store.audits(&filter, &page)).await;
    let listed = listed.map_err(|error| not_answered(&error))?;
    Ok(Answer(Listing::of(listed, |(key, audit)| AuditShown::of(&key, &audit))))
}
