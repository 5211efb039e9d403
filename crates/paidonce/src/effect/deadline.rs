//! Deadlines of one call.

use std::future::Future;
use std::time::{Duration, Instant};

/// A destination ends a little before the engine would end it: it knows what has left, and the engine does not.
const AHEAD: Duration = Duration::from_millis(50);

/// What comes of `call`, or `None` if that is not known shortly before the deadline: then it was dropped.
pub(super) async fn by<F: Future>(deadline: Instant, call: F) -> Option<F::Output> {
    let ends = deadline.checked_sub(AHEAD).unwrap_or(deadline);
    tokio::time::timeout_at(ends.into(), call).await.ok()
}
