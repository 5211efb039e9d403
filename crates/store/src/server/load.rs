//! Loading many aggregates at once: first the rows that locks are taken on, in the one global order, then what hangs
//! on them. Everything that is decided is read after the lock it rests on (READ COMMITTED sees it as it is then).

use paidonce_ledger::{
    ApiKey, Attempt, Audit, Case, CommandRecord, Entitlement, Event, FactValue, Key, Keys, Ledger, Order,
    Payment, Product, Reference, Reply, Subject, Task,
};

use super::{KeyColumns, Lock, Tables};
use crate::Result;
use crate::batch::{Deciding, Step, missing};
use crate::row::{account_text, load_all, owned, reference_columns, subject_columns, text};

/// The keys of one fetch, table by table, each in order.
#[derive(Default)]
struct Wanted<'a> {
    references: KeyColumns<'a>,
    orders: KeyColumns<'a>,
    products: KeyColumns<'a>,
    payments: KeyColumns<'a>,
    events: KeyColumns<'a>,
    commands: KeyColumns<'a>,
    api_keys: KeyColumns<'a>,
}

impl<'a> Wanted<'a> {
    fn of(keys: &'a Keys) -> Self {
        let mut wanted = Self::default();
        for key in keys {
            match key {
                Key::Reference(key) => {
                    let (kind, account, id) = reference_columns(key);
                    wanted.references.push(vec![text(kind), owned(account), text(id)]);
                }
                Key::Order(id) => wanted.orders.push(vec![text(id.as_str())]),
                Key::Product(sku) => wanted.products.push(vec![text(sku.as_str())]),
                Key::Payment(key) => {
                    wanted.payments.push(vec![owned(account_text(&key.account)), text(key.id.as_str())]);
                }
                Key::Event(key) => {
                    wanted.events.push(vec![owned(account_text(&key.account)), text(key.id.as_str())]);
                }
                Key::Command(id) => wanted.commands.push(vec![text(id.as_str())]),
                Key::ApiKey(name) => wanted.api_keys.push(vec![text(name.as_str())]),
            }
        }
        wanted
    }
}

/// Puts everything under `keys` into the ledger and marks each key as loaded.
///
/// An absent row has no lock. Whoever decides on its absence inserts it, and the unique key arbitrates: the loser's
/// insert is a conflict, and it decides again with the winner's row before it. (So a registration and a receipt that
/// name the same reference cannot miss each other, and no placeholder is left behind.)
async fn fetch(from: &mut impl Tables, keys: &Keys, ledger: &mut Ledger, lock: Lock) -> Result<()> {
    let wanted = Wanted::of(keys);
    load_all::<Reference>(ledger, from.rows(wanted.references, lock).await?);
    let orders = from.rows::<Order>(wanted.orders, lock).await?;
    load_all::<Product>(ledger, from.rows(wanted.products, lock).await?);
    let payments = from.rows::<Payment>(wanted.payments, lock).await?;
    let events = from.rows::<Event>(wanted.events, lock).await?;
    // A command's record never changes: there is nothing to lock.
    load_all::<CommandRecord>(ledger, from.rows(wanted.commands, Lock::None).await?);
    load_all::<ApiKey>(ledger, from.rows(wanted.api_keys, lock).await?);

    // What hangs on a row is looked for only if the row is there: nothing hangs on nothing (invariants.rs).
    let of_orders: KeyColumns<'_> = orders.iter().map(|(id, _)| vec![owned(id.as_str())]).collect();
    let of_payments: KeyColumns<'_> = payments
        .iter()
        .map(|(key, _)| vec![owned(account_text(&key.account)), owned(key.id.as_str())])
        .collect();
    let mut subjects: Vec<Subject> = orders.iter().map(|(id, _)| Subject::Order(id.clone())).collect();
    subjects.extend(payments.iter().map(|(key, _)| Subject::Payment(key.clone())));
    subjects.extend(events.iter().map(|(key, _)| Subject::Event(key.clone())));
    let of_subjects: KeyColumns<'_> = subjects
        .iter()
        .map(|subject| {
            let (kind, account, id) = subject_columns(subject);
            vec![text(kind), owned(account), text(id)]
        })
        .collect();
    load_all::<Task>(ledger, from.under(Some(of_subjects.clone())).await?);
    load_all::<Entitlement>(ledger, from.under(Some(of_orders)).await?);
    load_all::<FactValue>(ledger, from.under(Some(of_payments)).await?);
    load_all::<Case>(ledger, from.under(Some(of_subjects)).await?);
    load_all::<Order>(ledger, orders);
    load_all::<Payment>(ledger, payments);
    load_all::<Event>(ledger, events);
    keys.iter().for_each(|key| ledger.mark_loaded(key.clone()));
    Ok(())
}

/// Loads and decides inside the transaction that `from` is in. What was decided is in the ledger, not yet written.
pub(crate) async fn decide(from: &mut impl Tables, deciding: &mut Deciding<'_>) -> Result<Vec<Reply>> {
    let mut lock = Lock::Wait;
    loop {
        match deciding.step()? {
            Step::Fetch(keys) => fetch(from, &keys, deciding.ledger(), lock).await?,
            Step::Flush(replies) => return Ok(replies),
        }
        lock = Lock::NoWait;
    }
}

/// The aggregates under `keys` and all that they lead to.
pub(crate) async fn load(from: &mut impl Tables, keys: &Keys) -> Result<Ledger> {
    let mut ledger = Ledger::unloaded();
    loop {
        let wanted = missing(keys, &ledger);
        if wanted.is_empty() {
            return Ok(ledger);
        }
        fetch(from, &wanted, &mut ledger, Lock::None).await?;
    }
}

/// Everything.
pub(crate) async fn snapshot(from: &mut impl Tables) -> Result<Ledger> {
    let mut all = Ledger::whole();
    load_all::<Reference>(&mut all, from.under(None).await?);
    load_all::<Order>(&mut all, from.under(None).await?);
    load_all::<Product>(&mut all, from.under(None).await?);
    load_all::<Payment>(&mut all, from.under(None).await?);
    load_all::<FactValue>(&mut all, from.under(None).await?);
    load_all::<Event>(&mut all, from.under(None).await?);
    load_all::<Task>(&mut all, from.under(None).await?);
    load_all::<Attempt>(&mut all, from.under(None).await?);
    load_all::<Entitlement>(&mut all, from.under(None).await?);
    load_all::<Case>(&mut all, from.under(None).await?);
    load_all::<CommandRecord>(&mut all, from.under(None).await?);
    load_all::<Audit>(&mut all, from.under(None).await?);
    load_all::<ApiKey>(&mut all, from.under(None).await?);
    Ok(all)
}
