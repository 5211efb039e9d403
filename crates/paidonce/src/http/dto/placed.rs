//! The short answers about orders: placed, registered, closed or opened, and one line of a list.

use paidonce_ledger::{Order, OrderId, Standing};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::amount::{Amount, decimal};
use super::order::{FulfilWord, LineBody, ReferenceRequest};
use crate::clock::rfc3339;

/// An order that stands, now or since its first request. It says nothing of what has happened since, so that a
/// retry is answered byte for byte alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OrderPlaced {
    /// Its id.
    pub id: String,
    /// Put this into the payment's metadata: it leads the payment's events back to this order.
    pub hint: String,
    /// The buyer's token for `/v1/me/orders/{id}` and `/status/{token}`. Shown to whoever placed the order, under the
    /// same Idempotency-Key only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Who gets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub customer: Option<String>,
    /// What is sold.
    pub lines: Vec<LineBody>,
    /// What must be paid.
    pub total: Amount,
    /// How it is cut into units.
    pub fulfil: FulfilWord,
    /// What was registered with it.
    pub references: Vec<ReferenceRequest>,
}

/// A registered reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Registered {
    /// For which order.
    pub order: String,
    /// What.
    pub reference: ReferenceRequest,
}

/// An order that was closed or opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OrderSet {
    /// Which order.
    pub order: String,
    /// `cancelled` or `open`.
    pub state: String,
}

/// An order in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OrderSummary {
    /// Its id.
    pub id: String,
    /// Who gets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub customer: Option<String>,
    /// Where it stands, in one word.
    pub standing: String,
    /// What must be paid.
    pub total: Amount,
    /// What counts towards it now, as decimal text.
    pub covering: String,
    /// `open`, `cancelled` or `expired`.
    pub state: String,
    /// Rises with every change.
    pub revision: u64,
    /// When it was placed.
    pub placed_at: String,
}

impl OrderSummary {
    /// Writes an order in a list.
    #[must_use]
    pub fn of(id: &OrderId, order: &Order, standing: &Standing) -> Self {
        Self {
            id: id.to_string(),
            customer: order.customer.as_ref().map(ToString::to_string),
            standing: standing.word.as_str().to_owned(),
            total: Amount::of(&order.total),
            covering: decimal(standing.covering_minor, order.total.unit()),
            state: order.state.as_str().to_owned(),
            revision: order.revision,
            placed_at: rfc3339(order.placed_at),
        }
    }
}
