//! The scenarios: what is sent to a webhook handler, and what must be true afterwards. One table for the demo and,
//! later, for the torture kit.
//!
//! This module is data and pure functions: it opens no socket, starts no process and asks no clock. Who plays a
//! scenario brings those.

mod event;
mod expect;
#[cfg(test)]
mod rehearsal;
mod seal;
mod table;

pub(crate) use event::{Event, Says, Scene};
pub(crate) use expect::{Answer, Expected, Outcome};
pub(crate) use seal::{Seal, seal, tamper};
pub(crate) use table::all;

/// What every order of the table costs, in minor units of [`CURRENCY`].
pub(crate) const PRICE_MINOR: i64 = 1990;

/// The same as decimal text.
pub(crate) const PRICE: &str = "19.90";

/// The unit of [`PRICE`].
pub(crate) const CURRENCY: &str = "EUR";

/// A source that a scenario delivers to. The player configures one of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum At {
    /// Stripe in test mode; payments that find no order are kept.
    Stripe,
    /// The same account through a second endpoint; payments that find no order are refused.
    StripeReject,
    /// The same account through a third endpoint; payments that find no order are held.
    StripeHold,
    /// Stripe in live mode.
    StripeLive,
    /// A provider that sends test notifications.
    StblPay,
}

impl At {
    /// Every source there is.
    pub(crate) const ALL: [Self; 5] =
        [Self::Stripe, Self::StripeReject, Self::StripeHold, Self::StripeLive, Self::StblPay];

    /// The source's name: the last part of its URL.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Stripe => "stripe",
            Self::StripeReject => "stripe-reject",
            Self::StripeHold => "stripe-hold",
            Self::StripeLive => "stripe-live",
            Self::StblPay => "stbl-pay",
        }
    }

    /// The shipped contract that it speaks.
    pub(crate) fn contract(self) -> &'static str {
        match self {
            Self::StblPay => "stbl-pay",
            _ => "stripe",
        }
    }
}

/// How the merchant and the payment know of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// The first payment's id is registered when the order is placed.
    Payment,
    /// Both payments' ids are registered when the order is placed.
    BothPayments,
    /// The checkout session's id is registered afterwards.
    Session,
    /// Nothing is registered: the payload carries the hint that the order was given.
    Hint,
}

/// How often, and how, one notification is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// Once.
    Once,
    /// So many times, at once, on as many connections.
    AtOnce(u8),
    /// Once; the connection is closed before the answer is read, and after the event was committed.
    AnswerLost,
}

/// One notification on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delivery {
    /// What it says.
    pub(crate) event: Event,
    /// Where it goes.
    pub(crate) at: At,
    /// How it is signed.
    pub(crate) seal: Seal,
    /// How it is sent.
    pub(crate) how: How,
    /// What must be answered.
    pub(crate) answer: Answer,
}

/// One step of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The merchant places the order.
    Place(Known),
    /// The provider delivers.
    Deliver(Delivery),
    /// The handler starts again, and grants nothing from now on.
    HoldGrants,
    /// It must be so that the payment is committed and nothing is granted. Otherwise the scenario shows nothing.
    NotGrantedYet,
    /// The handler is killed where it stands.
    Kill,
    /// The handler runs (again), and grants.
    RunGrants,
}

/// One row of the table.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    /// Part of every id in it: lower-case letters and digits.
    pub(crate) slug: &'static str,
    /// Its name, for people.
    pub(crate) name: &'static str,
    /// What is sent, in a few words.
    pub(crate) sent: &'static str,
    /// What it shows: numbers of PROMISES.md.
    pub(crate) promises: &'static [&'static str],
    /// What happens, in order.
    pub(crate) steps: &'static [Step],
    /// What must be true in the end.
    pub(crate) expected: Expected,
}

impl Scenario {
    /// Every event that is delivered in it, each id once.
    pub(crate) fn events(&self) -> Vec<Event> {
        let mut events: Vec<Event> = Vec::new();
        for step in self.steps {
            let Step::Deliver(delivery) = step else { continue };
            if events.iter().all(|event| event.nth != delivery.event.nth) {
                events.push(delivery.event);
            }
        }
        events
    }

    /// Whether an order is placed in it.
    pub(crate) fn places_an_order(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Place(_)))
    }

    /// What must be answered to each delivery, in order.
    pub(crate) fn answers(&self) -> Vec<Answer> {
        let answers = |step: &Step| match step {
            Step::Deliver(Delivery { how: How::Once, answer, .. }) => vec![*answer],
            Step::Deliver(Delivery { how: How::AtOnce(n), answer, .. }) => vec![*answer; usize::from(*n)],
            Step::Deliver(Delivery { how: How::AnswerLost, .. }) => vec![Answer::Unread],
            _ => Vec::new(),
        };
        self.steps.iter().flat_map(answers).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn slugs_are_unique_and_every_scenario_shows_a_promise() {
        let slugs: BTreeSet<_> = all().map(|scenario| scenario.slug).collect();
        assert_eq!(slugs.len(), all().count());
        assert!(slugs.iter().all(|slug| slug.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())));
        assert!(all().all(|scenario| !scenario.promises.is_empty()));
    }

    #[test]
    fn a_scenario_without_an_order_expects_none() {
        for scenario in all() {
            assert_eq!(scenario.places_an_order(), scenario.expected.standing.is_some(), "{}", scenario.name);
        }
    }

    #[test]
    fn what_is_held_is_run_again() {
        for scenario in all().filter(|s| s.steps.contains(&Step::HoldGrants)) {
            assert_eq!(scenario.steps.last(), Some(&Step::RunGrants), "{}", scenario.name);
        }
    }
}
