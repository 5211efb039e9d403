//! `/v1/entitlements`: what was granted, and "may this customer have this?".

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use paidonce_ledger::{Customer, OrderId, Sku};
use paidonce_store::{EntitlementFilter, Page};
use serde::Deserialize;
use utoipa::IntoParams;

use super::page;
use crate::http::app::App;
use crate::http::auth::Viewer;
use crate::http::dto::{EntitledAnswer, EntitlementShown, Listing, Problem};
use crate::http::extract::Asked;
use crate::http::problem::Refusal;
use crate::http::reply::not_answered;

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
