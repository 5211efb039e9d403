//! `/v1/orders/{id}/outside`: money that moved outside any provider.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use paidonce_ledger::{Command, Reply};

use super::orders::order_id;
use super::reason;
use crate::http::app::App;
use crate::http::auth::Operator;
use crate::http::dto::{OutsideNoted, OutsideRequest, Problem};
use crate::http::extract::{Json, Named};
use crate::http::problem::Refusal;
use crate::http::reply::{submit, unexpected};
use crate::http::stamp::Sent;

const NOTE: &str = "POST /v1/orders/{id}/outside";

/// Notes money that moved outside: the order was paid, that was reversed, or a payment of it was refunded. The same id
/// again changes nothing.
#[utoipa::path(
    post, path = "/v1/orders/{id}/outside", tag = "orders", security(("api_key" = [])),
    params(("id" = String, Path), ("Idempotency-Key" = Option<String>, Header)), request_body = OutsideRequest,
    responses(
        (status = 200, body = OutsideNoted), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)
    )
)]
pub(crate) async fn note(
    State(app): State<Arc<App>>,
    Operator(caller): Operator,
    sent: Sent,
    Named(id): Named<String>,
    Json(request): Json<OutsideRequest>,
) -> Result<Answer<OutsideNoted>, Refusal> {
    let order = order_id(&id)?;
    let stamp = sent.stamp(&caller, NOTE, Some(reason(&request.reason)?));
    let command = request.to_command(order, &app.accounts, stamp).map_err(Refusal::mistakes)?;
    match submit(&app.engine, Command::MarkOutside(command)).await? {
        Reply::Done => Ok(Answer(request.noted(id))),
        other => Err(unexpected(&other)),
    }
}
