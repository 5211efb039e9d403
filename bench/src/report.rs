//! What one run of one side tells: one line of JSON, the same from every side.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
}

/// An empty histogram of microseconds, up to a minute.
///
/// # Panics
/// Never: the bounds are constants.
#[must_use]
pub fn latencies() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 60_000_000, 3).expect("the bounds are in order")
}

/// A latency as the histogram takes it.
#[must_use]
pub fn microseconds(latency: Duration) -> u64 {
    u64::try_from(latency.as_micros()).unwrap_or(u64::MAX)
}
