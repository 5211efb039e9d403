//! Deadlines of one call.

use std::future::Future;
use std::time::{Duration, Instant};

use paidonce_engine::{Answering, Destination, News, Sending};

/// A destination ends a little before the engine would end it: it knows what has left, and the engine does not.
const AHEAD: Duration = Duration::from_millis(50);

/// What comes of `call`, or `None` if that is not known shortly before the deadline: then it was dropped.
pub(super) async fn by<F: Future>(deadline: Instant, call: F) -> Option<F::Output> {
    let ends = deadline.checked_sub(AHEAD).unwrap_or(deadline);
    tokio::time::timeout_at(ends.into(), call).await.ok()
}

/// A destination none of whose calls takes longer than this, however long the lease is.
pub(super) struct Timed<D> {
    pub(super) timeout: Duration,
    pub(super) to: D,
}

impl<D> Timed<D> {
    fn limited(&self, sending: Sending) -> Sending {
        Sending { deadline: sending.deadline.min(Instant::now() + self.timeout), ..sending }
    }
}

impl<D: Destination> Destination for Timed<D> {
    fn objection(&self, news: &News) -> Option<String> {
        self.to.objection(news)
    }

    fn render(&self, news: &News) -> Result<Vec<u8>, String> {
        self.to.render(news)
    }

    fn send(&self, sending: Sending) -> Answering<'_> {
        self.to.send(self.limited(sending))
    }

    fn is_gone(&self) -> bool {
        self.to.is_gone()
    }

    fn ask(&self, sending: Sending) -> Option<Answering<'_>> {
        self.to.ask(self.limited(sending))
    }
}
