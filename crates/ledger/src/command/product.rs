//! The command that sets the catalogue.

use super::Stamp;
use crate::id::Sku;
use crate::money::Money;

/// Set what a product costs and how many there are. What orders hold of it stays.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SetProduct {
    /// Who, under which id.
    pub stamp: Stamp,
    /// Which product.
    pub sku: Sku,
    /// What one piece costs, once in each unit of money, by unit.
    pub prices: Vec<Money>,
    /// How many pieces are put up for sale in all, those included that are reserved or sold; `None` if there are as
    /// many as are wanted.
    pub stock: Option<u64>,
}
