//! `/v1/orders`: place, list, show, explain, register a reference, cancel, revive.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use axum::http::StatusCode;
use paidonce_engine::{OrderView, order_view};
use paidonce_ledger::{
    CancelOrder, Command, Customer, Key, Keys, OrderId, OrderState, Policy, RegisterReference, Reply,
    ReviveOrder, Standing,
};
use paidonce_store::{Listed, OrderFilter, Page, Result as StoreResult, Store};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{page, reason};
use crate::http::app::App;
use crate::http::auth::{Operator, Viewer};
use crate::http::dto::{
    ExplanationShown, Listing, OrderPlaced, OrderRequest, OrderSet, OrderShown, OrderSummary, Problem,
    ReasonRequest, ReferenceRequest, Registered,
};
use crate::http::extract::{Asked, Json, Named};
use crate::http::problem::Refusal;
use crate::http::reply::{not_answered, submit, unexpected};
use crate::http::stamp::Sent;

const PLACE: &str = "POST /v1/orders";
const REGISTER: &str = "POST /v1/orders/{id}/references";
const CANCEL: &str = "POST /v1/orders/{id}/cancel";
const REVIVE: &str = "POST /v1/orders/{id}/revive";

/// Places an order. The same Idempotency-Key and request again is answered byte for byte alike, for ever, on every
/// server of the store; with another request it is refused (422). A copy that is still being decided is waited for.
#[utoipa::path(
    post, path = "/v1/orders", tag = "orders", security(("api_key" = [])), request_body = OrderRequest,
    params((
        "Idempotency-Key" = String, Header,
        description = "1 to 255 visible ASCII characters, compared byte for byte; it belongs to the API key that sends it"
    )),
    responses(
        (status = 201, body = OrderPlaced), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 409, body = Problem), (status = 415, body = Problem),
        (status = 422, body = Problem), (status = 503, body = Problem)
    )
)]
pub(crate) async fn place(
    State(app): State<Arc<App>>,
    Operator(caller): Operator,
    sent: Sent,
    Json(request): Json<OrderRequest>,
) -> Result<(StatusCode, Answer<OrderPlaced>), Refusal> {
    let key = sent.required_key()?.to_owned();
    let stamp = sent.stamp(&caller, PLACE, None);
    let (id, kept) = (stamp.id.clone(), app.tokens.keep(&stamp.id, &key));
    let command = request.to_command(&app.accounts, stamp, kept, sent.trace).map_err(Refusal::mistakes)?;
    match submit(&app.engine, Command::PlaceOrder(command)).await? {
        Reply::Placed { order, hint, token } => {
            let token = token.and_then(|secret| app.tokens.issue(&secret, &id, &key, &order));
            Ok((StatusCode::CREATED, Answer(request.placed(&order, &hint, token))))
        }
        other => Err(unexpected(&other)),
    }
}

/// Which orders.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct OrderQuery {
    /// Of this customer.
    customer: Option<String>,
    /// Rows in a page, 1 to 500.
    limit: Option<usize>,
    /// The `next` of the page before.
    after: Option<String>,
}

/// Lists orders, newest first.
#[utoipa::path(
    get, path = "/v1/orders", tag = "orders", security(("api_key" = [])), params(OrderQuery),
    responses(
        (status = 200, body = Listing<OrderSummary>), (status = 400, body = Problem), (status = 401, body = Problem)
    )
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    _: Viewer,
    Asked(query): Asked<OrderQuery>,
) -> Result<Answer<Listing<OrderSummary>>, Refusal> {
    let page = page::page(query.limit, query.after)?;
    let filter = OrderFilter { customer: page::filter("customer", query.customer, Customer::new)? };
    let policy = app.engine.policy().clone();
    let listed = app.engine.query(move |store| order_summaries(store, &policy, &filter, &page)).await;
    listed.map(Answer).map_err(|error| not_answered(&error))
}

/// One page of orders with where each stands.
///
/// # Errors
/// The store cannot be read, or the page's cursor is none.
pub fn order_summaries(
    store: &dyn Store,
    policy: &Policy,
    filter: &OrderFilter,
    page: &Page,
) -> StoreResult<Listing<OrderSummary>> {
    let Listed { rows, next } = store.orders(filter, page)?;
    let keys: Keys = rows.iter().cloned().map(Key::Order).collect();
    let ledger = store.load(&keys)?;
    let summary = |id: OrderId| {
        let order = ledger.orders.get(&id)?;
        let facts: Vec<_> = order.payments.iter().map(|key| (key.clone(), ledger.facts_of(key))).collect();
        Some(OrderSummary::of(&id, order, &Standing::of(&id, order, &facts, policy)))
    };
    Ok(Listing { rows: rows.into_iter().filter_map(summary).collect(), next })
}

pub(super) fn unknown_order() -> Refusal {
    Refusal::not_found("unknown_order", "there is no such order")
}

/// An id that cannot be one names no order.
pub(super) fn order_id(text: &str) -> Result<OrderId, Refusal> {
    OrderId::new(text).map_err(|_| unknown_order())
}

async fn view(app: &App, id: OrderId) -> Result<OrderView, Refusal> {
    let policy = app.engine.policy().clone();
    let view = app.engine.query(move |store| order_view(store, &policy, &id)).await;
    view.map_err(|error| not_answered(&error))?.ok_or_else(unknown_order)
}

/// Shows an order with everything that hangs on it.
#[utoipa::path(
    get, path = "/v1/orders/{id}", tag = "orders", security(("api_key" = [])), params(("id" = String, Path)),
    responses((status = 200, body = OrderShown), (status = 401, body = Problem), (status = 404, body = Problem))
)]
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    _: Viewer,
    Named(id): Named<String>,
) -> Result<Answer<OrderShown>, Refusal> {
    let view = view(&app, order_id(&id)?).await?;
    Ok(Answer(OrderShown::of(&view)))
}

/// Tells an order's story, and where it stands in one sentence.
#[utoipa::path(
    get, path = "/v1/orders/{id}/explain", tag = "orders", security(("api_key" = [])), params(("id" = String, Path)),
    responses((status = 200, body = ExplanationShown), (status = 401, body = Problem), (status = 404, body = Problem))
)]
pub(crate) async fn explain(
    State(app): State<Arc<App>>,
    _: Viewer,
    Named(id): Named<String>,
) -> Result<Answer<ExplanationShown>, Refusal> {
    let view = view(&app, order_id(&id)?).await?;
    Ok(Answer(ExplanationShown::of(&view.id, &paidonce_engine::explain(&view))))
}

/// Registers a provider's object for an order.
#[utoipa::path(
    post, path = "/v1/orders/{id}/references", tag = "orders", security(("api_key" = [])),
    params(("id" = String, Path), ("Idempotency-Key" = Option<String>, Header)), request_body = ReferenceRequest,
    responses(
        (status = 201, body = Registered), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)
    )
)]
pub(crate) async fn register(
    State(app): State<Arc<App>>,
    Operator(caller): Operator,
    sent: Sent,
    Named(id): Named<String>,
    Json(request): Json<ReferenceRequest>,
) -> Result<(StatusCode, Answer<Registered>), Refusal> {
    let order = order_id(&id)?;
    let reference = request.to_reference(&app.accounts).map_err(Refusal::mistakes)?;
    let stamp = sent.stamp(&caller, REGISTER, None);
    let command = RegisterReference { stamp, order, reference };
    match submit(&app.engine, Command::RegisterReference(command)).await? {
        Reply::Registered => Ok((StatusCode::CREATED, Answer(Registered { order: id, reference: request }))),
        other => Err(unexpected(&other)),
    }
}

/// Calls an order off. Refused once something was granted.
#[utoipa::path(
    post, path = "/v1/orders/{id}/cancel", tag = "orders", security(("api_key" = [])),
    params(("id" = String, Path), ("Idempotency-Key" = Option<String>, Header)), request_body = ReasonRequest,
    responses(
        (status = 200, body = OrderSet), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)
    )
)]
pub(crate) async fn cancel(
    State(app): State<Arc<App>>,
    Operator(caller): Operator,
    sent: Sent,
    Named(id): Named<String>,
    Json(request): Json<ReasonRequest>,
) -> Result<Answer<OrderSet>, Refusal> {
    let order = order_id(&id)?;
    let stamp = sent.stamp(&caller, CANCEL, Some(reason(&request.reason)?));
    match submit(&app.engine, Command::CancelOrder(CancelOrder { stamp, order, unpaid: false })).await? {
        Reply::Cancelled => Ok(Answer(set(id, &OrderState::Cancelled))),
        other => Err(unexpected(&other)),
    }
}

/// Opens a closed order again. What it was paid counts as before.
#[utoipa::path(
    post, path = "/v1/orders/{id}/revive", tag = "orders", security(("api_key" = [])),
    params(("id" = String, Path), ("Idempotency-Key" = Option<String>, Header)), request_body = ReasonRequest,
    responses(
        (status = 200, body = OrderSet), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem)
    )
)]
pub(crate) async fn revive(
    State(app): State<Arc<App>>,
    Operator(caller): Operator,
    sent: Sent,
    Named(id): Named<String>,
    Json(request): Json<ReasonRequest>,
) -> Result<Answer<OrderSet>, Refusal> {
    let order = order_id(&id)?;
    let stamp = sent.stamp(&caller, REVIVE, Some(reason(&request.reason)?));
    match submit(&app.engine, Command::ReviveOrder(ReviveOrder { stamp, order })).await? {
        Reply::Done => Ok(Answer(set(id, &OrderState::Open))),
        other => Err(unexpected(&other)),
    }
}

pub(super) fn set(order: String, state: &OrderState) -> OrderSet {
    OrderSet { order, state: state.as_str().to_owned() }
}
