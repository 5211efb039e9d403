//! What stands in a database before a run: orders and payments, by the product itself, as every side finds them.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use paidonce::config::{StoreConfig, StoreUrl};
use paidonce::store::{self, Opening};
use paidonce_ledger::{
    Account, Command, CommandId, Customer, Digest, Fulfil, Hint, IdError, Line, Mode, Money, MoneyUnit, Name,
    NewReference, OrderId, PlaceOrder, Policy, ReferenceId, Reply, Sku, Stamp, TaskKey, Timestamp, Unit,
};
use paidonce_store::Store;
use paidonce_workload::{ACCOUNT_NAME, CURRENCY, Deal, WINDOW};

use crate::database::{Backend, Database, Failure};
use crate::receipt::receipts;

const SCHEMA: &str = include_str!("../../store/src/sqlite/migrations/0001_ledger.sql");

/// Orders placed in one commit.
const BATCH: usize = 512;

/// When the first order was placed.
const PLACED_AT: Timestamp = Timestamp(1_795_996_800_000);

/// The account that every notification comes from.
///
/// # Errors
/// Never: the names are constants.
pub fn account() -> Result<Account, IdError> {
    Ok(Account { provider: Name::new("stripe")?, name: Name::new(ACCOUNT_NAME)?, mode: Mode::Live })
}

fn place(deal: Deal) -> Result<Command, Failure> {
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

/// Opens a database as the product does.
///
/// # Errors
/// It cannot be opened.
pub fn open(database: &Database) -> Result<Arc<dyn Store>, Failure> {
    open_url(&database.store_url())
}

/// Opens any store by its address.
///
/// # Errors
/// It cannot be opened.
pub fn open_url(url: &str) -> Result<Arc<dyn Store>, Failure> {
    let url = StoreUrl::parse(url, Path::new(""))?;
    let config = StoreConfig::of(url);
    Ok(store::open(&config, Opening::Command, None)?)
}

/// Commits commands in batches, each of which must be answered as `good` says.
fn commit_all(
    store: &dyn Store,
    commands: &[Command],
    now: Timestamp,
    good: fn(&Reply) -> bool,
) -> Result<(), Failure> {
    for batch in commands.chunks(BATCH) {
        let replies = store.commit(batch, now, &Policy::default())?;
        if let Some(other) = replies.iter().find(|reply| !good(reply)) {
            return Err(format!("a command was not done: {other:?}").into());
        }
    }
    Ok(())
}

/// Places these deals' orders.
///
/// # Errors
/// The product refuses one.
pub fn place_all(store: &dyn Store, deals: Range<u64>) -> Result<(), Failure> {
    let mut next = deals.start;
    while next < deals.end {
        let end = deals.end.min(next + 4 * BATCH as u64);
        let commands: Vec<_> = (next..end).map(|n| place(Deal(n))).collect::<Result<_, _>>()?;
        let now = PLACED_AT.plus_ms(i64::try_from(next)? * 20);
        commit_all(store, &commands, now, |reply| matches!(reply, Reply::Placed { .. }))?;
        next = end;
    }
    Ok(())
}

/// What a shop did before: `windows` times as many orders as payments come in any sequence within, placed, paid and
/// granted. Tells each window that is done.
///
/// # Errors
/// The product refuses one.
pub fn past(store: &dyn Store, windows: u64, mut done: impl FnMut(u64)) -> Result<(), Failure> {
    for window in 0..windows {
        let deals = window * WINDOW..(window + 1) * WINDOW;
        place_all(store, deals.clone())?;
        let now = PLACED_AT.plus_ms(i64::try_from(deals.end)? * 20);
        let receipts = receipts(deals.clone(), deals.end)?;
        commit_all(store, &receipts, now, |reply| matches!(reply, Reply::Received(_)))?;
        let task = |n| OrderId::new(Deal(n).order()).map(|order| TaskKey::grant(order, Unit::Order));
        let grants: Vec<_> = deals.map(|n| task(n).map(Command::Grant)).collect::<Result<_, _>>()?;
        commit_all(store, &grants, now, |reply| matches!(reply, Reply::Granted(_)))?;
        done(window + 1);
    }
    Ok(())
}

/// Places `tasks` orders and pays them: as many grants are due afterwards.
///
/// # Errors
/// The product refuses one.
pub fn due(store: &dyn Store, tasks: u64) -> Result<(), Failure> {
    place_all(store, 0..tasks)?;
    let now = PLACED_AT.plus_ms(i64::try_from(tasks)? * 20);
    let step = 4 * BATCH as u64;
    for from in (0..tasks).step_by(4 * BATCH) {
        let receipts = receipts(from..tasks.min(from + step), tasks)?;
        commit_all(store, &receipts, now, |reply| matches!(reply, Reply::Received(_)))?;
    }
    Ok(())
}

/// A database that holds `orders` open orders and is copied for every run. A file is kept for the next benchmark; on a
/// server it is the caller's to remove.
///
/// # Errors
/// It cannot be written, or the product refuses an order.
pub fn template(backend: Backend, folder: &Path, orders: u64) -> Result<Database, Failure> {
    if backend != Backend::Sqlite {
        let template = Database::new(backend, folder, &format!("template_{}", std::process::id()))?;
        // Whatever happens, nothing is left on the server.
        if let Err(error) = filled(&template, orders) {
            template.remove()?;
            return Err(error);
        }
        return Ok(template);
    }
    let path = folder.join(format!("template-{orders}-{}.db", &of_what().to_hex()[..12]));
    if !path.exists() {
        let part = Database::new(backend, folder, "template-part")?;
        filled(&part, orders)?;
        std::fs::rename(part.address(), &path)?;
    }
    Ok(Database::File(path))
}

fn filled(database: &Database, orders: u64) -> Result<(), Failure> {
    let store = open(database)?;
    place_all(&*store, 0..orders)?;
    drop(store);
    database.settle()
}
