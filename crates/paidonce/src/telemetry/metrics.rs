//! The figures that `/metrics` shows. What lies on the path of a delivery is looked up once, at start.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use paidonce_engine::{OutsideStats, StatsSnapshot};
use paidonce_ledger::Timestamp;
use paidonce_store::Counts;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::outside::OutsideMetrics;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabels {
    source: String,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RefusedLabels {
    source: String,
    reason: &'static str,
}

/// A route's template and the status it answered.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct RouteLabels {
    /// As it stands in the router, never the path that was asked for.
    pub route: String,
    /// The status.
    pub status: u16,
}

/// Seconds: from a hit in memory to a disk in trouble.
const BUCKETS: [f64; 11] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0];

fn histogram() -> Histogram {
    Histogram::new(BUCKETS)
}

/// One source's counters.
#[derive(Debug, Clone)]
pub struct SourceMetrics {
    outcomes: BTreeMap<&'static str, Counter>,
    source: String,
    refused: Family<RefusedLabels, Counter>,
}

impl SourceMetrics {
    /// Counts one event of a delivery, or a test notification.
    pub fn received(&self, outcome: &'static str) {
        if let Some(counter) = self.outcomes.get(outcome) {
            counter.inc();
        }
    }

    /// Counts a request that was not taken in. In memory only: no row for what anybody can send.
    pub fn refused(&self, reason: &'static str) {
        self.refused.get_or_create(&RefusedLabels { source: self.source.clone(), reason }).inc();
    }
}

/// Every outcome that a delivery's event can have, and `test`.
const OUTCOMES: [&str; 9] =
    ["accepted", "unbound", "duplicate", "conflict", "ignored", "unreadable", "held", "rejected", "test"];

/// Counters that live elsewhere, and what is asked of the store: copied in when somebody looks.
#[derive(Default)]
struct Copied {
    commits: Counter<u64, AtomicU64>,
    commands: Counter<u64, AtomicU64>,
    failures: Counter<u64, AtomicU64>,
    refused_full: Counter<u64, AtomicU64>,
    queue_room: Gauge,
    store_up: Gauge,
    rows: Family<Vec<(&'static str, &'static str)>, Gauge>,
    oldest_task_age_s: Gauge,
    oldest_event_age_s: Gauge,
}

/// All figures.
pub struct Metrics {
    registry: Registry,
    deliveries: Family<OutcomeLabels, Counter>,
    refused: Family<RefusedLabels, Counter>,
    http: Family<RouteLabels, Histogram, fn() -> Histogram>,
    connections: Gauge,
    copied: Copied,
    outside: OutsideMetrics,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("paidonce"),
            deliveries: Family::default(),
            refused: Family::default(),
            http: Family::new_with_constructor(histogram),
            connections: Gauge::default(),
            copied: Copied::default(),
            outside: OutsideMetrics::default(),
        };
        metrics.register();
        metrics
    }
}

impl Metrics {
    fn register(&mut self) {
        let (registry, copied) = (&mut self.registry, &self.copied);
        registry.register("events", "Events received, by outcome", self.deliveries.clone());
        registry.register("refused", "Deliveries that were not taken in, by reason", self.refused.clone());
        registry.register("http_seconds", "Time from a request's headers to its answer", self.http.clone());
        registry.register("connections", "Open connections", self.connections.clone());
        registry.register("commits", "Commits", copied.commits.clone());
        registry.register("commands", "Commands committed", copied.commands.clone());
        registry.register("commit_failures", "Commits that failed, each try", copied.failures.clone());
        registry.register(
            "queue_refusals",
            "Commands refused because too many waited",
            copied.refused_full.clone(),
        );
        registry.register("queue_room", "Commands that may still wait", copied.queue_room.clone());
        registry.register("store_up", "Whether the store answered this scrape", copied.store_up.clone());
        registry.register("rows", "What the store holds", copied.rows.clone());
        let help = "Age of the oldest task that is due, 0 if there is none";
        registry.register("oldest_pending_task_seconds", help, copied.oldest_task_age_s.clone());
        let help =
            "Age of the oldest event that could not be read and waits for a person, 0 if there is none";
        registry.register("oldest_pending_event_seconds", help, copied.oldest_event_age_s.clone());
        self.outside.register(registry);
    }

    /// The counters of one source.
    #[must_use]
    pub fn of_source(&self, source: &str) -> SourceMetrics {
        let counter = |outcome| {
            let labels = OutcomeLabels { source: source.to_owned(), outcome };
            (outcome, self.deliveries.get_or_create(&labels).clone())
        };
        SourceMetrics {
            outcomes: OUTCOMES.into_iter().map(counter).collect(),
            source: source.to_owned(),
            refused: self.refused.clone(),
        }
    }

    /// The histogram of one route and status.
    #[must_use]
    pub fn route(&self, route: &str, status: u16) -> Histogram {
        self.http.get_or_create(&RouteLabels { route: route.to_owned(), status }).clone()
    }

    /// The number of open connections.
    #[must_use]
    pub fn connections(&self) -> &Gauge {
        &self.connections
    }

    /// Copies the committer's counters.
    pub fn set_stats(&self, stats: &StatsSnapshot, queue_room: usize) {
        self.copied.commits.inner().store(stats.commits, Relaxed);
        self.copied.commands.inner().store(stats.commands, Relaxed);
        self.copied.failures.inner().store(stats.failures, Relaxed);
        self.copied.refused_full.inner().store(stats.refused_full, Relaxed);
        self.copied.queue_room.set(i64::try_from(queue_room).unwrap_or(i64::MAX));
    }

    /// Copies one worker's counters.
    pub fn set_outside(&self, effect: &str, stats: &OutsideStats) {
        self.outside.set(effect, stats);
    }

    /// Copies what the store holds; `None` if it does not answer.
    pub fn set_counts(&self, counts: Option<&Counts>, now: Timestamp) {
        self.copied.store_up.set(i64::from(counts.is_some()));
        let Some(counts) = counts else { return };
        for (kind, count) in [
            ("orders", counts.orders),
            ("events", counts.events),
            ("entitlements", counts.entitlements),
            ("open_cases", counts.open_cases),
            ("pending_tasks", counts.pending_tasks),
            ("parked_tasks", counts.parked_tasks),
            ("held_tasks", counts.held_tasks),
            ("unbound_payments", counts.unbound_payments),
        ] {
            let gauge = self.copied.rows.get_or_create(&vec![("kind", kind)]).clone();
            gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        let age = |since: Option<Timestamp>| since.map_or(0, |since| (now.0 - since.0).max(0) / 1000);
        self.copied.oldest_task_age_s.set(age(counts.oldest_pending_task));
        self.copied.oldest_event_age_s.set(age(counts.oldest_pending_event));
    }

    /// All figures as OpenMetrics text, which Prometheus reads.
    #[must_use]
    pub fn render(&self) -> String {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry)
            .expect("writing to a text does not fail");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_of_what_waits_is_shown_by_its_age() {
        let metrics = Metrics::default();
        let mut counts = Counts {
            oldest_pending_task: Some(Timestamp(8_000)),
            oldest_pending_event: Some(Timestamp(3_500)),
            ..Counts::default()
        };
        let shown = |line: &str| metrics.render().lines().any(|said| said == line);
        metrics.set_counts(Some(&counts), Timestamp(10_000));
        assert!(shown("paidonce_oldest_pending_task_seconds 2"));
        assert!(shown("paidonce_oldest_pending_event_seconds 6"));
        counts.oldest_pending_event = None;
        metrics.set_counts(Some(&counts), Timestamp(10_000));
        assert!(shown("paidonce_oldest_pending_event_seconds 0"));
    }
}
