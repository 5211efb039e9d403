//! `paidonce products`: the catalogue, from a file, and what is left of it.

use std::path::PathBuf;

use clap::Subcommand;
use serde::{Deserialize, Serialize};

use super::argument::amount;
use super::context::Context;
use super::events::PageArgs;
use super::orders::money;
use crate::http::dto::{ProductRequest, StockWord};
use crate::output::{Exit, Failure, Table};

/// What to do with the catalogue.
#[derive(Debug, Subcommand)]
pub(super) enum ProductsCommand {
    /// Set products from a CSV file with the columns sku, price and stock. The same file again changes nothing.
    ///
    /// A price is "19.90 EUR", several are parted by ; for several units of money. The stock is how many pieces are put
    /// up for sale in all, those included that are reserved or sold, or "unlimited". Nothing is set if a line is wrong.
    Import {
        /// The file.
        file: PathBuf,
    },
    /// List the catalogue with what is free, reserved and sold, what was set last first.
    List {
        #[command(flatten)]
        page: PageArgs,
    },
}

/// One line of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    sku: String,
    price: String,
    stock: String,
}

/// What an import came to.
#[derive(Debug, Serialize)]
struct Set {
    products: usize,
}

pub(super) fn run(command: &ProductsCommand, context: &Context) -> Result<Exit, Failure> {
    let (output, transport) = (context.output, context.transport()?);
    match command {
        ProductsCommand::Import { file } => {
            let text = std::fs::read_to_string(file).map_err(|error| {
                Failure::usage(format!("{} cannot be read: {error}", file.display()), "name a CSV file")
            })?;
            let products = products(&text).map_err(|what| Failure::usage(what, "correct the file"))?;
            for product in &products {
                transport.set_product(product)?;
            }
            let set = Set { products: products.len() };
            output.show(&set, |set| format!("{} product(s) are set.", set.products));
        }
        ProductsCommand::List { page } => {
            let listing = transport.products(&page.page())?;
            output.show(&listing, |listing| {
                let header = ["sku", "price", "free", "reserved", "sold", "stock"];
                let mut table =
                    Table::new(&header, "No products. Set some: paidonce products import FILE.csv");
                for row in &listing.rows {
                    let prices: Vec<_> = row.prices.iter().map(money).collect();
                    let (reserved, sold) = (row.reserved.to_string(), row.sold.to_string());
                    let (free, stock) = (row.free.words(), row.stock.words());
                    table.row([&row.sku, &prices.join("; "), &free, &reserved, &sold, &stock]);
                }
                table.text()
            });
            page.more(output, listing.next.as_deref());
        }
    }
    Ok(Exit::Ok)
}

/// All products of a file, or the first line that is wrong.
fn products(text: &str) -> Result<Vec<ProductRequest>, String> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let mut products = Vec::new();
    for row in reader.deserialize() {
        let row: Row = row.map_err(|error| format!("the file is no CSV of sku,price,stock: {error}"))?;
        let wrong = |what: String| format!("{}: {what}", row.sku);
        let prices = row.price.split(';').map(|price| amount(price.trim()));
        let prices: Result<Vec<_>, String> = prices.collect();
        let stock = StockWord::parse(&row.stock)
            .ok_or_else(|| wrong(format!("{:?} is no stock: write a number, or unlimited", row.stock)))?;
        products.push(ProductRequest { prices: prices.map_err(wrong)?, stock, sku: row.sku });
    }
    Ok(products)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_whole_or_not_at_all() {
        let read = products("sku,price,stock\nticket, 10.00 EUR; 11 USD ,100\n\"a,b\",1.50 EUR,unlimited\n")
            .unwrap();
        assert_eq!((read[0].prices.len(), read[0].stock.words().as_str()), (2, "100"));
        assert_eq!((read[1].sku.as_str(), read[1].stock.words().as_str()), ("a,b", "unlimited"));
        for wrong in [
            "sku,price\nticket,10 EUR\n",
            "sku,price,stock,colour\nticket,10 EUR,1,red\n",
            "sku,price,stock\nticket,10,1\n",
            "sku,price,stock\nticket,10 EUR,-1\n",
            "sku,price,stock\nticket,10 EUR,many\n",
        ] {
            assert!(products(wrong).is_err(), "{wrong}");
        }
    }
}
