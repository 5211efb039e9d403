//! News that comes out of order.

use super::*;

pub(super) const NEWS: &[Scenario] = &[
    Scenario {
        slug: "pending",
        name: "older pending after success",
        sent: "succeeded, then processing",
        promises: &["P5"],
        steps: &[PLACE, stored(event(1, Says::Succeeded)), stored(event(2, Says::Processing))],
        expected: Expected { events: 2, ..PAID },
    },
    Scenario {
        slug: "unpaid",
        name: "unpaid completion then success",
        sent: "session completed (unpaid), then paid later",
        promises: &["P5", "P6"],
        steps: &[
            Step::Place(Known::Session),
            stored(event(1, Says::SessionUnpaid)),
            stored(event(2, Says::SessionPaidLater)),
        ],
        expected: Expected { events: 2, ..PAID },
    },
    Scenario {
        slug: "failed",
        name: "failed attempt, success, the failure again",
        sent: "payment failed, succeeded, and the failure once more",
        promises: &["P2", "P5"],
        steps: &[
            PLACE,
            stored(event(1, Says::Failed)),
            stored(event(2, Says::Succeeded)),
            stored(event(1, Says::Failed)),
        ],
        expected: Expected { events: 2, repeats: 1, ..PAID },
    },
];
