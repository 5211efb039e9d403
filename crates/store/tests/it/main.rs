//! Every store is handed to the suite that defines what a store is.
// Helpers of tests are tests: what they expect is what they assert.
#![allow(clippy::unwrap_used)]

mod contention;
mod document;
mod grant_sql;
mod hot;
mod lost_answer;
mod memory;
mod mysql;
mod postgres;
mod sqlite;
mod transfer;
