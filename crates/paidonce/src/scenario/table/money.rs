//! Money that is not what was asked for.

use super::*;

pub(super) const AMOUNTS: &[Scenario] = &[
    Scenario {
        slug: "short",
        name: "wrong amount",
        sent: "10.00 EUR for an order of 19.90 EUR",
        promises: &["P6", "P13"],
        steps: &[PLACE, stored(Event { amount_minor: 1000, ..SUCCEEDED })],
        expected: Expected {
            standing: Some(Word::PartPaid),
            events: 1,
            cases: &[Reason::AmountShort],
            ..UNTOUCHED
        },
    },
    Scenario {
        slug: "currency",
        name: "wrong currency",
        sent: "19.90 USD for an order of 19.90 EUR",
        promises: &["P6", "P13"],
        steps: &[PLACE, stored(Event { currency: "usd", ..SUCCEEDED })],
        expected: Expected { events: 1, cases: &[Reason::WrongMoneyUnit], ..UNTOUCHED },
    },
    Scenario {
        slug: "nototal",
        name: "no total",
        sent: "succeeded, without an amount",
        promises: &["P6"],
        steps: &[PLACE, stored(event(1, Says::SucceededWithoutAmount))],
        expected: Expected { events: 1, cases: &[Reason::NoTotal], ..UNTOUCHED },
    },
    Scenario {
        slug: "overpaid",
        name: "overpaid",
        sent: "25.00 EUR for an order of 19.90 EUR",
        promises: &["P3", "P6"],
        steps: &[PLACE, stored(Event { amount_minor: 2500, ..SUCCEEDED })],
        expected: Expected { standing: Some(Word::Overpaid), cases: &[Reason::Overpaid], ..PAID },
    },
    Scenario {
        slug: "paidtwice",
        name: "two payments, each in full",
        sent: "two payment intents of 19.90 EUR for one order",
        promises: &["P3"],
        steps: &[
            Step::Place(Known::BothPayments),
            stored(SUCCEEDED),
            stored(Event { payment: 2, ..event(2, Says::Succeeded) }),
        ],
        expected: Expected {
            standing: Some(Word::PaidTwice),
            events: 2,
            cases: &[Reason::PaidTwice],
            ..PAID
        },
    },
];
