//! `/v1/me/orders/{id}`: what a buyer may see and do with the order's token.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use paidonce_engine::OrderView;
use paidonce_ledger::{CancelOrder, Command, OrderState, Reply};

use super::orders::{set, unknown_order};
use crate::http::app::App;
use crate::http::buyer::Buyer;
use crate::http::dto::{MyOrder, OrderSet, Problem};
use crate::http::extract::Named;
use crate::http::problem::Refusal;
use crate::http::reply::{submit, unexpected};
use crate::http::stamp::Sent;

const CANCEL: &str = "POST /v1/me/orders/{id}/cancel";

/// A token opens its own order and no other: to it, there is no other.
fn named(buyer: Buyer, id: &str) -> Result<OrderView, Refusal> {
    Some(buyer.0).filter(|view| view.id.as_str() == id).ok_or_else(unknown_order)
}

/// Shows a buyer their order. It says how far the order is, and never that a payment has failed.
#[utoipa::path(
    get, path = "/v1/me/orders/{id}", tag = "buyers", security(("order_token" = [])), params(("id" = String, Path)),
    responses((status = 200, body = MyOrder), (status = 401, body = Problem), (status = 404, body = Problem))
)]
pub(crate) async fn show(buyer: Buyer, Named(id): Named<String>) -> Result<Answer<MyOrder>, Refusal> {
    Ok(Answer(MyOrder::of(&named(buyer, &id)?)))
}

/// Calls a buyer's order off, while no money has come and none is on its way.
#[utoipa::path(
    post, path = "/v1/me/orders/{id}/cancel", tag = "buyers", security(("order_token" = [])),
    params(("id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    responses(
        (status = 200, body = OrderSet), (status = 401, body = Problem), (status = 404, body = Problem),
        (status = 409, body = Problem)
    )
)]
pub(crate) async fn cancel(
    State(app): State<Arc<App>>,
    buyer: Buyer,
    sent: Sent,
    Named(id): Named<String>,
) -> Result<Answer<OrderSet>, Refusal> {
    let order = named(buyer, &id)?.id;
    let stamp = sent.stamp_of_buyer(&order, CANCEL);
    match submit(&app.engine, Command::CancelOrder(CancelOrder { stamp, order, unpaid: true })).await? {
        Reply::Cancelled => Ok(Answer(set(id, &OrderState::Cancelled))),
        other => Err(unexpected(&other)),
    }
}
