//! What an order's facts add up to: one pure function over all payments bound to it. Never stored as the truth.

mod account;
mod finding;

use std::fmt;

pub use account::{Owed, PaymentAccount};
pub use finding::Finding;

use crate::fact::Facts;
use crate::id::{OrderId, PaymentKey};
use crate::money::{Money, MoneyUnit};
use crate::order::{Order, OrderState};
use crate::policy::{Policy, RefundBlocks};

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident = $text:literal)+) => {
        /// The one word for where an order stands. The reasons stand beside it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Word { $($(#[$doc])* $name,)+ }

        impl Word {
            /// Every word there is.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The stable text.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }
        }
    };
}

words! {
    /// No money, and none on its way.
    Unpaid = "unpaid"
    /// A payment was started and may succeed.
    Pending = "pending"
    /// Money is reserved, not taken.
    Authorized = "authorized"
    /// Some money, less than the total.
    PartPaid = "part_paid"
    /// Covered, exactly.
    Paid = "paid"
    /// Covered, by more than the total.
    Overpaid = "overpaid"
    /// Covered, by two payments that each would do.
    PaidTwice = "paid_twice"
    /// Covered, though a part went back.
    PartRefunded = "part_refunded"
    /// All that came went back.
    Refunded = "refunded"
    /// A dispute is open, and what is undisputed does not cover the order.
    Disputed = "disputed"
    /// A dispute is lost, and what is left does not cover the order.
    ChargedBack = "charged_back"
    /// One payment both ended without money and was captured.
    Contradictory = "contradictory"
    /// Money came to an order that was closed.
    Late = "late"
    /// Closed, and no money came.
    Closed = "closed"
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where an order stands, in figures of its own unit of money.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// In one word.
    pub word: Word,
    /// What was settled.
    pub captured_minor: i128,
    /// What of it went back: never more than was captured (P13).
    pub reversed_minor: i128,
    /// What counts towards the total now.
    pub covering_minor: i128,
    /// Whether that reaches the total.
    pub covered: bool,
    /// Whether its units may be granted now.
    pub eligible: bool,
    /// Why it stands so, in sentences.
    pub why: Vec<String>,
    /// What a person or a lookup has to settle.
    pub findings: Vec<Finding>,
    /// Each bound payment's account.
    pub payments: Vec<(PaymentKey, PaymentAccount)>,
}

impl Standing {
    /// Adds up all payments bound to an order.
    #[must_use]
    pub fn of(id: &OrderId, order: &Order, payments: &[(PaymentKey, Facts)], policy: &Policy) -> Self {
        let unit = order.total.unit();
        let accounts: Vec<_> =
            payments.iter().map(|(key, facts)| (key.clone(), PaymentAccount::of(facts, unit))).collect();
        let sum = Sum::of(&accounts, order.total.amount_minor(), policy);
        let owes = accounts.iter().any(|(_, account)| !account.owed.is_empty());
        let foreign = accounts.iter().any(|(_, account)| account.foreign_reversal);
        let open = order.state == OrderState::Open;
        let eligible = open && sum.covered && !owes && !foreign;
        let mut standing = Self {
            word: sum.word(&accounts, order),
            captured_minor: sum.captured,
            reversed_minor: sum.reversed,
            covering_minor: sum.covering,
            covered: sum.covered,
            eligible,
            why: Vec::new(),
            findings: Vec::new(),
            payments: accounts,
        };
        standing.findings = finding::findings(id, order, &standing);
        standing.why = why(order, &standing);
        standing
    }

    /// The total's part that is not covered.
    #[must_use]
    pub fn outstanding_minor(&self, order: &Order) -> i128 {
        (order.total.amount_minor() - self.covering_minor).max(0)
    }
}

/// The figures over all payments.
struct Sum {
    captured: i128,
    reversed: i128,
    covering: i128,
    total: i128,
    covered: bool,
    /// Payments that would each cover the order alone.
    full: usize,
}

impl Sum {
    fn of(accounts: &[(PaymentKey, PaymentAccount)], total: i128, policy: &Policy) -> Self {
        let covers = |account: &PaymentAccount| match policy.refund_blocks {
            _ if account.wholly_reversed() || account.disputed || account.charged_back => 0,
            RefundBlocks::Full => account.captured_minor,
            RefundBlocks::Any => account.captured_minor - account.reversed_minor,
        };
        let covering = accounts.iter().map(|(_, account)| covers(account)).sum();
        Self {
            captured: accounts.iter().map(|(_, account)| account.captured_minor).sum(),
            reversed: accounts.iter().map(|(_, account)| account.reversed_minor).sum(),
            covering,
            total,
            covered: covering >= total,
            full: accounts.iter().filter(|(_, account)| covers(account) >= total && total > 0).count(),
        }
    }

    fn word(&self, accounts: &[(PaymentKey, PaymentAccount)], order: &Order) -> Word {
        let any = |test: fn(&PaymentAccount) -> bool| accounts.iter().any(|(_, account)| test(account));
        if any(|account| account.owed.contains(&Owed::Contradiction)) {
            return Word::Contradictory;
        }
        if order.state != OrderState::Open {
            let money_left = self.captured > self.reversed;
            return if money_left { Word::Late } else { Word::Closed };
        }
        if self.covered {
            return match () {
                () if self.full > 1 => Word::PaidTwice,
                () if self.covering > self.total => Word::Overpaid,
                () if self.reversed > 0 && self.partly_reversed(accounts) => Word::PartRefunded,
                () => Word::Paid,
            };
        }
        match () {
            () if any(|account| account.charged_back) => Word::ChargedBack,
            () if any(|account| account.disputed) => Word::Disputed,
            () if self.captured > 0 && self.reversed >= self.captured => Word::Refunded,
            () if self.captured > 0 => Word::PartPaid,
            () if any(|account| account.authorized && !account.ended) => Word::Authorized,
            () if any(|account| account.pending && !account.ended) => Word::Pending,
            () => Word::Unpaid,
        }
    }

    /// Whether a payment that still counts has lost a part. (A duplicate that went back whole is no partial refund.)
    fn partly_reversed(&self, accounts: &[(PaymentKey, PaymentAccount)]) -> bool {
        accounts.iter().any(|(_, account)| account.reversed_minor > 0 && !account.wholly_reversed())
    }
}

fn why(order: &Order, standing: &Standing) -> Vec<String> {
    let money = |minor| show(minor, order.total.unit());
    let mut why = Vec::new();
    if order.state != OrderState::Open {
        why.push(format!("the order is {}", order.state.as_str()));
    }
    if order.total.amount_minor() == 0 {
        why.push("the total is zero: no payment is needed".to_owned());
    } else {
        let (captured, total) = (money(standing.captured_minor), money(order.total.amount_minor()));
        why.push(format!("{captured} of {total} captured in {} payment(s)", standing.payments.len()));
    }
    if standing.reversed_minor > 0 {
        why.push(format!("{} went back", money(standing.reversed_minor)));
    }
    for (key, account) in &standing.payments {
        why.extend(account.why().into_iter().map(|sentence| format!("payment {}: {sentence}", key.id)));
    }
    why
}

pub(crate) fn show(minor: i128, unit: &MoneyUnit) -> String {
    Money::new(minor, unit.clone())
        .map_or_else(|_| format!("{minor} minor units of {unit}"), |m| m.to_string())
}
