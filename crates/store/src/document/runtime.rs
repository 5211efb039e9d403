//! A small runtime of the document's own: clients are asynchronous, a store blocks. Calls may come from any thread,
//! those of another runtime included, because they wait for a channel and enter nothing.

use std::sync::mpsc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use crate::{Result, StoreError, StoreErrorKind};

pub(super) struct Waiting {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    timeout: Duration,
}

/// It was not answered in time.
#[derive(Debug, thiserror::Error)]
#[error("no answer within {0:?}")]
pub(super) struct TimedOut(Duration);

impl Waiting {
    pub(super) fn new(timeout: Duration) -> Result<Self> {
        let runtime =
            Builder::new_multi_thread().worker_threads(2).thread_name("document").enable_all().build();
        let runtime = runtime.map_err(|error| {
            StoreError::new(StoreErrorKind::Unavailable, "no threads for the store").caused_by(error)
        })?;
        Ok(Self { runtime: Some(runtime), timeout })
    }

    /// Waits for `future`, for as long as the time-out.
    pub(super) fn wait<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, TimedOut> {
        let (tell, told) = mpsc::sync_channel(1);
        let timeout = self.timeout;
        if let Some(runtime) = &self.runtime {
            runtime.spawn(async move {
                let _ = tell.send(tokio::time::timeout(timeout, future).await);
            });
        }
        // A sender that is gone is a task that panicked: as unknown as one that never answered.
        told.recv().ok().and_then(std::result::Result::ok).ok_or(TimedOut(timeout))
    }
}

impl Drop for Waiting {
    // A runtime that is dropped on a thread of another one panics, unless nobody waits for it.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
