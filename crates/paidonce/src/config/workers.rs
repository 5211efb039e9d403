//! `[workers]`: which kinds of work this process does. Off is for maintenance; tasks wait in plain view.

use std::fmt::Write as _;

use super::section::Section;

/// The `[workers]` section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkersConfig {
    /// Whether this process grants.
    pub grant: bool,
    /// Whether this process does what time makes due: expiry, waiting payments, parked tasks.
    pub sweep: bool,
}

const SWITCH: &[(&str, bool)] = &[("on", true), ("off", false)];

impl WorkersConfig {
    pub(super) fn read(section: Section<'_>) -> Self {
        let grant = section.choice("grant", true, SWITCH);
        let sweep = section.choice("sweep", true, SWITCH);
        section.finish();
        Self { grant, sweep }
    }

    pub(super) fn show(&self, out: &mut String) {
        let (grant, sweep) = (super::word_of(SWITCH, &self.grant), super::word_of(SWITCH, &self.sweep));
        let _ = writeln!(out, "\n[workers]\ngrant = \"{grant}\"\nsweep = \"{sweep}\"");
    }
}
