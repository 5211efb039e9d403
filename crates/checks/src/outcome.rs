//! Medians over the rounds, the table that people read, and the bars.
#![allow(clippy::float_arithmetic, clippy::cast_precision_loss)] // Rates and ratios for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::database::Backend;
use crate::report::{Report, median};
use crate::side::Side;

/// Everything that was measured, by side and admissions in flight.
#[derive(Debug, Default)]
pub struct Outcome(BTreeMap<(u64, Side), Vec<Report>>);

/// What the issue asks for, as a ratio that was measured and the least or most that it may be.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// The sentence.
    pub what: String,
    /// What was measured.
    pub ratio: f64,
    /// Whether it is reached.
    pub reached: bool,
}

impl Outcome {
    /// Adds one round's run.
    pub fn add(&mut self, side: Side, in_flight: u64, report: Report) {
        self.0.entry((in_flight, side)).or_default().push(report);
    }

    /// The median rate of a side.
    #[must_use]
    pub fn rate(&self, side: Side, in_flight: u64) -> Option<f64> {
        median(self.0.get(&(in_flight, side))?.iter().map(Report::rate))
    }

    fn p50_us(&self, side: Side, in_flight: u64) -> Option<u64> {
        median(self.0.get(&(in_flight, side))?.iter().map(|report| report.p50_us))
    }

    fn p99_us(&self, side: Side, in_flight: u64) -> Option<u64> {
        median(self.0.get(&(in_flight, side))?.iter().map(|report| report.p99_us))
    }

    /// The best rate of the naive sides that a side is compared with.
    fn naive_rate(&self, side: Side, in_flight: u64) -> Option<f64> {
        naive(side).iter().filter_map(|naive| self.rate(*naive, in_flight)).reduce(f64::max)
    }

    /// The table.
    #[must_use]
    pub fn table(&self) -> String {
        let mut text = format!(
            "{:<30} {:>9} {:>13} {:>9} {:>9} {:>9} {:>9}\n",
            "side", "in flight", "admissions/s", "p50 ms", "p99 ms", "max ms", "to naive"
        );
        let ms = |us: u64| us as f64 / 1_000.0;
        let mut last = None;
        for ((in_flight, side), reports) in &self.0 {
            if last.replace(*in_flight).is_some_and(|last| last != *in_flight) {
                text.push('\n');
            }
            let rate = self.rate(*side, *in_flight).unwrap_or_default();
            let p50 = self.p50_us(*side, *in_flight).unwrap_or_default();
            let p99 = self.p99_us(*side, *in_flight).unwrap_or_default();
            let max = reports.iter().map(|report| report.max_us).max().unwrap_or_default();
            let ratio = self.naive_rate(*side, *in_flight).map(|naive| format!("{:.2}x", rate / naive));
            let _ = write!(text, "{:<30} {in_flight:>9} {rate:>13.0}", side.name());
            let _ = write!(text, " {:>9.2} {:>9.2} {:>9.1}", ms(p50), ms(p99), ms(max));
            let _ = writeln!(text, " {:>9}", ratio.unwrap_or_default());
            let errors: u64 = reports.iter().map(|report| report.errors).sum();
            if errors > 0 {
                let _ = writeln!(text, "{:<30} {errors} attempts failed", "");
            }
        }
        text
    }

    /// The issues' bars for whatever was measured.
    #[must_use]
    pub fn bars(&self) -> Vec<Bar> {
        let mut bars = Vec::new();
        let mut at_least = |what: &str, least: f64, ratio: Option<f64>| {
            let bar = |ratio| Bar { what: format!("{what} >= {least}x"), ratio, reached: ratio >= least };
            bars.extend(ratio.map(bar));
        };
        let to_naive =
            |side, in_flight| Some(self.rate(side, in_flight)? / self.naive_rate(side, in_flight)?);
        for in_flight in [64, 256] {
            let what = format!("engine to naive rusqlite, {in_flight} in flight");
            at_least(&what, 4.0, to_naive(Side::Engine, in_flight));
        }
        let over_http = [
            (Backend::Sqlite, 64, 6.0),
            (Backend::Postgres, 64, 4.0),
            (Backend::Postgres, 256, 6.0),
            (Backend::Mysql, 64, 3.0),
            (Backend::Mysql, 256, 3.0),
        ];
        for (backend, in_flight, least) in over_http {
            let what = format!("HTTP to naive axum + sqlx, {}, {in_flight} in flight", backend.name());
            at_least(&what, least, to_naive(Side::Serve(backend), in_flight));
        }
        let storeless =
            || Some(self.rate(Side::Serve(Backend::Sqlite), 64)? / self.rate(Side::Storeless, 64)?);
        at_least("HTTP to itself without a store, 64 in flight", 0.25, storeless());
        for (what, side) in [("engine", Side::Engine), ("HTTP", Side::Serve(Backend::Sqlite))] {
            let naive = naive(side).iter().filter_map(|naive| self.p50_us(*naive, 1)).min();
            let ratio = self.p50_us(side, 1).zip(naive).map(|(own, naive)| own as f64 / naive as f64);
            let what = format!("{what}: median latency to naive, 1 in flight <= 1.2x");
            bars.extend(ratio.map(|ratio| Bar { what, ratio, reached: ratio <= 1.2 }));
        }
        bars
    }
}

fn naive(side: Side) -> Vec<Side> {
    match side {
        Side::RusqliteOne | Side::RusqliteEach | Side::Engine => {
            vec![Side::RusqliteOne, Side::RusqliteEach]
        }
        Side::Sqlx(backend) | Side::Serve(backend) => vec![Side::Sqlx(backend)],
        Side::Storeless => vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(acknowledged: u64, p50_us: u64) -> Report {
        Report { acknowledged, errors: 0, seconds: 1.0, p50_us, p99_us: 9, max_us: 9 }
    }

    #[test]
    fn bars_compare_medians_with_the_best_naive_side() {
        let mut outcome = Outcome::default();
        for rate in [100, 900, 110] {
            outcome.add(Side::RusqliteOne, 64, report(rate, 1));
        }
        outcome.add(Side::RusqliteEach, 64, report(50, 1));
        outcome.add(Side::Engine, 64, report(430, 1));
        outcome.add(Side::RusqliteOne, 1, report(1, 100));
        outcome.add(Side::Engine, 1, report(1, 121));
        let bars = outcome.bars();
        let reached: Vec<_> = bars.iter().map(|bar| bar.reached).collect();
        assert_eq!(reached, [false, false], "{bars:?}");
        outcome.add(Side::Engine, 64, report(450, 1));
        assert!(outcome.bars()[0].reached);
        assert!(outcome.table().contains("4.09x"), "{}", outcome.table());
    }
}
