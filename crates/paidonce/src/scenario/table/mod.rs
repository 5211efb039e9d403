//! The table itself, in the order in which it is played: a file for each group of rows, and the shorthands that they
//! share.

mod before_grant;
mod forgeries;
mod money;
mod news;
mod oddities;
mod repeats;
mod strangers;

use paidonce_ledger::{Reason, Word};

use super::{Answer, At, Delivery, Event, Expected, How, Known, PRICE_MINOR, Says, Scenario, Seal, Step};

/// Every scenario.
pub(crate) fn all() -> impl Iterator<Item = &'static Scenario> {
    let groups = [
        repeats::REPEATS,
        forgeries::FORGERIES,
        money::AMOUNTS,
        strangers::STRANGERS,
        news::NEWS,
        before_grant::BEFORE_GRANT,
        oddities::ODDITIES,
    ];
    groups.into_iter().flatten()
}

const fn deliver(event: Event) -> Delivery {
    Delivery { event, at: At::Stripe, seal: Seal::Genuine, how: How::Once, answer: Answer::Stored }
}

const fn stored(event: Event) -> Step {
    Step::Deliver(deliver(event))
}

/// Not genuine, and answered so.
const fn refused(event: Event, seal: Seal) -> Step {
    Step::Deliver(Delivery { seal, answer: Answer::NotGenuine, ..deliver(event) })
}

const fn event(nth: u8, says: Says) -> Event {
    Event::new(nth, says)
}

/// Placed, with the payment's id registered.
const PLACE: Step = Step::Place(Known::Payment);

/// Paid, granted once, nothing to look at.
const PAID: Expected = Expected { standing: Some(Word::Paid), granted: 1, events: 1, repeats: 0, cases: &[] };

/// Nothing came through.
const UNTOUCHED: Expected =
    Expected { standing: Some(Word::Unpaid), granted: 0, events: 0, repeats: 0, cases: &[] };

/// The first event of most scenarios.
const SUCCEEDED: Event = event(1, Says::Succeeded);
