//! `/v1/tasks`: committed work, and putting it back to work.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use paidonce_ledger::{Command, OrderId, Reply, RetryTask, TaskKey, TaskKind, TaskState, Unit};
use paidonce_store::TaskFilter;
use serde::Deserialize;
use utoipa::IntoParams;

use super::{orders, page};
use crate::http::app::App;
use crate::http::auth::{Operator, Viewer};
use crate::http::dto::{Listing, Problem, Retried, RetryRequest, TaskShown};
use crate::http::extract::{Asked, Json, Named};
use crate::http::problem::Refusal;
use crate::http::reply::{not_answered, submit, unexpected};
use crate::http::stamp::Sent;

const RETRY: &str = "POST /v1/tasks/{order}/{unit}/grant/retry";

/// Which tasks.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TaskQuery {
    /// `pending`, `done` or `cancelled`.
    state: Option<String>,
    /// Of this order.
    order: Option<String>,
    /// Rows in a page, 1 to 500.
    limit: Option<usize>,
    /// The `next` of the page before.
    after: Option<String>,
}

/// Lists tasks, newest first.
#[utoipa::path(
    get, path = "/v1/tasks", tag = "tasks", security(("api_key" = [])), params(TaskQuery),
    responses((status = 200, body = Listing<TaskShown>), (status = 400, body = Problem), (status = 401, body = Problem))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    _: Viewer,
    Asked(query): Asked<TaskQuery>,
) -> Result<Answer<Listing<TaskShown>>, Refusal> {
    let page = page::page(query.limit, query.after)?;
    let state = |text: String| TaskState::parse(&text).ok_or("one of pending, done, cancelled");
    let filter = TaskFilter {
        state: page::filter("state", query.state, state)?,
        order: page::filter("order", query.order, OrderId::new)?,
    };
    let listed = app.engine.query(move |store| store.tasks(&filter, &page)).await;
    let listed = listed.map_err(|error| not_answered(&error))?;
    Ok(Answer(Listing::of(listed, |(key, task)| TaskShown::of(&key, &task))))
}

/// Puts a grant back to work, if it was cancelled and its order is eligible again.
#[utoipa::path(
    post, path = "/v1/tasks/{order}/{unit}/grant/retry", tag = "tasks", security(("api_key" = [])),
    params(("order" = String, Path), ("unit" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = RetryRequest,
    responses(
        (status = 200, body = Retried), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)
    )
)]
pub(crate) async fn retry(
    State(app): State<Arc<App>>,
    Operator(caller): Operator,
    sent: Sent,
    Named((order, unit)): Named<(String, String)>,
    Json(request): Json<RetryRequest>,
) -> Result<Answer<Retried>, Refusal> {
    let key = OrderId::new(&order).ok().zip(Unit::parse(&unit));
    let Some((id, part)) = key else {
        return Err(Refusal::not_found("unknown_task", "there is no such task"));
    };
    let stamp = sent.stamp(&caller, RETRY, Some(orders::reason(&request.reason)?));
    let task = TaskKey { order: id, unit: part, kind: TaskKind::Grant };
    match submit(&app.engine, Command::RetryTask(RetryTask { stamp, task })).await? {
        Reply::Retried => {
            let (kind, state) = (TaskKind::Grant.as_str().to_owned(), TaskState::Pending.as_str().to_owned());
            Ok(Answer(Retried { order, unit, kind, state }))
        }
        other => Err(unexpected(&other)),
    }
}
