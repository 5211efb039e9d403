//! `/v1/entitlements`: what was granted, "may this customer have this?", taking it back and giving it back.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use paidonce_ledger::{Command, Customer, OrderId, Reply, SetEntitlement, Sku, Stamp, Unit};
use paidonce_store::{EntitlementFilter, Page};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{page, reason};
use crate::http::app::App;
use crate::http::auth::{Operator, Viewer};
use crate::http::dto::{EntitledAnswer, EntitlementSet, EntitlementShown, Listing, Problem, ReasonRequest};
use crate::http::extract::{Asked, Json, Named};
use crate::http::problem::Refusal;
use crate::http::reply::{not_answered, submit, unexpected};
use crate::http::stamp::Sent;

const REVOKE: &str = "POST /v1/entitlements/{order}/{unit}/revoke";
const REINSTATE: &str = "POST /v1/entitlements/{order}/{unit}/reinstate";

/// Which entitlements.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EntitlementQuery {
    /// Of this order.
    order: Option<String>,
    /// Of this customer.
    customer: Option<String>,
    /// For this sku.
    sku: Option<String>,
    /// Only those that were not taken back.
    active: Option<bool>,
    /// Rows in a page, 1 to 500.
    limit: Option<usize>,
    /// The `next` of the page before.
    after: Option<String>,
}

/// Lists entitlements, newest first.
#[utoipa::path(
    get, path = "/v1/entitlements", tag = "entitlements", security(("api_key" = [])), params(EntitlementQuery),
    responses(
        (status = 200, body = Listing<EntitlementShown>), (status = 400, body = Problem),
        (status = 401, body = Problem)
    )
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    _: Viewer,
    Asked(query): Asked<EntitlementQuery>,
) -> Result<Answer<Listing<EntitlementShown>>, Refusal> {
    let page = page::page(query.limit, query.after)?;
    let filter = EntitlementFilter {
        order: page::filter("order", query.order, OrderId::new)?,
        customer: page::filter("customer", query.customer, Customer::new)?,
        sku: page::filter("sku", query.sku, Sku::new)?,
        active: query.active.unwrap_or(false),
    };
    listed(&app, filter, page).await.map(Answer)
}

async fn listed(
    app: &App,
    filter: EntitlementFilter,
    page: Page,
) -> Result<Listing<EntitlementShown>, Refusal> {
    let listed = app.engine.query(move |store| store.entitlements(&filter, &page)).await;
    let listed = listed.map_err(|error| not_answered(&error))?;
    Ok(Listing::of(listed, |((order, unit), row)| EntitlementShown::of(&order, unit, &row)))
}

/// Who, and what.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct CheckQuery {
    /// Who.
    customer: String,
    /// What.
    sku: String,
}

/// How many entitlements an answer shows.
const SHOWN: usize = 20;

/// May this customer have this?
#[utoipa::path(
    get, path = "/v1/entitlements/check", tag = "entitlements", security(("api_key" = [])), params(CheckQuery),
    responses((status = 200, body = EntitledAnswer), (status = 400, body = Problem), (status = 401, body = Problem))
)]
pub(crate) async fn check(
    State(app): State<Arc<App>>,
    _: Viewer,
    Asked(query): Asked<CheckQuery>,
) -> Result<Answer<EntitledAnswer>, Refusal> {
    let CheckQuery { customer, sku } = query;
    let filter = EntitlementFilter {
        order: None,
        customer: page::filter("customer", Some(customer.clone()), Customer::new)?,
        sku: page::filter("sku", Some(sku.clone()), Sku::new)?,
        active: true,
    };
    let entitlements = listed(&app, filter, Page::first(SHOWN)).await?.rows;
    Ok(Answer(EntitledAnswer { entitled: !entitlements.is_empty(), customer, sku, entitlements }))
}

/// Takes an entitlement back. Later facts do not give it back; a person can.
#[utoipa::path(
    post, path = "/v1/entitlements/{order}/{unit}/revoke", tag = "entitlements", security(("api_key" = [])),
    params(("order" = String, Path), ("unit" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = ReasonRequest,
    responses(
        (status = 200, body = EntitlementSet), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem)
    )
)]
pub(crate) async fn revoke(
    State(app): State<Arc<App>>,
    Operator(caller): Operator,
    sent: Sent,
    Named(names): Named<(String, String)>,
    Json(request): Json<ReasonRequest>,
) -> Result<Answer<EntitlementSet>, Refusal> {
    let stamp = sent.stamp(&caller, REVOKE, Some(reason(&request.reason)?));
    set(&app, names, stamp, false).await
}

/// Gives an entitlement back. The policy does not take it again; a person can.
#[utoipa::path(
    post, path = "/v1/entitlements/{order}/{unit}/reinstate", tag = "entitlements", security(("api_key" = [])),
    params(("order" = String, Path), ("unit" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = ReasonRequest,
    responses(
        (status = 200, body = EntitlementSet), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem)
    )
)]
pub(crate) async fn reinstate(
    State(app): State<Arc<App>>,
    Operator(caller): Operator,
    sent: Sent,
    Named(names): Named<(String, String)>,
    Json(request): Json<ReasonRequest>,
) -> Result<Answer<EntitlementSet>, Refusal> {
    let stamp = sent.stamp(&caller, REINSTATE, Some(reason(&request.reason)?));
    set(&app, names, stamp, true).await
}

async fn set(
    app: &App,
    (order, unit): (String, String),
    stamp: Stamp,
    granted: bool,
) -> Result<Answer<EntitlementSet>, Refusal> {
    let Some((id, part)) = OrderId::new(&order).ok().zip(Unit::parse(&unit)) else {
        return Err(Refusal::not_found("not_granted", "nothing is granted for that unit"));
    };
    let command = SetEntitlement { stamp, order: id, unit: part, granted };
    match submit(&app.engine, Command::SetEntitlement(command)).await? {
        Reply::Done => Ok(Answer(EntitlementSet { order, unit, active: granted })),
        other => Err(unexpected(&other)),
    }
}
