//! What tools ask: alive, ready, figures, and the description of the API.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use paidonce_store::Due;

use crate::http::app::App;
use crate::http::dto::Problem;
use crate::http::problem::Refusal;
use crate::http::router;

/// The process is alive. Says nothing of the store.
#[utoipa::path(get, path = "/healthz", tag = "operation", responses((status = 200, content_type = "text/plain")))]
pub(crate) async fn alive() -> &'static str {
    "alive\n"
}

/// The store answers, and commands are taken.
#[utoipa::path(
    get, path = "/readyz", tag = "operation",
    responses((status = 200, content_type = "text/plain"), (status = 503, body = Problem))
)]
pub(crate) async fn ready(State(app): State<Arc<App>>) -> Result<&'static str, Refusal> {
    // A question that costs the same however much is stored.
    let now = app.engine.now();
    let answered = app.engine.query(move |store| store.due(&Due::Grants, now, 1)).await;
    if answered.is_err() {
        return Err(Refusal::unavailable("the store does not answer"));
    }
    if app.engine.queue_room() == 0 {
        return Err(Refusal::unavailable("no more commands are taken just now"));
    }
    Ok("ready\n")
}

/// Figures for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "operation", responses((status = 200, content_type = "text/plain")))]
pub(crate) async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    let counts = app.engine.query(|store| store.counts()).await.ok();
    app.metrics.set_stats(&app.engine.stats().snapshot(), app.engine.queue_room());
    app.outside.iter().for_each(|outside| app.metrics.set_outside(&outside.name(), &outside.stats()));
    app.metrics.set_counts(counts.as_ref(), app.engine.now());
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(CONTENT_TYPE, kind)], app.metrics.render())
}

/// This description.
#[utoipa::path(get, path = "/openapi.json", tag = "operation", responses((status = 200, content_type = "application/json")))]
pub(crate) async fn openapi() -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], router::openapi())
}
