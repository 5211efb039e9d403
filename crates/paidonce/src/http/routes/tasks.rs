//! `/v1/tasks`: committed work, putting it back to work, and stopping it.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use paidonce_ledger::{
    CancelTask, Command, EffectName, OrderId, Reply, RetryTask, TaskKey, TaskKind, TaskState, Unit,
};
use paidonce_store::TaskFilter;
use serde::Deserialize;
use utoipa::IntoParams;

use super::{page, reason};
use crate::http::app::App;
use crate::http::auth::{Operator, Viewer};
use crate::http::dto::{Listing, Problem, ReasonRequest, TaskSet, TaskShown};
use crate::http::extract::{Asked, Json, Named};
use crate::http::problem::Refusal;
use crate::http::reply::{not_answered, submit, unexpected};
use crate::http::stamp::Sent;

const RETRY: &str = "POST /v1/tasks/{order}/{unit}/grant/retry";
const CANCEL: &str = "POST /v1/tasks/{order}/{unit}/grant/cancel";

/// Which tasks.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TaskQuery {
    /// `pending`, `calling`, `uncertain`, `done`, `cancelled`, `parked`, `held` or `stopped`.
    state: Option<String>,
    /// `grant`, `lookup`, `sync` or `send`.
    kind: Option<String>,
    /// Carried out by this effect.
    effect: Option<String>,
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
    let state = |text: String| {
        TaskState::parse(&text)
            .ok_or("one of pending, calling, uncertain, done, cancelled, parked, held, stopped")
    };
    let kind = |text: String| TaskKind::parse(&text).ok_or("one of grant, lookup, sync, send");
    let filter = TaskFilter {
        state: page::filter("state", query.state, state)?,
        order: page::filter("order", query.order, OrderId::new)?,
        kind: page::filter("kind", query.kind, kind)?,
        effect: page::filter("effect", query.effect, EffectName::new)?,
    };
    let listed = app.engine.query(move |store| store.tasks(&filter, &page)).await;
    let listed = listed.map_err(|error| not_answered(&error))?;
    Ok(Answer(Listing::of(listed, |(key, task)| TaskShown::of(&key, &task))))
}

/// Puts a grant back to work, if it was cancelled and its order is eligible again, or if a person stopped it.
#[utoipa::path(
    post, path = "/v1/tasks/{order}/{unit}/grant/retry", tag = "tasks", security(("api_key" = [])),
    params(("order" = String, Path), ("unit" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = ReasonRequest,
    responses(
        (status = 200, body = TaskSet), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)
    )
)]
pub(crate) async fn retry(
    State(app): State<Arc<App>>,
    Operator(caller): Operator,
    sent: Sent,
    Named((order, unit)): Named<(String, String)>,
    Json(request): Json<ReasonRequest>,
) -> Result<Answer<TaskSet>, Refusal> {
    let task = grant(&order, &unit)?;
    let stamp = sent.stamp(&caller, RETRY, Some(reason(&request.reason)?));
    match submit(&app.engine, Command::RetryTask(RetryTask { stamp, task })).await? {
        Reply::Retried => Ok(Answer(set(order, unit, TaskState::Pending))),
        other => Err(unexpected(&other)),
    }
}

/// Stops a grant. Nothing but a retry brings it back.
#[utoipa::path(
    post, path = "/v1/tasks/{order}/{unit}/grant/cancel", tag = "tasks", security(("api_key" = [])),
    params(("order" = String, Path), ("unit" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = ReasonRequest,
    responses(
        (status = 200, body = TaskSet), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)
    )
)]
pub(crate) async fn cancel(
    State(app): State<Arc<App>>,
    Operator(caller): Operator,
    sent: Sent,
    Named((order, unit)): Named<(String, String)>,
    Json(request): Json<ReasonRequest>,
) -> Result<Answer<TaskSet>, Refusal> {
    let task = grant(&order, &unit)?;
    let stamp = sent.stamp(&caller, CANCEL, Some(reason(&request.reason)?));
    match submit(&app.engine, Command::CancelTask(CancelTask { stamp, task })).await? {
        Reply::Done => Ok(Answer(set(order, unit, TaskState::Stopped))),
        other => Err(unexpected(&other)),
    }
}

/// Names that cannot be ones name no task.
fn grant(order: &str, unit: &str) -> Result<TaskKey, Refusal> {
    let key = OrderId::new(order).ok().zip(Unit::parse(unit));
    let (order, unit) = key.ok_or_else(|| Refusal::not_found("unknown_task", "there is no such task"))?;
    Ok(TaskKey::grant(order, unit))
}

fn set(order: String, unit: String, state: TaskState) -> TaskSet {
    TaskSet { order, unit, kind: TaskKind::Grant.as_str().to_owned(), state: state.as_str().to_owned() }
}
