//! What a worker has done, counted for metrics. Since the start of the process; what lasts is in the store.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use paidonce_ledger::Outcome;

use super::breaker::Circuit;

/// The words of [`Outcome::as_str`], in the order of the counters.
const OUTCOMES: [&str; 5] = ["done", "retry", "uncertain", "refused", "not_configured"];

/// Live counters.
#[derive(Debug, Default)]
pub(super) struct Stats {
    attempts: [AtomicU64; OUTCOMES.len()],
    pub(super) lease_losses: AtomicU64,
    pub(super) unrecorded: AtomicU64,
}

impl Stats {
    pub(super) fn attempted(&self, outcome: &Outcome) {
        let position = OUTCOMES.iter().position(|word| *word == outcome.as_str());
        if let Some(counter) = position.and_then(|position| self.attempts.get(position)) {
            counter.fetch_add(1, Relaxed);
        }
    }

    pub(super) fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Relaxed);
    }

    pub(super) fn snapshot(&self, in_flight: usize, circuit: Circuit) -> OutsideStats {
        let attempts = OUTCOMES.iter().zip(&self.attempts);
        OutsideStats {
            attempts: attempts.map(|(word, counter)| (*word, counter.load(Relaxed))).collect(),
            lease_losses: self.lease_losses.load(Relaxed),
            unrecorded: self.unrecorded.load(Relaxed),
            in_flight,
            circuit,
        }
    }
}

/// The counters at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutsideStats {
    /// Tries by what came of them: each of the words of [`Outcome::as_str`].
    pub attempts: Vec<(&'static str, u64)>,
    /// Steps that were refused because the lease was lost (P9).
    pub lease_losses: u64,
    /// Outcomes that could not be written down in all tries: the lease's end brings them to light.
    pub unrecorded: u64,
    /// Tries that are under way.
    pub in_flight: usize,
    /// Where the circuit stands.
    pub circuit: Circuit,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_has_its_counter() {
        let stats = Stats::default();
        let outcomes = [
            Outcome::Done,
            Outcome::Retry(None),
            Outcome::Uncertain,
            Outcome::Refused,
            Outcome::NotConfigured,
        ];
        outcomes.iter().for_each(|outcome| stats.attempted(outcome));
        let shown = stats.snapshot(0, Circuit::Closed).attempts;
        assert!(shown.iter().all(|(_, count)| *count == 1), "{shown:?}");
    }
}
