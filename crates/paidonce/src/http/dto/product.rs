//! The catalogue as it is set and shown: what a piece costs, and how many there are.

use std::collections::BTreeMap;

use paidonce_ledger::{MoneyUnit, Product, SetProduct, Sku, Stamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::amount::Amount;
use super::mistake::Mistakes;
use super::order::money;
use crate::clock::rfc3339;

/// The most pieces of one product: a stock has a last one.
const STOCK_MAX: u64 = 1_000_000_000_000;

/// There are as many as are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Unlimited {
    /// The word for it.
    Unlimited,
}

/// How many pieces there are: a number, or `unlimited`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum StockWord {
    /// So many, those included that are reserved or sold.
    Pieces(u64),
    /// As many as are wanted.
    Word(Unlimited),
}

impl StockWord {
    fn of(stock: Option<u64>) -> Self {
        stock.map_or(Self::Word(Unlimited::Unlimited), Self::Pieces)
    }

    /// Reads a number, or `unlimited`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "unlimited" => Some(Self::of(None)),
            number => number.parse().ok().map(Self::Pieces),
        }
    }

    /// For people.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::Pieces(pieces) => pieces.to_string(),
            Self::Word(Unlimited::Unlimited) => "unlimited".to_owned(),
        }
    }
}

/// A product to set. What orders hold of it stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProductRequest {
    /// What is sold.
    #[schema(example = "ticket")]
    pub sku: String,
    /// What one piece costs, once in each unit of money.
    pub prices: Vec<Amount>,
    /// How many pieces are put up for sale in all, those included that are reserved or sold; or `unlimited`.
    pub stock: StockWord,
}

impl ProductRequest {
    /// The command.
    ///
    /// # Errors
    /// All mistakes.
    pub fn to_command(&self, stamp: Stamp) -> Result<SetProduct, Mistakes> {
        let mut mistakes = Mistakes::default();
        let sku = mistakes.noting("sku", Sku::new(&self.sku));
        let mut prices: BTreeMap<MoneyUnit, _> = BTreeMap::new();
        for (index, price) in self.prices.iter().enumerate() {
            let path = format!("prices[{index}]");
            let Some(price) = money(price, &path, &mut mistakes) else { continue };
            if prices.insert(price.unit().clone(), price).is_some() {
                mistakes.add(path, "there is a price in this unit of money already");
            }
        }
        if self.prices.is_empty() {
            mistakes.add("prices", "a product has at least one price");
        }
        let stock = match self.stock {
            StockWord::Pieces(pieces) => Some(pieces),
            StockWord::Word(Unlimited::Unlimited) => None,
        };
        if stock.is_some_and(|stock| stock > STOCK_MAX) {
            mistakes.add("stock", format_args!("at most {STOCK_MAX}; or \"unlimited\""));
        }
        let Some(sku) = sku.filter(|_| mistakes.is_empty()) else { return Err(mistakes) };
        Ok(SetProduct { stamp, sku, prices: prices.into_values().collect(), stock })
    }
}

/// A product with its figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProductShown {
    /// What is sold.
    pub sku: String,
    /// What one piece costs.
    pub prices: Vec<Amount>,
    /// How many pieces were ever put up for sale, or `unlimited`.
    pub stock: StockWord,
    /// How many of them nobody holds, or `unlimited`.
    pub free: StockWord,
    /// How many are held for orders that are not paid.
    pub reserved: u64,
    /// How many belong to paid orders.
    pub sold: u64,
    /// When it was last set.
    pub set_at: String,
}

impl ProductShown {
    /// Writes a product.
    #[must_use]
    pub fn of(sku: &Sku, row: &Product) -> Self {
        Self {
            sku: sku.to_string(),
            prices: row.prices.iter().map(Amount::of).collect(),
            stock: StockWord::of(row.stock),
            free: StockWord::of(row.free()),
            reserved: row.reserved,
            sold: row.sold,
            set_at: rfc3339(row.set_at),
        }
    }
}

/// How many there are of a product.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StockShown {
    /// Of what.
    pub sku: String,
    /// How many pieces were ever put up for sale, or `unlimited`.
    pub stock: StockWord,
    /// How many of them nobody holds, or `unlimited`.
    pub free: StockWord,
    /// How many are held for orders that are not paid.
    pub reserved: u64,
    /// How many belong to paid orders.
    pub sold: u64,
}

impl StockShown {
    /// Writes a product's figures.
    #[must_use]
    pub fn of(sku: &Sku, row: &Product) -> Self {
        let ProductShown { sku, stock, free, reserved, sold, .. } = ProductShown::of(sku, row);
        Self { sku, stock, free, reserved, sold }
    }
}
