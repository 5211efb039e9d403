//! The routes: one file per group, and its tests at the same name in `tests/it/`.

pub(super) mod audit;
pub(super) mod cases;
pub(super) mod entitlements;
pub(super) mod events;
pub(super) mod health;
pub(super) mod incoming;
pub(super) mod mine;
pub(super) mod orders;
pub(super) mod outside;
pub(super) mod page;
pub(super) mod products;
pub(super) mod status;
pub(super) mod tasks;

use super::dto;
use super::problem::Refusal;

/// A reason that says something: everything that a person does has one (P16).
fn reason(text: &str) -> Result<&str, Refusal> {
    dto::reason(text).map_err(|problem| Refusal::mistake("reason", problem))
}
