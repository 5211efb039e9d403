//! Which route is where, and what the outside may reach. The OpenAPI description is collected from the same lines.

use std::sync::Arc;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use tokio::time::Instant;
use utoipa::OpenApi;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::app::App;
use super::extract::{not_found, wrong_method};
use super::routes::{
    audit, cases, entitlements, events, health, incoming, mine, orders, outside, products, status, tasks,
};

/// What a listener shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// What the internet may reach.
    Public,
    /// Everything.
    Everything,
}

#[derive(OpenApi)]
#[openapi(
    info(title = "paidonce", description = "A payment may be announced many times; it is fulfilled once."),
    tags(
        (name = "deliveries", description = "What providers call"),
        (name = "buyers", description = "What a buyer's token opens"),
        (name = "products", description = "The catalogue and its stock"),
        (name = "orders"), (name = "events"), (name = "entitlements"), (name = "cases"), (name = "tasks"),
        (name = "operation", description = "What tools call")
    )
)]
struct Described;

fn public() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(incoming::receive, incoming::challenge))
        .routes(routes!(health::alive))
}

/// What the holder of an order's token reaches, from anywhere.
fn buyers() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(mine::show))
        .routes(routes!(mine::cancel))
        .routes(routes!(status::show))
}

fn api() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(orders::place, orders::list))
        .routes(routes!(orders::show))
        .routes(routes!(orders::explain))
        .routes(routes!(orders::register))
        .routes(routes!(orders::cancel))
        .routes(routes!(orders::revive))
        .routes(routes!(outside::note))
        .routes(routes!(products::set, products::list))
        .routes(routes!(products::stock))
        .routes(routes!(events::list))
        .routes(routes!(events::again))
        .routes(routes!(entitlements::list))
        .routes(routes!(entitlements::check))
        .routes(routes!(entitlements::revoke))
        .routes(routes!(entitlements::reinstate))
        .routes(routes!(cases::list))
        .routes(routes!(cases::show))
        .routes(routes!(cases::resolve))
        .routes(routes!(tasks::list))
        .routes(routes!(tasks::show))
        .routes(routes!(tasks::retry))
        .routes(routes!(tasks::cancel))
        .routes(routes!(audit::list))
        .routes(routes!(health::ready))
        .routes(routes!(health::metrics))
        .routes(routes!(health::openapi))
}

fn described(reach: Reach) -> (OpenApiRouter<Arc<App>>, bool) {
    let router = OpenApiRouter::with_openapi(Described::openapi()).merge(public());
    match reach {
        Reach::Public => (router, false),
        Reach::Everything => (router, true),
    }
}

/// The routes of one listener.
pub(crate) fn router(app: Arc<App>, reach: Reach) -> Router {
    let (router, everything) = described(reach);
    let others = if everything { buyers().merge(api()) } else { buyers() };
    // Not on the path of deliveries: those time themselves.
    let router = router.merge(others.layer(from_fn_with_state(app.clone(), timed)));
    let (router, _) = router.split_for_parts();
    router.fallback(not_found).method_not_allowed_fallback(wrong_method).with_state(app)
}

/// The description of every route, as JSON text.
pub(super) fn openapi() -> String {
    let (_, mut description) = described(Reach::Everything).0.merge(buyers()).merge(api()).split_for_parts();
    let bearer = || SecurityScheme::Http(Http::builder().scheme(HttpAuthScheme::Bearer).build());
    let components = description.components.get_or_insert_default();
    components.add_security_scheme("api_key", bearer());
    components.add_security_scheme("order_token", bearer());
    description.to_pretty_json().expect("a description is JSON")
}

async fn timed(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let start = Instant::now();
    let response = next.run(request).await;
    if let Some(route) = route {
        app.metrics.route(&route, response.status().as_u16()).observe(start.elapsed().as_secs_f64());
    }
    response
}
