//! Fetching aggregates: cached statements, one key at a time. (In process a point read costs about a
//! microsecond; there is no round trip to save by asking for many at once.)

use paidonce_ledger::{
    ApiKey, Case, CommandRecord, Entitlement, Event, FactValue, Key, Keys, Ledger, Order, Payment,
    PaymentKey, Reference, Subject, Task,
};
use rusqlite::Connection;

use super::encode::{Column, Reader, owned, reference_columns, subject_columns, text};
use super::row::Stored;
use super::sql_error;
use crate::Result;
use crate::batch::Fetch;

/// Reads from one connection, inside whatever transaction it is in.
pub(super) struct Rows<'a> {
    pub(super) connection: &'a Connection,
}

impl Rows<'_> {
    /// Every row whose first key columns are `key`.
    pub(super) fn select<T: Stored>(&self, key: &[Column<'_>]) -> Result<Vec<(T::Key, T)>> {
        self.read(&T::sql().select[key.len()], key)
    }

    /// Every row that a statement gives, whose columns are `T`'s.
    pub(super) fn read<T: Stored>(&self, sql: &str, values: &[Column<'_>]) -> Result<Vec<(T::Key, T)>> {
        let mut statement = self.connection.prepare_cached(sql).map_err(sql_error)?;
        let mut rows = statement.query(rusqlite::params_from_iter(values)).map_err(sql_error)?;
        let mut read = Vec::new();
        while let Some(row) = rows.next().map_err(sql_error)? {
            read.push(T::read(&mut Reader::new(row))?);
        }
        Ok(read)
    }

    fn cases_about(&self, subject: &Subject, ledger: &mut Ledger) -> Result<()> {
        let (kind, account, id) = subject_columns(subject);
        let cases = self.select::<Case>(&[text(kind), owned(account), text(id)])?;
        cases.into_iter().for_each(|(key, case)| ledger.cases.load(key, case));
        Ok(())
    }

    fn payment(&self, key: &PaymentKey, ledger: &mut Ledger) -> Result<()> {
        let columns = [owned(key.account.to_string()), text(key.id.as_str())];
        let Some((_, payment)) = self.select::<Payment>(&columns)?.pop() else { return Ok(()) };
        ledger.payments.load(key.clone(), payment);
        let facts = self.select::<FactValue>(&columns)?;
        facts.into_iter().for_each(|(key, fact)| ledger.facts.load(key, fact));
        self.cases_about(&Subject::Payment(key.clone()), ledger)
    }

    // What hangs on a row is looked for only if the row is there: nothing hangs on nothing (invariants.rs).
    fn aggregate(&self, key: &Key, ledger: &mut Ledger) -> Result<()> {
        match key {
            Key::Reference(key) => {
                let (kind, account, id) = reference_columns(key);
                let row = self.select::<Reference>(&[text(kind), owned(account), text(id)])?.pop();
                row.into_iter().for_each(|(key, row)| ledger.references.load(key, row));
            }
            Key::Order(id) => {
                let columns = [text(id.as_str())];
                let Some((_, order)) = self.select::<Order>(&columns)?.pop() else { return Ok(()) };
                ledger.orders.load(id.clone(), order);
                let tasks = self.select::<Task>(&columns)?;
                tasks.into_iter().for_each(|(key, task)| ledger.tasks.load(key, task));
                let entitlements = self.select::<Entitlement>(&columns)?;
                entitlements.into_iter().for_each(|(key, row)| ledger.entitlements.load(key, row));
                self.cases_about(&Subject::Order(id.clone()), ledger)?;
            }
            Key::Payment(key) => self.payment(key, ledger)?,
            Key::Event(key) => {
                let columns = [owned(key.account.to_string()), text(key.id.as_str())];
                let Some((_, event)) = self.select::<Event>(&columns)?.pop() else { return Ok(()) };
                ledger.events.load(key.clone(), event);
                self.cases_about(&Subject::Event(key.clone()), ledger)?;
            }
            Key::Command(id) => {
                let row = self.select::<CommandRecord>(&[text(id.as_str())])?.pop();
                row.into_iter().for_each(|(key, row)| ledger.commands.load(key, row));
            }
            Key::ApiKey(name) => {
                let row = self.select::<ApiKey>(&[text(name.as_str())])?.pop();
                row.into_iter().for_each(|(key, row)| ledger.api_keys.load(key, row));
            }
        }
        Ok(())
    }
}

impl Fetch for Rows<'_> {
    fn fetch(&mut self, keys: &Keys, ledger: &mut Ledger) -> Result<()> {
        for key in keys {
            self.aggregate(key, ledger)?;
            ledger.mark_loaded(key.clone());
        }
        Ok(())
    }
}
