//! A database with open orders in it, placed by the product itself, as every side finds it.

use std::fs::File;
use std::path::{Path, PathBuf};

use paidonce_ledger::{
    Account, Command, CommandId, Customer, Digest, Fulfil, Hint, IdError, Line, Mode, Money, MoneyUnit, Name,
    NewReference, OrderId, PlaceOrder, Policy, ReferenceId, Reply, Sku, Stamp, Timestamp,
};
use paidonce_store::{SqliteOptions, SqliteStore, Store};
use paidonce_workload::{ACCOUNT_NAME, CURRENCY, Deal};

const SCHEMA: &str = include_str!("../../store/src/sqlite/migrations/0001_ledger.sql");

/// Orders placed in one commit.
const BATCH: u64 = 512;

/// When the first order was placed.
const PLACED_AT: Timestamp = Timestamp(1_795_996_800_000);

/// The account that every notification comes from.
///
/// # Errors
/// Never: the names are constants.
pub fn account() -> Result<Account, IdError> {
    Ok(Account { provider: Name::new("stripe")?, name: Name::new(ACCOUNT_NAME)?, mode: Mode::Live })
}

fn place(deal: Deal) -> Result<Command, Box<dyn std::error::Error>> {
    let order = deal.order();
    let unit = MoneyUnit::parse(CURRENCY).map_err(|error| error.to_string())?;
    let total = Money::new(i128::from(deal.amount_minor()), unit).map_err(|error| error.to_string())?;
    let reference =
        NewReference { account: account()?, id: ReferenceId::new(deal.intent())?, expected: None };
    Ok(Command::PlaceOrder(PlaceOrder {
        stamp: Stamp { id: CommandId::new(format!("shop {order}"))?, by: "shop".into(), reason: None },
        order: OrderId::new(&order)?,
        generated: false,
        hint: Hint::new(deal.hint())?,
        customer: Some(Customer::new(deal.customer())?),
        lines: vec![Line { sku: Sku::new("ebook")?, quantity: 1 }],
        total,
        fulfil: Fulfil::Order,
        expires_at: None,
        references: vec![reference],
        token: None,
        trace: None,
    }))
}

/// Changes with the schema and with what is placed, so that an old template is not taken for a new one.
fn of_what() -> Digest {
    let deal = Deal(1);
    let parts = [SCHEMA, &deal.order(), &deal.intent(), &deal.hint(), &deal.customer()];
    Digest::of_parts(parts.map(str::as_bytes))
}

/// The file that holds `orders` open orders and is copied for every run. Made if it is not there.
///
/// # Errors
/// It cannot be written, or the product refuses an order.
pub fn template(folder: &Path, orders: u64) -> Result<PathBuf, Box<dyn std::error::Error>> {
    let path = folder.join(format!("template-{orders}-{}.db", &of_what().to_hex()[..12]));
    if path.exists() {
        return Ok(path);
    }
    let part = folder.join("template.part");
    remove(&part)?;
    let store = SqliteStore::open(&part, SqliteOptions::default())?;
    let policy = Policy::default();
    let mut next = 0;
    while next < orders {
        let end = orders.min(next + BATCH);
        let batch: Vec<_> = (next..end).map(|n| place(Deal(n))).collect::<Result<_, _>>()?;
        let now = PLACED_AT.plus_ms(i64::try_from(next)? * 20);
        let replies = store.commit(&batch, now, &policy)?;
        if let Some(other) = replies.iter().find(|reply| !matches!(reply, Reply::Placed { .. })) {
            return Err(format!("an order was not placed: {other:?}").into());
        }
        next = end;
    }
    // The last connection to close writes the log back into the file.
    drop(store);
    let log = part.with_extension("part-wal");
    if log.exists() {
        return Err("the template's log was not written back".into());
    }
    std::fs::rename(&part, &path)?;
    Ok(path)
}

/// A copy of the template for one run, on disk before the run begins: its writing back must not be measured.
///
/// # Errors
/// It cannot be written.
pub fn fresh(template: &Path, name: &str) -> std::io::Result<PathBuf> {
    let path = template.with_file_name(format!("{name}.db"));
    remove(&path)?;
    std::fs::copy(template, &path)?;
    File::open(&path)?.sync_all()?;
    Ok(path)
}

/// Removes a database with its log.
///
/// # Errors
/// A file is there and cannot be removed.
pub fn remove(path: &Path) -> std::io::Result<()> {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        match std::fs::remove_file(PathBuf::from(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
