//! `[workers]`: which kinds of work this process does. Off is for maintenance; tasks wait in plain view.

use std::fmt::Write as _;
use std::time::Duration;

use paidonce_engine::OutsideSettings;

use super::section::Section;

/// The `[workers]` section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkersConfig {
    /// Whether this process grants.
    pub grant: bool,
    /// Whether this process sends to what lies outside.
    pub effects: bool,
    /// Whether this process asks providers.
    pub lookups: bool,
    /// For how long a task is claimed.
    pub lease: Duration,
    /// Whether this process does what time makes due: expiry, waiting payments, parked tasks.
    pub sweep: bool,
}

const SWITCH: &[(&str, bool)] = &[("on", true), ("off", false)];

impl WorkersConfig {
    pub(super) fn read(section: Section<'_>) -> Self {
        let config = Self {
            grant: section.choice("grant", true, SWITCH),
            effects: section.choice("effects", true, SWITCH),
            lookups: section.choice("lookups", true, SWITCH),
            sweep: section.choice("sweep", true, SWITCH),
            lease: Duration::from_secs(section.number("lease_s", 30, 1..=3_600)),
        };
        section.finish();
        config
    }

    /// How one destination is worked for.
    pub(crate) fn outside(&self, concurrency: usize) -> OutsideSettings {
        OutsideSettings { concurrency, ..OutsideSettings::of_lease(self.lease) }
    }

    /// How long a call may take under such a lease; at least a second is let through, and cut off earlier.
    pub(super) fn longest_call(&self) -> Duration {
        let settings = self.outside(1);
        settings.lease.saturating_sub(settings.margin).max(Duration::from_secs(1))
    }

    pub(super) fn show(&self, out: &mut String) {
        out.push_str("\n[workers]\n");
        for (key, on) in [
            ("grant", self.grant),
            ("effects", self.effects),
            ("lookups", self.lookups),
            ("sweep", self.sweep),
        ] {
            let _ = writeln!(out, "{key} = \"{}\"", super::word_of(SWITCH, &on));
        }
        let _ = writeln!(out, "lease_s = {}", self.lease.as_secs());
    }
}
