//! `/v1/products`, `/v1/stock`: the catalogue, and how many there are.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use paidonce_ledger::{Command, Product, Reply, Sku};
use paidonce_store::Listed;
use serde::Deserialize;
use utoipa::IntoParams;

use super::page;
use crate::http::app::App;
use crate::http::auth::{Operator, Viewer};
use crate::http::dto::{Listing, Problem, ProductRequest, ProductShown, StockShown};
use crate::http::extract::{Asked, Json};
use crate::http::problem::Refusal;
use crate::http::reply::{not_answered, submit, unexpected};
use crate::http::stamp::Sent;

const SET: &str = "POST /v1/products";

/// Which part of the catalogue.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ProductQuery {
    /// Rows in a page, 1 to 500.
    limit: Option<usize>,
    /// The `next` of the page before.
    after: Option<String>,
}

async fn listed(app: &App, query: ProductQuery) -> Result<Listed<(Sku, Product)>, Refusal> {
    let page = page::page(query.limit, query.after)?;
    let listed = app.engine.query(move |store| store.products(&page)).await;
    listed.map_err(|error| not_answered(&error))
}

/// Sets what a product costs and how many there are. The same again changes nothing.
#[utoipa::path(
    post, path = "/v1/products", tag = "products", security(("api_key" = [])), request_body = ProductRequest,
    params(("Idempotency-Key" = Option<String>, Header)),
    responses(
        (status = 200, body = ProductRequest), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 409, body = Problem)
    )
)]
pub(crate) async fn set(
    State(app): State<Arc<App>>,
    Operator(caller): Operator,
    sent: Sent,
    Json(request): Json<ProductRequest>,
) -> Result<Answer<ProductRequest>, Refusal> {
    let command = request.to_command(sent.stamp(&caller, SET, None)).map_err(Refusal::mistakes)?;
    match submit(&app.engine, Command::SetProduct(command)).await? {
        Reply::Done => Ok(Answer(request)),
        other => Err(unexpected(&other)),
    }
}

/// Lists the catalogue, what was set last first.
#[utoipa::path(
    get, path = "/v1/products", tag = "products", security(("api_key" = [])), params(ProductQuery),
    responses((status = 200, body = Listing<ProductShown>), (status = 400, body = Problem), (status = 401, body = Problem))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    _: Viewer,
    Asked(query): Asked<ProductQuery>,
) -> Result<Answer<Listing<ProductShown>>, Refusal> {
    let listed = listed(&app, query).await?;
    Ok(Answer(Listing::of(listed, |(sku, row)| ProductShown::of(&sku, &row))))
}

/// Lists how many there are of each product.
#[utoipa::path(
    get, path = "/v1/stock", tag = "products", security(("api_key" = [])), params(ProductQuery),
    responses((status = 200, body = Listing<StockShown>), (status = 400, body = Problem), (status = 401, body = Problem))
)]
pub(crate) async fn stock(
    State(app): State<Arc<App>>,
    _: Viewer,
    Asked(query): Asked<ProductQuery>,
) -> Result<Answer<Listing<StockShown>>, Refusal> {
    let listed = listed(&app, query).await?;
    Ok(Answer(Listing::of(listed, |(sku, row)| StockShown::of(&sku, &row))))
}
