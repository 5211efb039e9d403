//! Facts: what an event or a lookup asserts about a payment. Rows with keys of their own and a join.
//!
//! The join is componentwise maximum, so it is commutative, associative and idempotent: any order and any
//! repetition of the same facts gives the same rows (P5). Timestamps take no part.

use std::collections::BTreeMap;

use crate::id::{EventId, FactId};
use crate::money::{Money, MoneyUnit};

/// How far a capture has come. The order is the rank: a later one wins in the join.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CaptureState {
    /// Announced, not settled: never counts as money.
    Pending,
    /// The money is the merchant's.
    Settled,
    /// The capture itself was undone (a bank return), without a refund.
    Reversed,
}

/// How far a refund has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RefundState {
    /// On its way: already counts as money that will leave.
    Pending,
    /// Done.
    Succeeded,
    /// The bank refused it: the money stayed. Wins over `Succeeded` because it can only come after.
    Failed,
}

/// How far one stage of a dispute has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DisputeState {
    /// An inquiry: no money moved.
    Warning,
    /// The money is held.
    Open,
    /// Over, without the provider saying how.
    Closed,
    /// Decided for the merchant.
    Won,
    /// Decided for the buyer.
    Lost,
    /// Both won and lost were reported for one stage: somebody has to look.
    WonAndLost,
}

/// How a payment came to its end without (further) money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Ending {
    /// It will never succeed.
    Failed,
    /// Cancelled; after a partial capture this ends the remainder only.
    Cancelled,
    /// It ran out of time.
    Expired,
}

/// The identity of a fact within its payment. The unit of money is part of it; `None` is a fact whose
/// amount or unit the provider did not say, which never counts and owes a lookup.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum FactKey {
    /// The payment was started and may still succeed.
    Pending(Option<MoneyUnit>),
    /// Money was reserved at the buyer's bank, not taken.
    Authorized(Option<MoneyUnit>),
    /// Money was taken.
    Captured {
        /// One namespace per contract: a charge and its intent must never be two captures.
        id: FactId,
        /// What the amount counts.
        unit: Option<MoneyUnit>,
    },
    /// One try failed. History only: a later success of the same payment applies.
    AttemptFailed(EventId),
    /// The payment is over.
    Ended(Ending),
    /// Money went back.
    Refunded {
        /// The refund's own id.
        id: FactId,
        /// What the amount counts.
        unit: Option<MoneyUnit>,
    },
    /// The buyer's bank disputes it.
    Disputed {
        /// The dispute's own id.
        id: FactId,
        /// 1 for the first chargeback, 2 for a second one after a win. The latest stage decides.
        stage: u8,
        /// What the amount counts.
        unit: Option<MoneyUnit>,
    },
    /// A cumulative figure some providers report: a hint, never money.
    TotalCaptured(Option<MoneyUnit>),
    /// A cumulative figure some providers report: a hint, which counts only against the merchant.
    TotalRefunded(Option<MoneyUnit>),
    /// Something happened, and what it was has to be asked: the event itself proves nothing, or a look is wanted
    /// right before the grant.
    Announced,
}

impl FactKey {
    /// The stable word for the kind of fact.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Pending(_) => "pending",
            Self::Authorized(_) => "authorized",
            Self::Captured { .. } => "captured",
            Self::AttemptFailed(_) => "attempt_failed",
            Self::Ended(Ending::Failed) => "ended_failed",
            Self::Ended(Ending::Cancelled) => "ended_cancelled",
            Self::Ended(Ending::Expired) => "ended_expired",
            Self::Refunded { .. } => "refunded",
            Self::Disputed { .. } => "disputed",
            Self::TotalCaptured(_) => "total_captured",
            Self::TotalRefunded(_) => "total_refunded",
            Self::Announced => "announced",
        }
    }

    /// Whether a complete listing answers for it: totals, endings, and money without a unit. (What has an id of its
    /// own is joined with what the listing says of that id.)
    #[must_use]
    pub fn answered_by_listing(&self) -> bool {
        match self {
            Self::TotalCaptured(_) | Self::TotalRefunded(_) | Self::Ended(_) | Self::Announced => true,
            Self::Captured { unit, .. } | Self::Refunded { unit, .. } => unit.is_none(),
            Self::Pending(_) | Self::Authorized(_) | Self::AttemptFailed(_) | Self::Disputed { .. } => false,
        }
    }

    /// The unit of money in the key; `None` where there is none or it was not said.
    #[must_use]
    pub fn unit(&self) -> Option<&MoneyUnit> {
        match self {
            Self::Pending(unit)
            | Self::Authorized(unit)
            | Self::Captured { unit, .. }
            | Self::Refunded { unit, .. }
            | Self::Disputed { unit, .. }
            | Self::TotalCaptured(unit)
            | Self::TotalRefunded(unit) => unit.as_ref(),
            Self::AttemptFailed(_) | Self::Ended(_) | Self::Announced => None,
        }
    }
}

/// What is joined under a [`FactKey`]: two maxima.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FactValue {
    /// The rank of the kind's state; 0 for kinds that have none.
    pub rank: u8,
    /// Minor units of the key's unit; `None` if it was not said.
    #[cfg_attr(feature = "serde", serde(with = "optional_decimal"))]
    pub amount_minor: Option<i128>,
    /// The number of the last lookup that had been asked when this was said. A later listing, which was asked
    /// after it, answers for what was unsure about it.
    #[cfg_attr(feature = "serde", serde(default))]
    pub asked: u32,
}

impl FactValue {
    /// The least value that is at least both. Won and lost in one dispute stage join to their contradiction,
    /// which [`Fact::join_into`] decides because only it knows the kind.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self {
            rank: self.rank.max(other.rank),
            amount_minor: self.amount_minor.max(other.amount_minor),
            asked: self.asked.max(other.asked),
        }
    }
}

/// One assertion about a payment.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Fact {
    /// Its identity within the payment.
    pub key: FactKey,
    /// What it says.
    pub value: FactValue,
}

fn split(money: Option<Money>) -> (Option<MoneyUnit>, Option<i128>) {
    money.map_or((None, None), |money| (Some(money.unit().clone()), Some(money.amount_minor())))
}

impl Fact {
    fn new(key: FactKey, rank: u8, amount_minor: Option<i128>) -> Self {
        Self { key, value: FactValue { rank, amount_minor, asked: 0 } }
    }

    /// The payment may still succeed.
    #[must_use]
    pub fn pending(money: Option<Money>) -> Self {
        let (unit, amount) = split(money);
        Self::new(FactKey::Pending(unit), 0, amount)
    }

    /// The payment is to be looked up.
    #[must_use]
    pub fn announced() -> Self {
        Self::new(FactKey::Announced, 0, None)
    }

    /// Money was reserved.
    #[must_use]
    pub fn authorized(money: Option<Money>) -> Self {
        let (unit, amount) = split(money);
        Self::new(FactKey::Authorized(unit), 0, amount)
    }

    /// Money was taken, or is being taken, or was taken and returned.
    #[must_use]
    pub fn captured(id: FactId, state: CaptureState, money: Option<Money>) -> Self {
        let (unit, amount) = split(money);
        Self::new(FactKey::Captured { id, unit }, state as u8, amount)
    }

    /// One try failed, as told by this event.
    #[must_use]
    pub fn attempt_failed(event: EventId) -> Self {
        Self::new(FactKey::AttemptFailed(event), 0, None)
    }

    /// The payment is over.
    #[must_use]
    pub fn ended(ending: Ending) -> Self {
        Self::new(FactKey::Ended(ending), 0, None)
    }

    /// Money went back, or is going, or was to go and did not.
    #[must_use]
    pub fn refunded(id: FactId, state: RefundState, money: Option<Money>) -> Self {
        let (unit, amount) = split(money);
        Self::new(FactKey::Refunded { id, unit }, state as u8, amount)
    }

    /// A stage of a dispute.
    #[must_use]
    pub fn disputed(id: FactId, stage: u8, state: DisputeState, money: Option<Money>) -> Self {
        let (unit, amount) = split(money);
        Self::new(FactKey::Disputed { id, stage, unit }, state as u8, amount)
    }

    /// A cumulative captured figure.
    #[must_use]
    pub fn total_captured(money: Option<Money>) -> Self {
        let (unit, amount) = split(money);
        Self::new(FactKey::TotalCaptured(unit), 0, amount)
    }

    /// A cumulative refunded figure.
    #[must_use]
    pub fn total_refunded(money: Option<Money>) -> Self {
        let (unit, amount) = split(money);
        Self::new(FactKey::TotalRefunded(unit), 0, amount)
    }

    /// The same fact, said when lookup `asked` was the last one asked.
    #[must_use]
    pub fn asked(mut self, asked: u32) -> Self {
        self.value.asked = asked;
        self
    }

    /// What stands under this fact's key once `standing` (what stood there before) has been joined with it.
    #[must_use]
    pub fn join_into(&self, standing: Option<FactValue>) -> FactValue {
        let Some(standing) = standing else { return self.value };
        let mut joined = standing.join(self.value);
        let ranks = [standing.rank, self.value.rank];
        let (won, lost) = (DisputeState::Won as u8, DisputeState::Lost as u8);
        if matches!(self.key, FactKey::Disputed { .. }) && ranks.contains(&won) && ranks.contains(&lost) {
            joined.rank = DisputeState::WonAndLost as u8;
        }
        joined
    }
}

impl CaptureState {
    /// The state of a rank that this type wrote.
    #[must_use]
    pub fn of_rank(rank: u8) -> Self {
        match rank {
            0 => Self::Pending,
            1 => Self::Settled,
            _ => Self::Reversed,
        }
    }
}

impl RefundState {
    /// The state of a rank that this type wrote.
    #[must_use]
    pub fn of_rank(rank: u8) -> Self {
        match rank {
            0 => Self::Pending,
            1 => Self::Succeeded,
            _ => Self::Failed,
        }
    }
}

impl DisputeState {
    /// The state of a rank that this type wrote.
    #[must_use]
    pub fn of_rank(rank: u8) -> Self {
        match rank {
            0 => Self::Warning,
            1 => Self::Open,
            2 => Self::Closed,
            3 => Self::Won,
            4 => Self::Lost,
            _ => Self::WonAndLost,
        }
    }
}

/// All facts of one payment.
pub type Facts = BTreeMap<FactKey, FactValue>;

#[cfg(feature = "serde")]
mod optional_decimal {
    use serde::{Deserialize, Deserializer, Serializer};

    #[allow(clippy::ref_option)] // The signature is serde's.
    pub(super) fn serialize<S: Serializer>(amount: &Option<i128>, to: S) -> Result<S::Ok, S::Error> {
        match amount {
            Some(amount) => to.collect_str(amount),
            None => to.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i128>, D::Error> {
        Option::<String>::deserialize(from)?
            .map(|text| text.parse().map_err(serde::de::Error::custom))
            .transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value() -> impl Strategy<Value = FactValue> {
        (0_u8..6, prop::option::of(0_i128..50)).prop_map(|(rank, amount_minor)| FactValue {
            rank,
            amount_minor,
            asked: 0,
        })
    }

    fn join_all(key: &FactKey, values: &[FactValue]) -> Option<FactValue> {
        values
            .iter()
            .fold(None, |standing, value| Some(Fact { key: key.clone(), value: *value }.join_into(standing)))
    }

    proptest! {
        #[test]
        fn p5_joins_ignore_order_and_repetition(values in prop::collection::vec(value(), 1..6), turn in 0_usize..6) {
            let dispute = FactKey::Disputed { id: FactId::new("dp").unwrap(), stage: 1, unit: None };
            for key in [dispute, FactKey::Pending(None)] {
                let once = join_all(&key, &values);
                let mut shuffled = values.clone();
                shuffled.rotate_left(turn % values.len());
                shuffled.reverse();
                shuffled.extend(values.iter().copied());
                prop_assert_eq!(once, join_all(&key, &shuffled));
            }
        }
    }
}
