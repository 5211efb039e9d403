//! `/v1/cases`: what is held for a person.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use paidonce_ledger::OrderId;
use paidonce_store::{CaseFilter, PAGE_MAX, Page, Result as StoreResult, Store};
use serde::Deserialize;
use utoipa::IntoParams;

use super::page;
use crate::http::app::App;
use crate::http::auth::Viewer;
use crate::http::dto::{CaseShown, Listing, Problem};
use crate::http::extract::{Asked, Named};
use crate::http::problem::Refusal;
use crate::http::reply::not_answered;

/// Which cases.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct CaseQuery {
    /// Only open ones.
    open: Option<bool>,
    /// That concern this order.
    order: Option<String>,
    /// Rows in a page, 1 to 500.
    limit: Option<usize>,
    /// The `next` of the page before.
    after: Option<String>,
}

/// Lists cases, newest first.
#[utoipa::path(
    get, path = "/v1/cases", tag = "cases", security(("api_key" = [])), params(CaseQuery),
    responses((status = 200, body = Listing<CaseShown>), (status = 400, body = Problem), (status = 401, body = Problem))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    _: Viewer,
    Asked(query): Asked<CaseQuery>,
) -> Result<Answer<Listing<CaseShown>>, Refusal> {
    let page = page::page(query.limit, query.after)?;
    let order = page::filter("order", query.order, OrderId::new)?;
    let filter = CaseFilter { open: query.open.unwrap_or(false), order };
    let listed = app.engine.query(move |store| store.cases(&filter, &page)).await;
    let listed = listed.map_err(|error| not_answered(&error))?;
    Ok(Answer(Listing::of(listed, |(key, case)| CaseShown::of(&key, &case))))
}

/// Shows the case with this short name.
#[utoipa::path(
    get, path = "/v1/cases/{handle}", tag = "cases", security(("api_key" = [])), params(("handle" = String, Path)),
    responses((status = 200, body = CaseShown), (status = 401, body = Problem), (status = 404, body = Problem))
)]
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    _: Viewer,
    Named(handle): Named<String>,
) -> Result<Answer<CaseShown>, Refusal> {
    let found = app.engine.query(move |store| find(store, &handle)).await;
    let found = found.map_err(|error| not_answered(&error))?;
    found.map(Answer).ok_or_else(|| Refusal::not_found("unknown_case", "there is no such case"))
}

/// A handle is no key of the store, and cases are few: they are looked through.
fn find(store: &dyn Store, handle: &str) -> StoreResult<Option<CaseShown>> {
    let mut page = Page::first(PAGE_MAX);
    loop {
        let listed = store.cases(&CaseFilter::default(), &page)?;
        if let Some((key, case)) = listed.rows.iter().find(|(key, _)| key.handle() == handle) {
            return Ok(Some(CaseShown::of(key, case)));
        }
        match listed.next {
            Some(next) => page.after = Some(next),
            None => return Ok(None),
        }
    }
}
