//! Payments whose order is unknown, or becomes known later or by a hint.

use super::*;

const NOTHING: Expected = Expected { standing: None, ..UNTOUCHED };
const KEPT: Expected = Expected { events: 1, ..NOTHING };
const HELD: Expected = Expected { cases: &[Reason::Unbound], ..KEPT };

const fn to(at: At, answer: Answer) -> Step {
    Step::Deliver(Delivery { at, answer, ..deliver(SUCCEEDED) })
}

/// One payment that names no order.
const fn unknown(
    slug: &'static str,
    name: &'static str,
    steps: &'static [Step],
    expected: Expected,
) -> Scenario {
    let sent = "a genuine payment that names no order of ours";
    Scenario { slug, name, sent, promises: &["P6"], steps, expected }
}

pub(super) const STRANGERS: &[Scenario] = &[
    unknown("keep", "unknown order, unmatched = keep", &[to(At::Stripe, Answer::Stored)], KEPT),
    unknown("reject", "unknown order, unmatched = reject", &[to(At::StripeReject, Answer::Refused)], NOTHING),
    unknown("hold", "unknown order, unmatched = hold", &[to(At::StripeHold, Answer::Stored)], HELD),
    Scenario {
        slug: "early",
        name: "notification before its order exists",
        sent: "the payment, then the order",
        promises: &["P4", "P5"],
        steps: &[stored(SUCCEEDED), PLACE],
        expected: PAID,
    },
    Scenario {
        slug: "hint",
        name: "named by the order's hint",
        sent: "a session that carries the hint, nothing registered",
        promises: &["P6"],
        steps: &[Step::Place(Known::Hint), stored(event(1, Says::SessionPaid))],
        expected: PAID,
    },
];
