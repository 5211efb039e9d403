//! What the merchant chose. It is passed in with every command and never stored with what it decided.

use std::collections::{BTreeMap, BTreeSet};

use crate::id::{Account, EffectName, SourceName};
use crate::task::Happening;

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

/// Whether an event's own facts count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Truth {
    /// They are applied.
    #[default]
    Event,
    /// They are not: every event makes its payment owe a lookup, and the answer is applied.
    Fetch,
}

/// How often something is tried, and how long to wait between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Retries {
    /// After so many tries it becomes a case.
    pub attempts_max: u32,
    /// The wait after the first try; each further one is twice as long.
    pub first_ms: i64,
    /// No wait is longer.
    pub longest_ms: i64,
}

impl Default for Retries {
    fn default() -> Self {
        Self { attempts_max: 12, first_ms: 5_000, longest_ms: 3_600_000 }
    }
}

/// What an effect does, as far as it must be decided with everything else.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct EffectRule {
    /// What it tells. Ignored where it keeps a copy.
    pub on: BTreeSet<Happening>,
    /// Whether it keeps a destination's copy of each entitlement, instead of telling happenings.
    pub sync: bool,
    /// For how long the receiver knows a key again, counted from the first send, in milliseconds; `None` if it has
    /// no keys.
    pub key_window_ms: Option<i64>,
    /// Whether the receiver can be asked what became of a request.
    pub can_ask: bool,
    /// Whether there is nothing yet that could carry it out (a mail effect without a server): what it parks stays parked,
    /// unless a person retries it.
    pub unconfigured: bool,
    /// How often it is tried.
    pub retries: Retries,
}

/// How payments of an account are looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LookupRule {
    /// A lookup that has failed for so long becomes a case. It is tried on all the same.
    pub patience_ms: i64,
    /// How long to wait between tries. Lookups have no last try.
    pub retries: Retries,
}

impl Default for LookupRule {
    fn default() -> Self {
        Self { patience_ms: 900_000, retries: Retries { attempts_max: u32::MAX, ..Retries::default() } }
    }
}

/// One source's choices.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct SourcePolicy {
    /// Which hints count.
    pub hints: Hints,
    /// What to do with payments that find no order.
    pub unmatched: Unmatched,
    /// Whether its events' facts count.
    pub truth: Truth,
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
    /// Whether a refund puts an order's pieces up for sale again.
    pub refund_restocks: bool,
    /// What a reversal after the grant does.
    pub after_grant: AfterGrants,
    /// What is told to the outside, and how, by the effect's name.
    pub effects: BTreeMap<EffectName, EffectRule>,
    /// The accounts whose payments can be looked up.
    pub lookups: BTreeMap<Account, LookupRule>,
    /// Grant only on an answer of the provider that is not older than this; `None` to grant on what is known.
    pub grant_check_ms: Option<i64>,
    /// How often a grant that the merchant's own statements refuse is tried.
    pub grant_retries: Retries,
    /// A payment that named something of ours and finds no order for so long becomes a case.
    pub unbound_after_ms: Option<i64>,
    /// An event's bytes are dropped so long after it came; `None` to keep them for ever. Its row stays either way.
    pub body_retention_ms: Option<i64>,
}

impl Policy {
    /// A source's choices.
    #[must_use]
    pub fn source(&self, name: &SourceName) -> SourcePolicy {
        self.sources.get(name).cloned().unwrap_or_default()
    }

    /// The effects that something could carry out.
    #[must_use]
    pub fn configured(&self) -> Vec<EffectName> {
        let ready = self.effects.iter().filter(|(_, rule)| !rule.unconfigured);
        ready.map(|(effect, _)| effect.clone()).collect()
    }

    /// How many minor units too little or too much at an account still count as exact.
    #[must_use]
    pub fn tolerance(&self, account: &Account) -> i128 {
        self.tolerance_minor.get(account).copied().unwrap_or(0)
    }
}
