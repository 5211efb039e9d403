//! What the merchant chose. It is passed in with every command and never stored with what it decided.

use std::collections::BTreeMap;

use crate::id::SourceName;

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

/// What happens to an entitlement whose money went back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum AfterGrant {
    /// Nothing.
    Keep,
    /// A person decides.
    #[default]
    Review,
}

/// The merchant's choices.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Policy {
    /// By source. One that is not listed has the defaults.
    pub sources: BTreeMap<SourceName, SourcePolicy>,
    /// How much of a refund prevents a grant.
    pub refund_blocks: RefundBlocks,
    /// What a reversal after the grant does.
    pub after_grant: AfterGrant,
}

impl Policy {
    /// A source's choices.
    #[must_use]
    pub fn source(&self, name: &SourceName) -> SourcePolicy {
        self.sources.get(name).cloned().unwrap_or_default()
    }
}
