//! The scenarios' lines about the catalogue and its stock.

use paidonce_ledger::testing::id;
use paidonce_ledger::{Command, Line, Money, Product, SetProduct, Sku};

use super::scenario::Player;
use crate::Page;

impl Player {
    pub(super) fn product(&mut self, sku: &str, price: &Money, stock: &str) -> Vec<String> {
        let stock = (stock != "unlimited").then(|| stock.parse().expect("pieces"));
        let (stamp, prices) = (self.stamp(), vec![price.clone()]);
        self.commit(&[Command::SetProduct(SetProduct { stamp, sku: id(sku), prices, stock })])
    }

    pub(super) fn stock(&self) -> Vec<String> {
        let products = self.store.products(&Page::first(100)).expect("readable").rows;
        let line = |(sku, row): &(Sku, Product)| match row.free() {
            Some(free) => {
                let stock = row.stock.unwrap_or_default();
                format!("{sku}: {} reserved, {} sold, {free} free of {stock}", row.reserved, row.sold)
            }
            None => format!("{sku}: {} reserved, {} sold, as many as are wanted", row.reserved, row.sold),
        };
        let mut lines: Vec<_> = products.iter().map(line).collect();
        lines.sort();
        lines
    }
}

/// `SKU` or `SKU*QUANTITY`.
pub(super) fn a_line(text: &str) -> Line {
    let (sku, quantity) = text.split_once('*').unwrap_or((text, "1"));
    Line { sku: id(sku), quantity: quantity.parse().expect("a quantity") }
}
