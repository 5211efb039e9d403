//! The rows of the catalogue.

use paidonce_ledger::{Product, Sku};

use super::Kind::{Int, Text};
use super::shape::in_tables;
use super::{Column, Reader, Shape, Stored, corrupt, count, json, maybe, text, time};
use crate::Result;

impl Stored for Product {
    type Key = Sku;
    const SHAPE: Shape = Shape {
        table: "product",
        columns: &[
            ("sku", Text),
            ("prices", Text),
            ("stock", Int),
            ("reserved", Int),
            ("sold", Int),
            ("set_at", Int),
        ],
        keys: 1,
        fixed: &[],
    };

    in_tables!(products);

    fn write<'a>(key: &'a Sku, row: &'a Self) -> Result<Vec<Column<'a>>> {
        Ok(vec![
            text(key.as_str()),
            json(&row.prices)?,
            maybe(row.stock, count),
            count(row.reserved),
            count(row.sold),
            time(row.set_at),
        ])
    }

    fn read(from: &mut Reader<'_>) -> Result<(Sku, Self)> {
        let (sku, prices) = (from.id()?, from.json()?);
        let stock = from.maybe_int()?.map(u64::try_from).transpose();
        let stock = stock.map_err(|_| corrupt("a number out of range"))?;
        Ok((
            sku,
            Self { prices, stock, reserved: from.number()?, sold: from.number()?, set_at: from.time()? },
        ))
    }
}
