//! Who holds the token of an order. It opens this one order, and of it only what a buyer may see and do.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::header::WWW_AUTHENTICATE;
use axum::http::request::Parts;
use paidonce_engine::{OrderView, order_view};

use super::app::App;
use super::auth::bearer;
use super::problem::Refusal;
use super::reply::not_answered;
use crate::token::Shown;

/// The order whose token a request carries.
pub(super) struct Buyer(pub(super) OrderView);

/// The order that a token opens; `None` for every token that opens none, whatever is wrong with it.
pub(super) async fn opened(app: &App, token: &str) -> Result<Option<OrderView>, Refusal> {
    let Some(shown) = Shown::parse(token) else { return Ok(None) };
    let (policy, order) = (app.engine.policy().clone(), shown.order.clone());
    let view = app.engine.query(move |store| order_view(store, &policy, &order)).await;
    let view = view.map_err(|error| not_answered(&error))?;
    Ok(view.filter(|view| app.tokens.fits(&shown, view.order.token.as_ref())))
}

impl FromRequestParts<Arc<App>> for Buyer {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refusal> {
        let opened = match bearer(parts) {
            Some(token) => opened(app, token).await?,
            None => None,
        };
        opened.map(Self).ok_or_else(|| {
            let detail = "send the order's token, as it was given when the order was placed: \
                          Authorization: Bearer ot_...";
            Refusal::new(StatusCode::UNAUTHORIZED, "unauthorized", detail).header(WWW_AUTHENTICATE, "Bearer")
        })
    }
}
