//! `[workers]`: which kinds of work this process does. Off is for maintenance; tasks wait in plain view.

use std::fmt::Write as _;

use super::section::Section;

/// The `[workers]` section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkersConfig {
    /// Whether this process grants.
    pub grant: bool,
}

const SWITCH: &[(&str, bool)] = &[("on", true), ("off", false)];

impl WorkersConfig {
    pub(super) fn read(section: Section<'_>) -> Self {
        let grant = section.choice("grant", true, SWITCH);
        section.finish();
        Self { grant }
    }

    pub(super) fn show(&self, out: &mut String) {
        let _ = writeln!(out, "\n[workers]\ngrant = \"{}\"", super::word_of(SWITCH, &self.grant));
    }
}
