//! Orders and their units: what the merchant expects, and what is fulfilled independently.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::digest::Digest;
use crate::id::{Customer, Hint, PaymentKey, ReferenceKey, SecretId, Sku};
use crate::money::Money;
use crate::product::OrderStock;
use crate::time::Timestamp;

/// The most lines one order may have.
pub const LINES_MAX: usize = 500;

/// One position of an order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Line {
    /// What is sold.
    pub sku: Sku,
    /// How many of it, at least 1.
    pub quantity: u32,
}

/// How an order is cut into units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Fulfil {
    /// The whole order is one unit.
    Order,
    /// Each line is a unit.
    Line,
}

/// What is fulfilled independently: at most one entitlement, ever (P3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub enum Unit {
    /// The whole order.
    Order,
    /// One line, counted from 1.
    Line(u16),
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order => f.write_str("order"),
            Self::Line(n) => write!(f, "line:{n}"),
        }
    }
}

impl Unit {
    /// Reads what `Display` writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text.strip_prefix("line:") {
            Some(n) => n.parse().ok().filter(|n| *n > 0).map(Self::Line),
            None => (text == "order").then_some(Self::Order),
        }
    }
}

impl TryFrom<String> for Unit {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("{text:?} is no unit: write order or line:N"))
    }
}

impl From<Unit> for String {
    fn from(unit: Unit) -> Self {
        unit.to_string()
    }
}

/// Whether the order can still take money. What the money amounts to is its standing, and derived.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum OrderState {
    /// Waiting for money, or served.
    Open,
    /// The merchant called it off.
    Cancelled,
    /// Its time ran out.
    Expired,
}

impl OrderState {
    /// The stable word.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
        }
    }

    /// Reads what [`OrderState::as_str`] writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Open, Self::Cancelled, Self::Expired].into_iter().find(|state| state.as_str() == text)
    }
}

/// What is kept of the token with which the buyer may look at the order: enough to know it again, not to tell it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OrderToken {
    /// The server's secret that it was derived with. It is valid while the server has that secret.
    pub secret: SecretId,
    /// Its MAC under that secret.
    pub mac: Digest,
}

/// What the merchant expects.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Order {
    /// Who gets it, if the merchant said.
    pub customer: Option<Customer>,
    /// What is sold, in the merchant's order; line N of [`Unit::Line`] is `lines[N - 1]`.
    pub lines: Vec<Line>,
    /// What must be paid, all in, in the unit that is charged.
    pub total: Money,
    /// How it is cut into units.
    pub fulfil: Fulfil,
    /// The unguessable text for the provider's metadata that leads back to this order.
    pub hint: Hint,
    /// Whether it can still take money.
    pub state: OrderState,
    /// What covered it when it was closed, in minor units: only more than that is late money.
    pub closed_covering_minor: i128,
    /// When it was placed.
    pub placed_at: Timestamp,
    /// When an unpaid order may be closed, if ever.
    pub expires_at: Option<Timestamp>,
    /// Digest of the request that placed it: the same id with another one is a conflict.
    pub request: Digest,
    /// What is kept of the buyer's token, if one was issued.
    pub token: Option<OrderToken>,
    /// The pieces that it took of what is limited, if any.
    pub stock: Option<OrderStock>,
    /// Rises with every command that changes the order or anything that hangs on it.
    pub revision: u64,
    /// Payments bound to it. Each serves this order for ever.
    pub payments: BTreeSet<PaymentKey>,
    /// References registered for it. All ever issued stay.
    pub references: BTreeSet<ReferenceKey>,
    /// Trace context of the request that placed it.
    pub trace: Option<Arc<str>>,
}

impl Order {
    /// The units it is cut into: one, or one per line.
    #[must_use]
    pub fn units(&self) -> Vec<Unit> {
        match self.fulfil {
            Fulfil::Order => vec![Unit::Order],
            Fulfil::Line => (1..).take(self.lines.len()).map(Unit::Line).collect(),
        }
    }

    /// The lines that a unit covers.
    #[must_use]
    pub fn lines_of(&self, unit: Unit) -> Vec<Line> {
        match unit {
            Unit::Order => self.lines.clone(),
            Unit::Line(n) => self.lines.get(usize::from(n).wrapping_sub(1)).cloned().into_iter().collect(),
        }
    }
}
