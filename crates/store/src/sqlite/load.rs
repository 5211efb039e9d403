//! Fetching aggregates: cached statements, one key at a time. (In process a point read costs about a
//! microsecond; there is no round trip to save by asking for many at once.)

use paidonce_ledger::{
    ApiKey, Case, CommandRecord, Entitlement, Event, FactValue, Key, Keys, Ledger, Order, Payment, Product,
    Reference, Subject, Task,
};
use rusqlite::{CachedStatement, Connection};

use super::sql::sql;
use super::sql_error;
use crate::Result;
use crate::batch::Fetch;
use crate::row::{Column, Reader, Stored, account_text, owned, reference_columns, subject_columns, text};

/// Reads from one connection, inside whatever transaction it is in.
pub(super) struct Rows<'a> {
    pub(super) connection: &'a Connection,
}

impl Rows<'_> {
    /// Every row whose first key columns are `key`.
    pub(super) fn select<T: Stored>(&self, key: &[Column<'_>]) -> Result<Vec<(T::Key, T)>> {
        self.read(&sql::<T>().select[key.len()], key)
    }

    /// Every row that a statement gives, whose columns are `T`'s.
    pub(super) fn read<T: Stored>(&self, sql: &str, values: &[Column<'_>]) -> Result<Vec<(T::Key, T)>> {
        let mut statement = self.connection.prepare_cached(sql).map_err(sql_error)?;
        let mut read = Vec::new();
        rows(&mut statement, values, |key, row| read.push((key, row)))?;
        Ok(read)
    }
}

fn rows<T: Stored>(
    statement: &mut CachedStatement<'_>,
    values: &[Column<'_>],
    mut each: impl FnMut(T::Key, T),
) -> Result<()> {
    let mut rows = statement.query(rusqlite::params_from_iter(values)).map_err(sql_error)?;
    while let Some(row) = rows.next().map_err(sql_error)? {
        let (key, row) = T::read(&mut Reader::new(row))?;
        each(key, row);
    }
    Ok(())
}

/// The statement that reads one table, taken from the cache once for a whole batch.
struct Select<'a, T> {
    connection: &'a Connection,
    statement: Option<CachedStatement<'a>>,
    row: std::marker::PhantomData<T>,
}

impl<'a, T: Stored> Select<'a, T> {
    fn new(connection: &'a Connection) -> Self {
        Self { connection, statement: None, row: std::marker::PhantomData }
    }

    /// Gives every row under `key`, which has as many columns each time. Answers whether there was one.
    fn each(&mut self, key: &[Column<'_>], mut each: impl FnMut(T::Key, T)) -> Result<bool> {
        let statement = match &mut self.statement {
            Some(statement) => statement,
            none => {
                let text = &sql::<T>().select[key.len()];
                none.insert(self.connection.prepare_cached(text).map_err(sql_error)?)
            }
        };
        let mut any = false;
        rows::<T>(statement, key, |key, row| {
            any = true;
            each(key, row);
        })?;
        Ok(any)
    }
}

struct Selects<'a> {
    references: Select<'a, Reference>,
    orders: Select<'a, Order>,
    products: Select<'a, Product>,
    tasks: Select<'a, Task>,
    entitlements: Select<'a, Entitlement>,
    payments: Select<'a, Payment>,
    facts: Select<'a, FactValue>,
    events: Select<'a, Event>,
    cases: Select<'a, Case>,
    commands: Select<'a, CommandRecord>,
    api_keys: Select<'a, ApiKey>,
}

impl<'a> Selects<'a> {
    fn new(connection: &'a Connection) -> Self {
        Self {
            references: Select::new(connection),
            orders: Select::new(connection),
            products: Select::new(connection),
            tasks: Select::new(connection),
            entitlements: Select::new(connection),
            payments: Select::new(connection),
            facts: Select::new(connection),
            events: Select::new(connection),
            cases: Select::new(connection),
            commands: Select::new(connection),
            api_keys: Select::new(connection),
        }
    }

    fn about(&mut self, subject: &Subject, ledger: &mut Ledger) -> Result<()> {
        let (kind, account, id) = subject_columns(subject);
        let columns = [text(kind), owned(account), text(id)];
        self.tasks.each(&columns, |key, row| ledger.tasks.load(key, row))?;
        self.cases.each(&columns, |key, case| ledger.cases.load(key, case)).map(|_| ())
    }

    // What hangs on a row is looked for only if the row is there: nothing hangs on nothing (invariants.rs).
    fn aggregate(&mut self, key: &Key, ledger: &mut Ledger) -> Result<()> {
        match key {
            Key::Reference(key) => {
                let (kind, account, id) = reference_columns(key);
                let columns = [text(kind), owned(account), text(id)];
                self.references.each(&columns, |key, row| ledger.references.load(key, row))?;
            }
            Key::Order(id) => {
                let columns = [text(id.as_str())];
                if self.orders.each(&columns, |key, row| ledger.orders.load(key, row))? {
                    self.entitlements.each(&columns, |key, row| ledger.entitlements.load(key, row))?;
                    self.about(&Subject::Order(id.clone()), ledger)?;
                }
            }
            Key::Product(sku) => {
                self.products.each(&[text(sku.as_str())], |key, row| ledger.products.load(key, row))?;
            }
            Key::Payment(key) => {
                let columns = [owned(account_text(&key.account)), text(key.id.as_str())];
                if self.payments.each(&columns, |key, row| ledger.payments.load(key, row))? {
                    self.facts.each(&columns, |key, row| ledger.facts.load(key, row))?;
                    self.about(&Subject::Payment(key.clone()), ledger)?;
                }
            }
            Key::Event(key) => {
                let columns = [owned(account_text(&key.account)), text(key.id.as_str())];
                if self.events.each(&columns, |key, row| ledger.events.load(key, row))? {
                    self.about(&Subject::Event(key.clone()), ledger)?;
                }
            }
            Key::Command(id) => {
                self.commands.each(&[text(id.as_str())], |key, row| ledger.commands.load(key, row))?;
            }
            Key::ApiKey(name) => {
                self.api_keys.each(&[text(name.as_str())], |key, row| ledger.api_keys.load(key, row))?;
            }
        }
        Ok(())
    }
}

impl Fetch for Rows<'_> {
    fn fetch(&mut self, keys: &Keys, ledger: &mut Ledger) -> Result<()> {
        let mut selects = Selects::new(self.connection);
        for key in keys {
            selects.aggregate(key, ledger)?;
            ledger.mark_loaded(key.clone());
        }
        Ok(())
    }
}
