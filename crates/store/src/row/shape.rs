//! A table's shape, and one of something for each table. Adding a table is adding a line here.

use paidonce_ledger::{
    ApiKey, Attempt, Audit, Case, Change, Changes, CommandRecord, Entitlement, Event, FactValue, Ledger,
    Order, Payment, Product, Reference, Table, Task,
};

use super::{Column, Kind, Reader};
use crate::Result;

/// A table's columns.
pub(crate) struct Shape {
    pub(crate) table: &'static str,
    /// Key columns first, in the order in which [`Stored::write`] gives them.
    pub(crate) columns: &'static [(&'static str, Kind)],
    /// How many of them are the key.
    pub(crate) keys: usize,
    /// Columns that never change once the row stands; an update leaves them out.
    pub(crate) fixed: &'static [&'static str],
}

impl Shape {
    /// Where the columns stand that an update writes.
    pub(crate) fn changing(&self) -> impl Iterator<Item = usize> {
        (self.keys..self.columns.len()).filter(|at| !self.fixed.contains(&self.columns[*at].0))
    }
}

/// A table's row: how it is written and read.
pub(crate) trait Stored: Sized + Clone + PartialEq {
    type Key: Ord + Clone;
    const SHAPE: Shape;

    fn write<'a>(key: &'a Self::Key, row: &'a Self) -> Result<Vec<Column<'a>>>;
    fn read(from: &mut Reader<'_>) -> Result<(Self::Key, Self)>;

    /// This table's own of something that each table has.
    fn pick<S>(all: &PerTable<S>) -> &S;
    /// Where its rows are in a ledger.
    fn table(ledger: &mut Ledger) -> &mut Table<Self::Key, Self>;
    /// Its net changes.
    fn changes(changes: &Changes) -> &[Change<Self::Key, Self>];
}

/// The part of [`Stored`] that only names the table.
macro_rules! in_tables {
    ($name:ident) => {
        fn pick<S>(all: &crate::row::PerTable<S>) -> &S {
            &all.$name
        }
        fn table(ledger: &mut paidonce_ledger::Ledger) -> &mut paidonce_ledger::Table<Self::Key, Self> {
            &mut ledger.$name
        }
        fn changes(changes: &paidonce_ledger::Changes) -> &[paidonce_ledger::Change<Self::Key, Self>] {
            &changes.$name
        }
    };
}
pub(super) use in_tables;

macro_rules! per_table {
    ($($name:ident: $row:ty,)+) => {
        /// One of something for each table.
        pub(crate) struct PerTable<S> { $(pub(crate) $name: S,)+ }

        impl<S> PerTable<S> {
            /// Makes each from the table's shape.
            pub(crate) fn new(make: impl Fn(&'static Shape) -> S) -> Self {
                Self { $($name: { const SHAPE: &Shape = &<$row>::SHAPE; make(SHAPE) },)+ }
            }
        }
    };
}

per_table! {
    references: Reference,
    orders: Order,
    products: Product,
    payments: Payment,
    facts: FactValue,
    events: Event,
    tasks: Task,
    attempts: Attempt,
    entitlements: Entitlement,
    cases: Case,
    commands: CommandRecord,
    audits: Audit,
    api_keys: ApiKey,
}

/// Puts fetched rows into a ledger.
pub(crate) fn load_all<T: Stored>(ledger: &mut Ledger, rows: impl IntoIterator<Item = (T::Key, T)>) {
    let table = T::table(ledger);
    rows.into_iter().for_each(|(key, row)| table.load(key, row));
}
