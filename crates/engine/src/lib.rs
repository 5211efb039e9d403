//! The loop around a store: group commit, workers, and the views that the surfaces show.
//!
//! Every change goes through [`Engine::submit`]. This crate knows no HTTP, no SQL, no contract and no real clock.

mod clock;
mod committer;
mod engine;
mod explain;
mod lane;
mod stats;
mod sweeper;
mod view;
mod worker;

pub use clock::{Clock, Sleep};
pub use committer::{Settings, SubmitError};
pub use engine::Engine;
pub use explain::{Entry, Explanation, explain};
pub use stats::{Stats, StatsSnapshot};
pub use sweeper::{SweeperSettings, sweep, sweep_all};
pub use view::{OrderView, PaymentView, order_view};
pub use worker::{Deliver, Delivered, Grants, WorkerSettings, work};
