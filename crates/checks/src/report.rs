//! What one run of one side tells: one line of JSON, the same from every side.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Admissions that were answered as durable.
    pub acknowledged: u64,
    /// Attempts that were answered otherwise.
    pub errors: u64,
    /// From the first attempt to the last answer.
    pub seconds: f64,
    /// Median latency, in microseconds.
    pub p50_us: u64,
    /// 99th percentile.
    pub p99_us: u64,
    /// The slowest.
    pub max_us: u64,
}

impl Report {
    /// Sums up a run.
    #[must_use]
    pub fn of(latencies: &Histogram<u64>, errors: u64, took: Duration) -> Self {
        Self {
            acknowledged: latencies.len(),
            errors,
            seconds: took.as_secs_f64(),
            p50_us: latencies.value_at_quantile(0.5),
            p99_us: latencies.value_at_quantile(0.99),
            max_us: latencies.max(),
        }
    }

    /// Admissions per second.
    #[must_use]
    #[allow(clippy::cast_precision_loss, clippy::float_arithmetic)] // A rate for people.
    pub fn rate(&self) -> f64 {
        self.acknowledged as f64 / self.seconds
    }
}

/// An empty histogram of microseconds, up to a minute.
///
/// # Panics
/// Never: the bounds are constants.
#[must_use]
pub fn latencies() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 60_000_000, 3).expect("the bounds are in order")
}

/// The middle one, or the upper of two in the middle.
pub fn median<T: PartialOrd + Copy>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut values: Vec<_> = values.collect();
    values.sort_by(|one, two| one.partial_cmp(two).unwrap_or(std::cmp::Ordering::Equal));
    values.get(values.len() / 2).copied()
}
