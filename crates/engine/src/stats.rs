//! Counters of the committer, for metrics. Plain numbers: how they are exported is the program's concern.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Live counters.
#[derive(Debug, Default)]
pub struct Stats {
    pub(crate) commits: AtomicU64,
    pub(crate) commands: AtomicU64,
    pub(crate) failures: AtomicU64,
    pub(crate) refused_full: AtomicU64,
}

/// The counters at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StatsSnapshot {
    /// Commits that took place.
    pub commits: u64,
    /// Commands they carried.
    pub commands: u64,
    /// Batches that failed, counted at each try.
    pub failures: u64,
    /// Commands refused because the queue was full.
    pub refused_full: u64,
}

impl Stats {
    /// The counters now.
    #[must_use]
    pub fn snapshot(&self) -> StatsSnapshot {
        StatsSnapshot {
            commits: self.commits.load(Relaxed),
            commands: self.commands.load(Relaxed),
            failures: self.failures.load(Relaxed),
            refused_full: self.refused_full.load(Relaxed),
        }
    }

    pub(crate) fn add(counter: &AtomicU64, n: usize) {
        counter.fetch_add(n as u64, Relaxed);
    }
}
