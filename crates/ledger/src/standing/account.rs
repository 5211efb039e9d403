//! One payment's account in the order's unit of money: captured, reversed, and what it owes a lookup for.

use std::collections::{BTreeMap, BTreeSet};

use crate::fact::{CaptureState, DisputeState, Ending, FactKey, FactValue, Facts, RefundState};
use crate::id::FactId;
use crate::money::MoneyUnit;

/// Why a payment is unsure. It is not granted on until a lookup or later facts settle it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owed {
    /// A settled capture did not say its amount or unit: unverifiable is not a pass.
    NoTotal,
    /// A refund did not say its amount or unit.
    RefundWithoutAmount,
    /// The provider reports more refunded than the refunds that are known by id.
    RefundTotal,
    /// The provider reports more captured than the captures that are known by id.
    CaptureTotal,
    /// It failed or expired, and it was captured.
    Contradiction,
    /// One dispute stage was both won and lost.
    DisputeContradiction,
    /// Something was announced that has to be asked.
    Announced,
}

impl Owed {
    /// Why, in a sentence.
    #[must_use]
    pub fn why(self) -> &'static str {
        match self {
            Self::NoTotal => "a capture without an amount does not count",
            Self::RefundWithoutAmount => "a refund without an amount needs a look",
            Self::RefundTotal => "more was refunded than is known refund by refund",
            Self::CaptureTotal => "more was captured than is known capture by capture",
            Self::Contradiction => "it ended without money, and it was captured",
            Self::DisputeContradiction => "a dispute was both won and lost",
            Self::Announced => "what was announced is to be looked up",
        }
    }

    /// What would settle it.
    #[must_use]
    pub fn settled_by(self) -> &'static str {
        match self {
            Self::NoTotal | Self::RefundWithoutAmount => "a lookup, or an event that says the amount",
            Self::RefundTotal => "a lookup, or the refunds' own events",
            Self::CaptureTotal => "a lookup, or the captures' own events",
            Self::Contradiction | Self::DisputeContradiction => "a lookup, or a person's decision",
            Self::Announced => "a lookup",
        }
    }
}

/// What one payment's facts add up to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PaymentAccount {
    /// Settled captures in the order's unit, those that were reversed later included.
    pub captured_minor: i128,
    /// What of it went back, at most `captured_minor`.
    pub reversed_minor: i128,
    /// What went back beyond what came: a refund that overtook its capture, or more.
    pub refund_ahead_minor: i128,
    /// A payment is under way.
    pub pending: bool,
    /// Money is reserved.
    pub authorized: bool,
    /// It ended without (further) money.
    pub ended: bool,
    /// A dispute is open.
    pub disputed: bool,
    /// A dispute is lost.
    pub charged_back: bool,
    /// A capture was taken back by the bank.
    pub returned: bool,
    /// Captures in other units: (unit, minor units). They never count.
    pub foreign: BTreeMap<MoneyUnit, i128>,
    /// Money went back in another unit. It is never ignored for not matching.
    pub foreign_reversal: bool,
    /// Failed tries, for the record.
    pub attempts_failed: usize,
    /// What it owes a lookup for.
    pub owed: BTreeSet<Owed>,
}

/// Refunds by id: each with its rank and amount.
#[derive(Default)]
struct Refunds {
    by_id: BTreeMap<FactId, FactValue>,
    total_minor: i128,
}

impl PaymentAccount {
    /// Adds up one payment's facts in `unit`.
    #[must_use]
    pub fn of(facts: &Facts, unit: &MoneyUnit) -> Self {
        let mut account = Self::default();
        let mut refunds = Refunds::default();
        let mut captured_total = 0;
        let mut returned = 0;
        let mut disputes: BTreeMap<&FactId, (u8, DisputeState)> = BTreeMap::new();
        for (key, value) in facts {
            let own = key.unit() == Some(unit);
            match key {
                FactKey::Pending(_) => account.pending = true,
                FactKey::Authorized(_) => account.authorized = true,
                FactKey::AttemptFailed(_) => account.attempts_failed += 1,
                FactKey::Ended(_) => account.ended = true,
                FactKey::Captured { .. } => returned += account.capture(key, *value, own),
                FactKey::Refunded { id, .. } => account.refund(&mut refunds, id, key, *value, own),
                FactKey::Disputed { id, stage, .. } => {
                    let state = DisputeState::of_rank(value.rank);
                    let latest = disputes.entry(id).or_insert((*stage, state));
                    *latest = (*latest).max((*stage, state));
                }
                FactKey::TotalCaptured(_) if own => captured_total = value.amount_minor.unwrap_or(0),
                FactKey::TotalRefunded(_) if own => refunds.total_minor = value.amount_minor.unwrap_or(0),
                FactKey::TotalRefunded(other) => {
                    account.foreign_reversal |= other.is_some() && value.amount_minor != Some(0);
                    if other.is_none() {
                        account.owed.insert(Owed::RefundWithoutAmount);
                    }
                }
                FactKey::TotalCaptured(_) => {}
                FactKey::Announced => {
                    account.owed.insert(Owed::Announced);
                }
            }
        }
        if captured_total > account.captured_minor {
            account.owed.insert(Owed::CaptureTotal);
        }
        account.returned = returned > 0;
        account.dispute(disputes.values().map(|(_, state)| *state));
        let refunded = refunds.effective(&mut account.owed);
        account.reverse(returned + refunded);
        account.contradict(facts);
        account
    }

    /// Whether everything that came went back.
    #[must_use]
    pub fn wholly_reversed(&self) -> bool {
        self.captured_minor > 0 && self.reversed_minor >= self.captured_minor
    }

    /// Counts one capture; answers what of it was returned by the bank.
    fn capture(&mut self, key: &FactKey, value: FactValue, own: bool) -> i128 {
        let state = CaptureState::of_rank(value.rank);
        let Some(amount) = value.amount_minor.filter(|_| key.unit().is_some()) else {
            if state != CaptureState::Pending {
                self.owed.insert(Owed::NoTotal);
            }
            self.pending |= state == CaptureState::Pending;
            return 0;
        };
        match state {
            CaptureState::Pending => self.pending = true,
            CaptureState::Settled | CaptureState::Reversed if own => self.captured_minor += amount,
            CaptureState::Settled | CaptureState::Reversed => {
                if let Some(unit) = key.unit() {
                    *self.foreign.entry(unit.clone()).or_default() += amount;
                }
            }
        }
        if state == CaptureState::Reversed && own { amount } else { 0 }
    }

    fn refund(&mut self, refunds: &mut Refunds, id: &FactId, key: &FactKey, value: FactValue, own: bool) {
        let failed = RefundState::of_rank(value.rank) == RefundState::Failed;
        if own && value.amount_minor.is_some() {
            refunds.by_id.insert(id.clone(), value);
        } else if key.unit().is_some() {
            self.foreign_reversal |= !failed && value.amount_minor != Some(0);
        } else if !failed {
            self.owed.insert(Owed::RefundWithoutAmount);
        }
    }

    fn dispute(&mut self, states: impl Iterator<Item = DisputeState>) {
        for state in states {
            match state {
                DisputeState::Open => self.disputed = true,
                DisputeState::Lost => self.charged_back = true,
                DisputeState::WonAndLost => {
                    self.disputed = true;
                    self.owed.insert(Owed::DisputeContradiction);
                }
                DisputeState::Warning | DisputeState::Closed | DisputeState::Won => {}
            }
        }
    }

    /// P13: what went back is never more than what came; the rest is shown as `refund_ahead`.
    fn reverse(&mut self, reversed: i128) {
        self.reversed_minor = reversed.min(self.captured_minor);
        self.refund_ahead_minor = reversed - self.reversed_minor;
    }

    /// A cancel after a partial capture ends the remainder only, so it contradicts nothing.
    fn contradict(&mut self, facts: &Facts) {
        let ended = [Ending::Failed, Ending::Expired].iter().any(|e| facts.contains_key(&FactKey::Ended(*e)));
        let took_money = self.captured_minor > 0 || !self.foreign.is_empty();
        if ended && (took_money || self.owed.contains(&Owed::NoTotal)) {
            self.owed.insert(Owed::Contradiction);
        }
    }

    pub(super) fn why(&self) -> Vec<String> {
        let mut why: Vec<_> = self
            .owed
            .iter()
            .map(|owed| format!("{} (settled by {})", owed.why(), owed.settled_by()))
            .collect();
        let mut say = |when: bool, sentence: &str| {
            if when {
                why.push(sentence.to_owned());
            }
        };
        say(!self.foreign.is_empty(), "money in another unit does not count");
        say(self.foreign_reversal, "money went back in another unit");
        say(self.disputed, "it is disputed");
        say(self.charged_back, "it was charged back");
        say(self.wholly_reversed(), "all of it went back");
        say(self.pending && self.captured_minor == 0 && !self.ended, "it is pending");
        say(self.ended && self.captured_minor == 0, "it ended without money");
        say(self.attempts_failed > 0, "a try failed");
        why
    }
}

impl Refunds {
    /// What counts as reversed. A total is only a hint: where it exceeds the refunds known by id, failed ones
    /// included, somebody must look, and until then the larger figure counts.
    fn effective(&self, owed: &mut BTreeSet<Owed>) -> i128 {
        let amount = |value: &FactValue| value.amount_minor.unwrap_or(0);
        let known: i128 = self.by_id.values().map(amount).sum();
        let standing = |value: &&FactValue| RefundState::of_rank(value.rank) != RefundState::Failed;
        let not_failed: i128 = self.by_id.values().filter(standing).map(amount).sum();
        if self.total_minor > known {
            owed.insert(Owed::RefundTotal);
            return not_failed.max(self.total_minor);
        }
        not_failed
    }
}
