//! Connections of an async driver for a store that blocks: each has a runtime of its own, which turns on the thread
//! that asks, so that no answer crosses threads.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

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

/// So many connections at most, in use or waiting to be used.
pub(crate) struct Connections<C> {
    pool: Mutex<Pool<C>>,
    returned: Condvar,
    most: usize,
}

struct Pool<C> {
    idle: Vec<Slot<C>>,
    in_use: usize,
}

/// One connection's place, given back when dropped: also where the work on it panics.
struct Place<'a, C>(&'a Connections<C>);

impl<C> Drop for Place<'_, C> {
    fn drop(&mut self) {
        self.0.pool().in_use -= 1;
        self.0.returned.notify_one();
    }
}

impl<C> Connections<C> {
    pub(crate) fn new(most: usize) -> Self {
        let pool = Mutex::new(Pool { idle: Vec::new(), in_use: 0 });
        Self { pool, returned: Condvar::new(), most: most.max(1) }
    }

    fn pool(&self) -> MutexGuard<'_, Pool<C>> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until fewer than the most are in use.
    fn take(&self) -> (Place<'_, C>, Option<Slot<C>>) {
        let full = |pool: &mut Pool<C>| pool.in_use >= self.most;
        let mut pool = self.returned.wait_while(self.pool(), full).unwrap_or_else(PoisonError::into_inner);
        pool.in_use += 1;
        (Place(self), pool.idle.pop())
    }

    /// Runs `work` on an idle connection, or on a new one. Must not be called where nothing may block.
    pub(crate) fn run<T>(
        &self,
        connect: impl AsyncFnOnce() -> Result<C>,
        work: impl AsyncFnOnce(&mut Session<C>) -> Result<T>,
    ) -> Result<T> {
        let (place, idle) = self.take();
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
            let lost = std::mem::take(&mut self.pool().idle);
            drop(lost);
        } else if clean {
            // Before its place is given back: whoever waits for that takes this one.
            self.pool().idle.push(slot);
        }
        drop(place);
        result
    }
}

fn runtime() -> Result<Runtime> {
    Builder::new_current_thread().enable_all().build().map_err(|error| {
        StoreError::new(StoreErrorKind::Unavailable, "the system gives no runtime for a connection")
            .caused_by(error)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use super::*;

    #[test]
    fn no_more_connections_than_the_most_are_made_and_all_who_wait_get_one() {
        let (connections, made, done) = (Connections::new(2), AtomicUsize::new(0), AtomicUsize::new(0));
        // Two that meet in the middle prove that both places are given at once.
        let both = Barrier::new(2);
        let use_one = || {
            let connect = async || Ok(made.fetch_add(1, SeqCst));
            let work = async |_: &mut Session<usize>| {
                both.wait();
                done.fetch_add(1, SeqCst);
                Ok(())
            };
            connections.run(connect, work).unwrap();
        };
        std::thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(use_one))));
        assert_eq!((made.load(SeqCst), done.load(SeqCst)), (2, 8));
    }

    #[test]
    fn a_place_is_given_back_whatever_came_of_the_work() {
        let connections = Connections::new(1);
        let fails =
            |kind| connections.run(async || Ok(()), async move |_| Err::<(), _>(StoreError::new(kind, "x")));
        for kind in [StoreErrorKind::Unavailable, StoreErrorKind::Conflict, StoreErrorKind::Internal] {
            assert_eq!(fails(kind).unwrap_err().kind(), kind);
        }
        let panics = || connections.run(async || Ok(()), async |_| -> Result<()> { panic!("on purpose") });
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
        let refused = || StoreError::new(StoreErrorKind::Unavailable, "no");
        assert!(connections.run(async || Err(refused()), async |_| Ok(())).is_err());
        connections.run(async || Ok(()), async |_| Ok(())).unwrap();
    }
}
