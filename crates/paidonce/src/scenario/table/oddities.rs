//! Genuine bodies that no contract can read.

use super::*;

pub(super) const ODDITIES: &[Scenario] = &[Scenario {
    slug: "notjson",
    name: "genuine, and not JSON",
    sent: "signed text that is no JSON",
    promises: &["P1", "P6"],
    steps: &[stored(event(1, Says::NotJson))],
    expected: Expected { standing: None, granted: 0, events: 1, repeats: 0, cases: &[Reason::Unreadable] },
}];
