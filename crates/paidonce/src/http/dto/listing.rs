//! A page of a list.

use paidonce_store::Listed;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One page, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Listing<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// Pass this as `after` for the next page; null at the end.
    pub next: Option<String>,
}

impl<T> Listing<T> {
    /// Writes what a store listed.
    pub fn of<R>(listed: Listed<R>, row: impl FnMut(R) -> T) -> Self {
        Self { rows: listed.rows.into_iter().map(row).collect(), next: listed.next }
    }
}
