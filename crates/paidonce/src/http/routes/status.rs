//! `/status/{token}`: the buyer's page. Plain HTML without a script: it reads what is committed, and a browser that comes
//! back from a payment page tells it nothing.

use std::sync::{Arc, LazyLock};

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{Response, StatusCode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use paidonce_ledger::Digest;

use crate::http::app::App;
use crate::http::buyer::opened;
use crate::http::dto::{BuyerStatus, Problem};
use crate::http::extract::Named;
use crate::http::problem::Refusal;

const PAGE: &str = include_str!("status.html");

const STYLE: &str = "body{font:1.1rem/1.5 system-ui,sans-serif;margin:0;color:#111;background:#fff}\
main{max-width:34rem;margin:15vh auto;padding:0 1rem}";

/// The page looks again by itself while there is something to wait for.
const REFRESH: &str = "<meta http-equiv=\"refresh\" content=\"10\">\n";

/// Nothing may be loaded, run, framed or sent: the page needs its one style, and no more.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let digest = STANDARD.encode(Digest::of_bytes(STYLE.as_bytes()).0);
    format!(
        "default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'"
    )
});

/// Only texts of this program's own: nothing of a request or an order is put into the page.
fn page(status: StatusCode, title: &str, sentence: &str, refresh: bool) -> Response<Body> {
    let html = PAGE
        .replace("{refresh}", if refresh { REFRESH } else { "" })
        .replace("{title}", title)
        .replace("{style}", STYLE)
        .replace("{sentence}", sentence);
    let mut response = Response::new(Body::from(html));
    *response.status_mut() = status;
    let policy = HeaderValue::from_str(&POLICY).expect("visible ASCII");
    let fixed = |name: HeaderName, value| (name, HeaderValue::from_static(value));
    response.headers_mut().extend([
        fixed(CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, policy),
        // The address holds the token.
        fixed(REFERRER_POLICY, "no-referrer"),
        fixed(CACHE_CONTROL, "no-store"),
        fixed(X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ]);
    response
}

fn title(status: BuyerStatus) -> &'static str {
    match status {
        BuyerStatus::Confirming => "Confirming your payment",
        BuyerStatus::Paid => "Paid",
        BuyerStatus::Delivered => "Delivered",
        BuyerStatus::Held => "We are looking at it",
        BuyerStatus::Refunded => "Refunded",
        BuyerStatus::Closed => "Closed",
    }
}

/// The buyer's page about their order.
#[utoipa::path(
    get, path = "/status/{token}", tag = "buyers", params(("token" = String, Path)),
    responses(
        (status = 200, content_type = "text/html"), (status = 404, content_type = "text/html"),
        (status = 503, body = Problem)
    )
)]
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Named(token): Named<String>,
) -> Result<Response<Body>, Refusal> {
    let Some(view) = opened(&app, &token).await? else {
        let sentence = "There is no order at this address. Open the link as the shop gave it to you.";
        return Ok(page(StatusCode::NOT_FOUND, "No such order", sentence, false));
    };
    let status = BuyerStatus::of(&view);
    let waiting = matches!(status, BuyerStatus::Confirming | BuyerStatus::Paid);
    Ok(page(StatusCode::OK, title(status), status.sentence(), waiting))
}
