//! HTTP: the endpoint that providers call, the merchant's API, and what operators' tools read.
//!
//! `listener` owns sockets and time-outs, `router` says which route is where, `routes/` has one file per group of
//! routes, and `dto/` the bodies. A handler checks, submits or asks, and writes the answer; it decides nothing about
//! payments.

mod app;
mod auth;
mod body;
mod buyer;
pub mod dto;
mod extract;
mod listener;
mod problem;
mod reply;
mod router;
mod routes;
mod stamp;

pub use app::App;
pub use routes::orders::order_summaries;

pub(crate) use listener::{Limits, Listener};
pub(crate) use router::{Reach, router};

/// The OpenAPI description of every route, as JSON text.
#[must_use]
pub fn openapi() -> String {
    router::openapi()
}
