//! The circuit breaker: a destination that keeps failing is left in peace for a while, then tried with one message.
//!
//! A state machine without a clock: whoever asks says what time it is.

use std::time::{Duration, Instant};

/// When a circuit opens, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerSettings {
    /// So many failures in a row open it.
    pub failures_max: u32,
    /// How long it stays open the first time; twice as long after each probe that fails.
    pub rest_first: Duration,
    /// It is never open for longer.
    pub rest_longest: Duration,
}

impl Default for BreakerSettings {
    fn default() -> Self {
        Self { failures_max: 5, rest_first: Duration::from_secs(2), rest_longest: Duration::from_secs(60) }
    }
}

/// Where a circuit stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Circuit {
    /// Everything is sent.
    Closed,
    /// Nothing is sent.
    Open,
    /// One message is on its way, and decides.
    HalfOpen,
    /// The destination takes nothing any more.
    Gone,
}

impl Circuit {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Closed, Self::Open, Self::HalfOpen, Self::Gone];

    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half_open",
            Self::Gone => "gone",
        }
    }
}

/// One destination's circuit.
#[derive(Debug)]
pub(super) struct Breaker {
    settings: BreakerSettings,
    failures: u32,
    rest: Duration,
    open_until: Option<Instant>,
    probing: bool,
}

impl Breaker {
    pub(super) fn new(settings: BreakerSettings) -> Self {
        Self { settings, failures: 0, rest: settings.rest_first, open_until: None, probing: false }
    }

    /// Whether a message may go now. A yes while the circuit is open is the probe: no other goes until it
    /// [`Self::succeeded`], [`Self::failed`] or [`Self::passed`].
    pub(super) fn permits(&mut self, now: Instant) -> bool {
        let Some(until) = self.open_until else { return true };
        if self.probing || now < until {
            return false;
        }
        self.probing = true;
        true
    }

    /// The destination answered.
    pub(super) fn succeeded(&mut self) {
        *self = Self::new(self.settings);
    }

    /// It did not, or said that it cannot.
    pub(super) fn failed(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        if self.probing {
            self.rest = self.rest.saturating_mul(2).min(self.settings.rest_longest);
        }
        // What was on its way when the circuit opened does not keep it open longer.
        if self.probing || (self.failures >= self.settings.failures_max && self.open_until.is_none()) {
            self.open_until = Some(now + self.rest);
        }
        self.probing = false;
    }

    /// What was permitted was not sent after all: nothing is known.
    pub(super) fn passed(&mut self) {
        self.probing = false;
    }

    pub(super) fn circuit(&self) -> Circuit {
        match (self.open_until, self.probing) {
            (None, _) => Circuit::Closed,
            (Some(_), false) => Circuit::Open,
            (Some(_), true) => Circuit::HalfOpen,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: BreakerSettings = BreakerSettings {
        failures_max: 3,
        rest_first: Duration::from_secs(2),
        rest_longest: Duration::from_secs(5),
    };

    fn seconds(start: Instant, n: u64) -> Instant {
        start + Duration::from_secs(n)
    }

    #[test]
    fn it_opens_after_failures_in_a_row_and_only_in_a_row() {
        let (mut breaker, now) = (Breaker::new(SETTINGS), Instant::now());
        breaker.failed(now);
        breaker.failed(now);
        breaker.succeeded();
        breaker.failed(now);
        breaker.failed(now);
        assert!(breaker.permits(now));
        breaker.failed(now);
        assert_eq!(breaker.circuit(), Circuit::Open);
        assert!(!breaker.permits(seconds(now, 1)));
    }

    #[test]
    fn one_probe_decides_and_failing_ones_come_ever_more_rarely() {
        let (mut breaker, now) = (Breaker::new(SETTINGS), Instant::now());
        (0..3).for_each(|_| breaker.failed(now));
        assert!(breaker.permits(seconds(now, 2)), "it may be probed");
        assert!(!breaker.permits(seconds(now, 2)), "by one message");
        assert_eq!(breaker.circuit(), Circuit::HalfOpen);
        breaker.failed(seconds(now, 2));
        assert!(!breaker.permits(seconds(now, 5)));
        assert!(breaker.permits(seconds(now, 6)));
        breaker.failed(seconds(now, 6));
        assert!(!breaker.permits(seconds(now, 10)));
        assert!(breaker.permits(seconds(now, 11)), "never longer than the longest rest");
        breaker.succeeded();
        assert_eq!(breaker.circuit(), Circuit::Closed);
        assert!(breaker.permits(seconds(now, 11)) && breaker.permits(seconds(now, 11)));
    }

    #[test]
    fn a_probe_that_was_not_sent_leaves_it_to_the_next() {
        let (mut breaker, now) = (Breaker::new(SETTINGS), Instant::now());
        (0..3).for_each(|_| breaker.failed(now));
        assert!(breaker.permits(seconds(now, 2)));
        breaker.passed();
        assert_eq!(breaker.circuit(), Circuit::Open);
        assert!(breaker.permits(seconds(now, 2)));
    }
}
