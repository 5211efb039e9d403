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
use crate::policy::{AfterGrant, Disputes, Late, Policy, RefundBlocks};
use crate::product::StockState;

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
    /// Whether it was closed and money that came after lets it live again.
    pub revived: bool,
    /// Whether it is covered, may be served, and has given its pieces up.
    pub sold_out: bool,
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
        let closed = order.state != OrderState::Open;
        // Derived and not a change of state, so that it does not matter whether a refund or its capture came first.
        let more = sum.covering > order.closed_covering_minor;
        let may_revive = closed && policy.late == Late::Revive && sum.covered && more;
        // P13: without its pieces there is nothing to serve it with.
        let stocked = order.stock.as_ref().is_none_or(|stock| stock.state != StockState::Released);
        let revived = may_revive && stocked;
        let sold_out = sum.covered && !stocked && (!closed || may_revive);
        let open = !closed || revived;
        let eligible = open && sum.covered && stocked && !owes && !foreign;
        let mut standing = Self {
            word: sum.word(&accounts, open),
            captured_minor: sum.captured,
            reversed_minor: sum.reversed,
            covering_minor: sum.covering,
            covered: sum.covered,
            eligible,
            revived,
            sold_out,
            findings: Vec::new(),
            payments: accounts,
        };
        standing.findings = finding::findings(id, order, &standing);
        standing
    }

    /// Why it stands so, in sentences. (Written when somebody asks: most standings are only decided on.)
    #[must_use]
    pub fn why(&self, order: &Order) -> Vec<String> {
        why(order, self)
    }

    /// The total's part that is not covered.
    #[must_use]
    pub fn outstanding_minor(&self, order: &Order) -> i128 {
        (order.total.amount_minor() - self.covering_minor).max(0)
    }
}

/// What took the money of an order that was covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// A refund, or money that went back in a way that could not be matched.
    Refund,
    /// A dispute, open or lost.
    Dispute,
    /// A capture that the bank took back.
    Reversal,
}

impl Loss {
    /// What the merchant chose for it.
    #[must_use]
    pub fn policy(self, policy: &Policy) -> AfterGrant {
        match self {
            Self::Refund => policy.after_grant.refund,
            Self::Dispute => policy.after_grant.dispute,
            Self::Reversal => policy.after_grant.reversal,
        }
    }
}

impl Standing {
    /// Why what was granted would no longer be paid for; `None` while it is.
    #[must_use]
    pub fn loss(&self) -> Option<Loss> {
        let any = |test: fn(&PaymentAccount) -> bool| self.payments.iter().any(|(_, account)| test(account));
        let foreign = any(|account| account.foreign_reversal);
        match () {
            () if self.covered && !foreign => None,
            () if any(|account| account.disputed || account.charged_back) => Some(Loss::Dispute),
            () if any(|account| account.returned) => Some(Loss::Reversal),
            () => Some(Loss::Refund),
        }
    }
}

/// The figures over all payments.
struct Sum {
    captured: i128,
    reversed: i128,
    covering: i128,
    /// More than the total, beyond what still counts as exact.
    over: bool,
    covered: bool,
    /// Payments that would each cover the order alone.
    full: usize,
}

impl Sum {
    fn of(accounts: &[(PaymentKey, PaymentAccount)], total: i128, policy: &Policy) -> Self {
        let held = |account: &PaymentAccount| account.disputed && policy.disputes == Disputes::Hold;
        let covers = |account: &PaymentAccount| match policy.refund_blocks {
            _ if account.wholly_reversed() || held(account) || account.charged_back => 0,
            RefundBlocks::Full => account.captured_minor,
            RefundBlocks::Any => account.captured_minor - account.reversed_minor,
        };
        let covering: i128 = accounts.iter().map(|(_, account)| covers(account)).sum();
        // The widest tolerance of the accounts whose money counts; nothing at all is never close enough.
        let counting = accounts.iter().filter(|(_, account)| account.captured_minor > 0);
        let tolerance = counting.map(|(key, _)| policy.tolerance(&key.account)).max().unwrap_or(0);
        let reaches = |sum: i128| sum >= total || (sum > 0 && sum + tolerance >= total);
        Self {
            captured: accounts.iter().map(|(_, account)| account.captured_minor).sum(),
            reversed: accounts.iter().map(|(_, account)| account.reversed_minor).sum(),
            covering,
            over: covering > total + tolerance,
            covered: reaches(covering),
            full: accounts.iter().filter(|(_, account)| total > 0 && reaches(covers(account))).count(),
        }
    }

    fn word(&self, accounts: &[(PaymentKey, PaymentAccount)], open: bool) -> Word {
        let any = |test: fn(&PaymentAccount) -> bool| accounts.iter().any(|(_, account)| test(account));
        if any(|account| account.owed.contains(&Owed::Contradiction)) {
            return Word::Contradictory;
        }
        if !open {
            let money_left = self.captured > self.reversed;
            return if money_left { Word::Late } else { Word::Closed };
        }
        if self.covered {
            return match () {
                () if self.full > 1 => Word::PaidTwice,
                () if self.over => Word::Overpaid,
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
    if standing.revived {
        why.push(format!(
            "the order was {}, and money that came after that revived it",
            order.state.as_str()
        ));
    } else if order.state != OrderState::Open {
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
