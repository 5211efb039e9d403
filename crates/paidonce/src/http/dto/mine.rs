//! What a buyer sees of their order: how far it is, and what they have. Nothing that is the merchant's or a provider's.

use paidonce_engine::OrderView;
use paidonce_ledger::{OrderState, Word};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::order::LineBody;
use crate::clock::rfc3339;

/// How far an order is, for its buyer. There is no word for failure: that no notification has come says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum BuyerStatus {
    /// No payment is known yet that would do.
    Confirming,
    /// It is paid, and about to be delivered.
    Paid,
    /// Everything is delivered.
    Delivered,
    /// Money came, and a person looks at it.
    Held,
    /// All that came went back.
    Refunded,
    /// It was called off, or its time is over, and no money is here.
    Closed,
}

impl BuyerStatus {
    /// How far an order is.
    #[must_use]
    pub fn of(view: &OrderView) -> Self {
        let (order, standing) = (&view.order, &view.standing);
        let active = view.entitlements.iter().filter(|(_, row)| row.revoked_at.is_none()).count();
        let came =
            standing.captured_minor > 0 || standing.payments.iter().any(|(_, p)| !p.foreign.is_empty());
        let back = standing.captured_minor > 0 && standing.reversed_minor >= standing.captured_minor;
        match () {
            () if active == order.units().len() => Self::Delivered,
            () if standing.eligible => Self::Paid,
            () if back && matches!(standing.word, Word::Refunded | Word::Closed) => Self::Refunded,
            () if came => Self::Held,
            () if order.state == OrderState::Open => Self::Confirming,
            () => Self::Closed,
        }
    }

    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Confirming => "confirming",
            Self::Paid => "paid",
            Self::Delivered => "delivered",
            Self::Held => "held",
            Self::Refunded => "refunded",
            Self::Closed => "closed",
        }
    }

    /// What it means, in a sentence for the buyer.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Confirming => {
                "We are waiting for your payment to be confirmed. That can take a moment, and with some ways of \
                 paying a few days. If you have paid, there is nothing more to do."
            }
            Self::Paid => "Your payment has arrived. Your order is being delivered.",
            Self::Delivered => "Your payment has arrived, and your order is delivered.",
            Self::Held => "Money has arrived for your order, and somebody is looking at it. Nothing is lost.",
            Self::Refunded => "Your money was sent back.",
            Self::Closed => {
                "This order is closed. If you have paid all the same, the payment will be seen and looked at."
            }
        }
    }
}

/// Something that a buyer was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MyEntitlement {
    /// `order`, or `line:N`.
    pub unit: String,
    /// What it is.
    pub lines: Vec<LineBody>,
    /// When it was given.
    pub granted_at: String,
    /// Whether it stands.
    pub active: bool,
}

/// A buyer's order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MyOrder {
    /// Its id.
    pub id: String,
    /// How far it is.
    pub status: BuyerStatus,
    /// `open`, `cancelled` or `expired`.
    pub state: String,
    /// What was given.
    pub entitlements: Vec<MyEntitlement>,
}

impl MyOrder {
    /// Writes a buyer's order.
    #[must_use]
    pub fn of(view: &OrderView) -> Self {
        let entitlements = view.entitlements.iter().map(|(unit, row)| MyEntitlement {
            unit: unit.to_string(),
            lines: row.lines.iter().map(LineBody::of).collect(),
            granted_at: rfc3339(row.granted_at),
            active: row.revoked_at.is_none(),
        });
        Self {
            id: view.id.to_string(),
            status: BuyerStatus::of(view),
            state: view.order.state.as_str().to_owned(),
            entitlements: entitlements.collect(),
        }
    }
}
