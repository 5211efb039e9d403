//! What is not genuine, or genuine and not for this order.

use super::*;

pub(super) const FORGERIES: &[Scenario] = &[
    Scenario {
        slug: "forged",
        name: "forged",
        sent: "signed with another secret; a changed body",
        promises: &["P6"],
        steps: &[PLACE, refused(SUCCEEDED, Seal::WrongSecret), refused(SUCCEEDED, Seal::Tampered)],
        expected: UNTOUCHED,
    },
    Scenario {
        slug: "unsigned",
        name: "no signature",
        sent: "the same bytes without a signature",
        promises: &["P6"],
        steps: &[PLACE, refused(SUCCEEDED, Seal::Unsigned)],
        expected: UNTOUCHED,
    },
    Scenario {
        slug: "old",
        name: "old timestamp",
        sent: "genuine, signed ten minutes ago",
        promises: &["P6"],
        steps: &[PLACE, refused(SUCCEEDED, Seal::SecondsAgo(600))],
        expected: UNTOUCHED,
    },
    Scenario {
        slug: "rolled",
        name: "two v1 candidates after a secret roll",
        sent: "signed with the old secret and with the new one",
        promises: &["P6"],
        steps: &[PLACE, Step::Deliver(Delivery { seal: Seal::Rolled, ..deliver(SUCCEEDED) })],
        expected: PAID,
    },
    Scenario {
        slug: "test",
        name: "test notification",
        sent: "genuine, and marked as a test by the provider",
        promises: &["P6"],
        steps: &[PLACE, Step::Deliver(Delivery { at: At::StblPay, ..deliver(event(1, Says::StblPayTest)) })],
        expected: UNTOUCHED,
    },
    Scenario {
        slug: "mode",
        name: "test event on a live source",
        sent: "genuine, with livemode false, to a live source",
        promises: &["P6"],
        steps: &[PLACE, Step::Deliver(Delivery { at: At::StripeLive, ..deliver(SUCCEEDED) })],
        expected: Expected { events: 1, cases: &[Reason::WrongMode], ..UNTOUCHED },
    },
];
