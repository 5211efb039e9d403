//! Connections of an async driver for a store that blocks: each has a runtime of its own, which turns on the thread
//! that asks, so that no answer crosses threads.

use std::sync::{Mutex, PoisonError};

use tokio::runtime::{Builder, Runtime};

use crate::{Result, StoreError, StoreErrorKind};

/// One connection.
pub(crate) struct Session<C> {
    pub(crate) connection: C,
    /// Whether no transaction is open on it and nothing is left unread: only then is it used again.
    pub(crate) clean: bool,
}

struct Slot<C> {
    /// Taken only when the slot is dropped.
    runtime: Option<Runtime>,
    session: Option<Session<C>>,
}

impl<C> Drop for Slot<C> {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        // A socket belongs to its runtime: it is closed first. In the background, because a store may be dropped
        // where nothing may block.
        let _inside = runtime.enter();
        drop(self.session.take());
        drop(_inside);
        runtime.shutdown_background();
    }
}

/// Connections that wait to be used.
pub(crate) struct Connections<C> {
    idle: Mutex<Vec<Slot<C>>>,
    idle_max: usize,
}

impl<C> Connections<C> {
    pub(crate) fn new(idle_max: usize) -> Self {
        Self { idle: Mutex::new(Vec::new()), idle_max }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Slot<C>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` on an idle connection, or on a new one. Must not be called where nothing may block.
    pub(crate) fn run<T>(
        &self,
        connect: impl AsyncFnOnce() -> Result<C>,
        work: impl AsyncFnOnce(&mut Session<C>) -> Result<T>,
    ) -> Result<T> {
        let idle = self.idle().pop();
        let mut slot = match idle {
            Some(slot) => slot,
            None => Slot { runtime: Some(runtime()?), session: None },
        };
        let runtime = slot.runtime.as_ref().expect("a slot has its runtime until it is dropped");
        let session = match &mut slot.session {
            Some(session) => session,
            none => none.insert(Session { connection: runtime.block_on(connect())?, clean: true }),
        };
        let result = runtime.block_on(work(session));
        let clean = session.clean;
        if matches!(&result, Err(error) if error.kind() == StoreErrorKind::Unavailable) {
            // The server went away: those that wait have most likely lost it too.
            self.idle().clear();
        } else if clean {
            let mut idle = self.idle();
            if idle.len() < self.idle_max {
                idle.push(slot);
            }
        }
        result
    }
}

fn runtime() -> Result<Runtime> {
    Builder::new_current_thread().enable_all().build().map_err(|error| {
        StoreError::new(StoreErrorKind::Unavailable, "the system gives no runtime for a connection")
            .caused_by(error)
    })
}
