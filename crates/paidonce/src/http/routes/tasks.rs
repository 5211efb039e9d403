//! `/v1/tasks`: committed work, putting it back to work, and stopping it.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use paidonce_ledger::{
    CancelTask, Command, EffectName, OrderId, Reply, RetryTask, TaskKey, TaskKind, TaskState,
};
use paidonce_store::TaskFilter;
use serde::Deserialize;
use utoipa::IntoParams;

use super::{page, reason};
use crate::http::app::App;
use crate::http::auth::{Operator, Viewer};
use crate::http::dto::{Listing, Problem, ReasonRequest, TaskSet, TaskShown, TaskStory};
use crate::http::extract::{Asked, Json, Named};
use crate::http::problem::Refusal;
use crate::http::reply::{not_answered, submit, unexpected};
use crate::http::stamp::Sent;

const RETRY: &str = "POST /v1/tasks/{handle}/retry";
const CANCEL: &str = "POST /v1/tasks/{handle}/cancel";

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

/// Shows the task with this short name, and its tries.
#[utoipa::path(
    get, path = "/v1/tasks/{handle}", tag = "tasks", security(("api_key" = [])), params(("handle" = String, Path)),
    responses((status = 200, body = TaskStory), (status = 401, body = Problem), (status = 404, body = Problem))
)]
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    _: Viewer,
    Named(handle): Named<String>,
) -> Result<Answer<TaskStory>, Refusal> {
    let story = app.engine.query(move |store| TaskStory::load(store, &handle)).await;
    story.map_err(|error| not_answered(&error))?.map(Answer).ok_or_else(unknown)
}

/// Puts a task back to work: one that waits, that was cancelled and is wanted again, that is held or parked, or that a
/// person stopped. What may have arrived is never sent again outside its receiver's key window.
#[utoipa::path(
    post, path = "/v1/tasks/{handle}/retry", tag = "tasks", security(("api_key" = [])),
    params(("handle" = String, Path), ("Idempotency-Key" = Option<String>, Header)), request_body = ReasonRequest,
    responses(
        (status = 200, body = TaskSet), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)
    )
)]
pub(crate) async fn retry(
    State(app): State<Arc<App>>,
    Operator(caller): Operator,
    sent: Sent,
    Named(handle): Named<String>,
    Json(request): Json<ReasonRequest>,
) -> Result<Answer<TaskSet>, Refusal> {
    let stamp = sent.stamp(&caller, RETRY, Some(reason(&request.reason)?));
    let task = found(&app, handle).await?;
    match submit(&app.engine, Command::RetryTask(RetryTask { stamp, task: task.clone() })).await? {
        Reply::Retried => Ok(Answer(TaskSet::of(&task, TaskState::Pending))),
        other => Err(unexpected(&other)),
    }
}

/// Stops a task. Nothing but a retry brings it back.
#[utoipa::path(
    post, path = "/v1/tasks/{handle}/cancel", tag = "tasks", security(("api_key" = [])),
    params(("handle" = String, Path), ("Idempotency-Key" = Option<String>, Header)), request_body = ReasonRequest,
    responses(
        (status = 200, body = TaskSet), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)
    )
)]
pub(crate) async fn cancel(
    State(app): State<Arc<App>>,
    Operator(caller): Operator,
    sent: Sent,
    Named(handle): Named<String>,
    Json(request): Json<ReasonRequest>,
) -> Result<Answer<TaskSet>, Refusal> {
    let stamp = sent.stamp(&caller, CANCEL, Some(reason(&request.reason)?));
    let task = found(&app, handle).await?;
    match submit(&app.engine, Command::CancelTask(CancelTask { stamp, task: task.clone() })).await? {
        Reply::Done => Ok(Answer(TaskSet::of(&task, TaskState::Stopped))),
        other => Err(unexpected(&other)),
    }
}

async fn found(app: &App, handle: String) -> Result<TaskKey, Refusal> {
    let found = app.engine.query(move |store| store.task(&handle)).await;
    found.map_err(|error| not_answered(&error))?.map(|(key, _)| key).ok_or_else(unknown)
}

fn unknown() -> Refusal {
    Refusal::not_found("unknown_task", "there is no such task")
}
