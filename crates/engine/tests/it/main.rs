//! The engine from outside: batches, poison, panics, a full queue, stopping, grants and sweeps.
// Helpers of tests are tests: what they expect is what they assert.
#![allow(clippy::unwrap_used)]

mod commit;
mod faulty;
mod lookup;
mod outside;
mod story;
mod sweeper;
mod worker;
