//! What comes more than once: the same bytes, the same news, or other bytes under the same id.

use super::*;

pub(super) const REPEATS: &[Scenario] = &[
    Scenario {
        slug: "accepted",
        name: "accepted",
        sent: "an order, its payment",
        promises: &["P1", "P3"],
        steps: &[PLACE, stored(SUCCEEDED)],
        expected: PAID,
    },
    Scenario {
        slug: "repeated",
        name: "repeated",
        sent: "one notification, twice",
        promises: &["P2"],
        steps: &[PLACE, stored(SUCCEEDED), stored(SUCCEEDED)],
        expected: Expected { repeats: 1, ..PAID },
    },
    Scenario {
        slug: "lost",
        name: "response lost after the commit",
        sent: "a notification whose answer is never read, then again",
        promises: &["P1", "P2"],
        steps: &[
            PLACE,
            Step::Deliver(Delivery { how: How::AnswerLost, ..deliver(SUCCEEDED) }),
            stored(SUCCEEDED),
        ],
        expected: Expected { repeats: 1, ..PAID },
    },
    Scenario {
        slug: "twenty",
        name: "twenty at once",
        sent: "one notification on 20 connections",
        promises: &["P2", "P3"],
        steps: &[PLACE, Step::Deliver(Delivery { how: How::AtOnce(20), ..deliver(SUCCEEDED) })],
        expected: Expected { repeats: 19, ..PAID },
    },
    Scenario {
        slug: "endpoints",
        name: "through another endpoint",
        sent: "one event to two endpoints of one account",
        promises: &["P2"],
        steps: &[
            PLACE,
            stored(SUCCEEDED),
            Step::Deliver(Delivery { at: At::StripeHold, ..deliver(SUCCEEDED) }),
        ],
        expected: Expected { repeats: 1, ..PAID },
    },
    Scenario {
        slug: "session",
        name: "another event id for the same order",
        sent: "session completed and intent succeeded, one payment",
        promises: &["P3"],
        steps: &[
            Step::Place(Known::Session),
            stored(event(1, Says::SessionPaid)),
            stored(event(2, Says::Succeeded)),
        ],
        expected: Expected { events: 2, ..PAID },
    },
    Scenario {
        slug: "twoevents",
        name: "two different events for one payment",
        sent: "intent succeeded, under two event ids",
        promises: &["P3"],
        steps: &[PLACE, stored(SUCCEEDED), stored(event(2, Says::Succeeded))],
        expected: Expected { events: 2, ..PAID },
    },
    Scenario {
        slug: "otherbytes",
        name: "same id with other bytes",
        sent: "one event id, genuine, with two amounts",
        promises: &["P7"],
        steps: &[PLACE, stored(SUCCEEDED), stored(Event { amount_minor: 9900, ..SUCCEEDED })],
        expected: Expected { cases: &[Reason::PayloadConflict], ..PAID },
    },
];
