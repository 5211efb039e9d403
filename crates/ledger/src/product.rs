//! What the merchant sells at the server's price, and how many pieces there are of it.

use std::collections::BTreeMap;

use crate::id::Sku;
use crate::money::{Money, MoneyUnit};
use crate::time::Timestamp;

/// One thing of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Product {
    /// What one piece costs, by unit of money, once in each.
    pub prices: Vec<Money>,
    /// How many pieces were ever put up for sale; `None` if there are as many as are wanted.
    pub stock: Option<u64>,
    /// Pieces that are held for orders which are not paid.
    pub reserved: u64,
    /// Pieces of paid orders.
    pub sold: u64,
    /// When it was last set.
    pub set_at: Timestamp,
}

impl Product {
    /// Pieces that nobody holds; `None` if there are as many as are wanted. P13
    #[must_use]
    pub fn free(&self) -> Option<u64> {
        self.stock.map(|stock| stock.saturating_sub(self.reserved).saturating_sub(self.sold))
    }

    /// What one piece costs in this unit of money.
    #[must_use]
    pub fn price(&self, unit: &MoneyUnit) -> Option<&Money> {
        self.prices.iter().find(|price| price.unit() == unit)
    }
}

/// What has become of the pieces that an order took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum StockState {
    /// They are held until it is paid or closed.
    Reserved,
    /// They are its own.
    Sold,
    /// They are anybody's again.
    Released,
}

impl StockState {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reserved => "reserved",
            Self::Sold => "sold",
            Self::Released => "released",
        }
    }

    /// Reads what [`StockState::as_str`] writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Reserved, Self::Sold, Self::Released].into_iter().find(|state| state.as_str() == text)
    }
}

/// The pieces that an order took of what is limited. Their state is in the order's row and moves with the products'
/// figures in one commit, so that each effect on the stock happens once for each order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct OrderStock {
    /// How many of each. Fixed when the order was placed.
    pub pieces: BTreeMap<Sku, u64>,
    /// What has become of them.
    pub state: StockState,
}
