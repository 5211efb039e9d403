//! The loop around a store: group commit, workers, and the views that the surfaces show.
//!
//! Every change goes through [`Engine::submit`]. This crate knows no HTTP, no SQL, no contract and no real clock.

mod clock;
mod committer;
mod destination;
mod engine;
mod explain;
mod lane;
mod lookup;
mod outside;
mod stats;
mod sweeper;
mod view;
mod worker;

pub use clock::{Clock, Sleep};
pub use committer::{Settings, SubmitError};
pub use destination::{Answer, Answering, Destination, News, Sending};
pub use engine::Engine;
pub use explain::{Entry, Explanation, explain};
pub use lookup::{Asking, Lookup, Question, Told};
pub use outside::{BreakerSettings, Circuit, Outside, OutsideSettings, OutsideStats, Owners, work_outside};
pub use stats::{Stats, StatsSnapshot};
pub use sweeper::{SweeperSettings, sweep, sweep_all};
pub use view::{OrderView, PaymentView, order_view};
pub use worker::{Deliver, Delivered, Grants, WorkerSettings, work};
