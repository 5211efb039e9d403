//! What the merchant chose. It is passed in with every command and never stored with what it decided.

use std::collections::BTreeMap;

use crate::id::{Account, SourceName};

/// Which of a payload's texts may name an order at a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Hints {
    /// Only texts that paidonce issued.
    #[default]
    Issued,
    /// The merchant's own order ids too: right only if no other shop shares the account.
    OwnIds,
}

/// What to do with a payment that finds no order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Unmatched {
    /// Keep it: it binds by itself when its order comes.
    #[default]
    Keep,
    /// Store nothing and answer 4xx, so that the provider tries again.
    Reject,
    /// Keep it and open a case at once.
    Hold,
}

/// One source's choices.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct SourcePolicy {
    /// Which hints count.
    pub hints: Hints,
    /// What to do with payments that find no order.
    pub unmatched: Unmatched,
}

/// How much of a payment must have gone back before it no longer covers an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum RefundBlocks {
    /// All of it: a partial refund is goodwill.
    #[default]
    Full,
    /// Any of it: only the rest counts.
    Any,
}

/// Whether an open dispute holds a grant. (A lost one always does: the money is gone.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Disputes {
    /// A disputed payment covers nothing until the dispute is decided.
    #[default]
    Hold,
    /// An open dispute changes nothing.
    Ignore,
}

/// What money for a closed order does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Late {
    /// A case: a person decides.
    #[default]
    Hold,
    /// The order lives again, if what came after it was closed covers it.
    Revive,
}

/// What happens to an entitlement that is no longer paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum AfterGrant {
    /// Nothing.
    Keep,
    /// It is taken back, and given back when the standing is restored.
    Revoke,
    /// A person decides.
    #[default]
    Review,
}

/// [`AfterGrant`] by what took the money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct AfterGrants {
    /// A refund.
    pub refund: AfterGrant,
    /// A dispute, open or lost.
    pub dispute: AfterGrant,
    /// A capture that the bank took back.
    pub reversal: AfterGrant,
}

/// The merchant's choices.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Policy {
    /// By source. One that is not listed has the defaults.
    pub sources: BTreeMap<SourceName, SourcePolicy>,
    /// By account: how many minor units too little or too much still count as exact. None where it is not listed.
    pub tolerance_minor: BTreeMap<Account, i128>,
    /// How much of a refund prevents a grant.
    pub refund_blocks: RefundBlocks,
    /// Whether an open dispute prevents a grant.
    pub disputes: Disputes,
    /// What money for a closed order does.
    pub late: Late,
    /// What a reversal after the grant does.
    pub after_grant: AfterGrants,
}

impl Policy {
    /// A source's choices.
    #[must_use]
    pub fn source(&self, name: &SourceName) -> SourcePolicy {
        self.sources.get(name).cloned().unwrap_or_default()
    }

    /// How many minor units too little or too much at an account still count as exact.
    #[must_use]
    pub fn tolerance(&self, account: &Account) -> i128 {
        self.tolerance_minor.get(account).copied().unwrap_or(0)
    }
}
