//! The routes: one file per group, and its tests at the same name in `tests/it/`.

pub(super) mod cases;
pub(super) mod entitlements;
pub(super) mod events;
pub(super) mod health;
pub(super) mod incoming;
pub(super) mod orders;
pub(super) mod page;
pub(super) mod tasks;
