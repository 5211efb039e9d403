//! What happens between the commit and the grant.

use super::*;

const fn back(nth: u8, says: Says, amount_minor: i64) -> Step {
    stored(Event { amount_minor, ..event(nth, says) })
}

pub(super) const BEFORE_GRANT: &[Scenario] = &[
    Scenario {
        slug: "refund",
        name: "full refund before the grant",
        sent: "paid, refunded in full, then workers run",
        promises: &["P8", "P13"],
        steps: &[
            Step::HoldGrants,
            PLACE,
            stored(SUCCEEDED),
            Step::NotGrantedYet,
            back(2, Says::Refunded, PRICE_MINOR),
            back(3, Says::ChargeRefunded, PRICE_MINOR),
            Step::RunGrants,
        ],
        expected: Expected { standing: Some(Word::Refunded), events: 3, ..UNTOUCHED },
    },
    Scenario {
        slug: "partial",
        name: "partial refund before the grant",
        sent: "paid, 5.00 EUR refunded, then workers run",
        promises: &["P8", "P13"],
        steps: &[
            Step::HoldGrants,
            PLACE,
            stored(SUCCEEDED),
            Step::NotGrantedYet,
            back(2, Says::Refunded, 500),
            back(3, Says::ChargeRefunded, 500),
            Step::RunGrants,
        ],
        expected: Expected { standing: Some(Word::PartRefunded), events: 3, ..PAID },
    },
    Scenario {
        slug: "killed",
        name: "SIGKILL between the commit and the grant",
        sent: "paid, server killed, started again",
        promises: &["P1", "P3", "P10"],
        steps: &[
            Step::HoldGrants,
            PLACE,
            stored(SUCCEEDED),
            Step::NotGrantedYet,
            Step::Kill,
            Step::RunGrants,
        ],
        expected: PAID,
    },
];
