//! Time, as the engine is given it. Only the program implements this with the real clock.

use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

use paidonce_ledger::Timestamp;

/// A sleep in progress.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Where time comes from. Everything that waits waits through it, so that a simulation can move it.
pub trait Clock: Send + Sync {
    /// The present moment.
    fn now(&self) -> Timestamp;

    /// Ends when `duration` has passed.
    fn sleep(&self, duration: Duration) -> Sleep;

    /// A moment on a clock that is never set back: deadlines are counted on it. A simulation moves its own.
    fn instant(&self) -> Instant {
        Instant::now()
    }
}
