//! The workers' figures: what came of tries, what was lost, and where circuits stand. Copied in when somebody looks.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use paidonce_engine::{Circuit, OutsideStats};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EffectLabels {
    effect: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AttemptLabels {
    effect: String,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CircuitLabels {
    effect: String,
    state: &'static str,
}

type Count = Counter<u64, AtomicU64>;

/// The families; none has more members than effects are configured.
#[derive(Default)]
pub(super) struct OutsideMetrics {
    attempts: Family<AttemptLabels, Count>,
    lease_losses: Family<EffectLabels, Count>,
    unrecorded: Family<EffectLabels, Count>,
    in_flight: Family<EffectLabels, Gauge>,
    circuits: Family<CircuitLabels, Gauge>,
}

impl OutsideMetrics {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register(
            "effect_attempts",
            "Tries of effects and lookups, by outcome",
            self.attempts.clone(),
        );
        let help = "Steps that were refused because the lease was lost";
        registry.register("lease_losses", help, self.lease_losses.clone());
        let help = "Outcomes that could not be written down; the lease's end brings them to light";
        registry.register("unrecorded_attempts", help, self.unrecorded.clone());
        registry.register("effect_calls", "Tries under way", self.in_flight.clone());
        let help = "1 for the state that the effect's circuit is in";
        registry.register("effect_circuit", help, self.circuits.clone());
    }

    pub(super) fn set(&self, effect: &str, stats: &OutsideStats) {
        let effect = || effect.to_owned();
        for (outcome, count) in &stats.attempts {
            let labels = AttemptLabels { effect: effect(), outcome };
            self.attempts.get_or_create(&labels).inner().store(*count, Relaxed);
        }
        let labels = EffectLabels { effect: effect() };
        self.lease_losses.get_or_create(&labels).inner().store(stats.lease_losses, Relaxed);
        self.unrecorded.get_or_create(&labels).inner().store(stats.unrecorded, Relaxed);
        self.in_flight.get_or_create(&labels).set(i64::try_from(stats.in_flight).unwrap_or(i64::MAX));
        for state in Circuit::ALL {
            let labels = CircuitLabels { effect: effect(), state: state.as_str() };
            self.circuits.get_or_create(&labels).set(i64::from(state == stats.circuit));
        }
    }
}
