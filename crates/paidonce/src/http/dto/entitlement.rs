//! Entitlements as they are shown, and the answer to "may this customer have this?".

use paidonce_ledger::{Entitlement, OrderId, Unit};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::order::LineBody;
use crate::clock::rfc3339;

/// The grant of one unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EntitlementShown {
    /// Of which order.
    pub order: String,
    /// `order`, or `line:N`.
    pub unit: String,
    /// Who may have it.
    pub customer: Option<String>,
    /// What they may have.
    pub lines: Vec<LineBody>,
    /// When it was granted.
    pub granted_at: String,
    /// When it was taken back.
    pub revoked_at: Option<String>,
    /// The person who took it back; null if the policy did, which gives it back when the standing is restored.
    pub revoked_by: Option<String>,
    /// The person who gave it back: the policy does not take it again.
    pub kept_by: Option<String>,
    /// Whether it stands.
    pub active: bool,
    /// The order's revision at its last change.
    pub order_revision: u64,
}

impl EntitlementShown {
    /// Writes an entitlement.
    #[must_use]
    pub fn of(order: &OrderId, unit: Unit, row: &Entitlement) -> Self {
        Self {
            order: order.to_string(),
            unit: unit.to_string(),
            customer: row.customer.as_ref().map(ToString::to_string),
            lines: row.lines.iter().map(LineBody::of).collect(),
            granted_at: rfc3339(row.granted_at),
            revoked_at: row.revoked_at.map(rfc3339),
            revoked_by: row.revoked_by.as_ref().map(ToString::to_string),
            kept_by: row.kept_by.as_ref().map(ToString::to_string),
            active: row.revoked_at.is_none(),
            order_revision: row.order_revision,
        }
    }
}

/// An entitlement that a person took back, or gave back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EntitlementSet {
    /// Of which order.
    pub order: String,
    /// `order`, or `line:N`.
    pub unit: String,
    /// Whether it stands.
    pub active: bool,
}

/// Whether a customer may have something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EntitledAnswer {
    /// Yes or no.
    pub entitled: bool,
    /// Who was asked about.
    pub customer: String,
    /// What was asked for.
    pub sku: String,
    /// The entitlements that say so, newest first; at most 20 of them.
    pub entitlements: Vec<EntitlementShown>,
}
