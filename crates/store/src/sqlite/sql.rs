//! The text of each table's statements, built once from its columns.

use std::sync::LazyLock;

use crate::row::{PerTable, Shape, Stored};

/// Rows in one INSERT, largest first. Fixed sizes keep the statement cache warm.
pub(super) const CHUNKS: [usize; 3] = [32, 8, 1];

/// A table's statements.
pub(super) struct Sql {
    /// By how many of the key columns are given: all rows, .., one row.
    pub(super) select: Vec<String>,
    /// Of as many rows as [`CHUNKS`] says. A plain INSERT: the unique key is the final guard, and its violation is
    /// an error, never "already there". (OR FAIL spares SQLite the copies of pages by which it would undo a failed
    /// statement alone: the whole transaction is rolled back on any error.)
    pub(super) insert: [String; 3],
    /// Of one row, by its whole key. Values first, then the key.
    pub(super) update: String,
    /// Everything up to the table's name, for listings.
    pub(super) list: String,
}

/// The statements of `T`'s table.
pub(super) fn sql<T: Stored>() -> &'static Sql {
    static SQL: LazyLock<PerTable<Sql>> = LazyLock::new(|| PerTable::new(Sql::new));
    T::pick(&SQL)
}

impl Sql {
    fn new(shape: &'static Shape) -> Self {
        let (table, keys) = (shape.table, shape.keys);
        let columns: Vec<_> = shape.columns.iter().map(|(name, _)| *name).collect();
        let all = columns.join(", ");
        let list = format!("SELECT {all} FROM {table}");
        let by = |n: usize| {
            columns[..n].iter().map(|column| format!("{column} = ?")).collect::<Vec<_>>().join(" AND ")
        };
        let select = (0..=keys).map(|n| match n {
            0 => list.clone(),
            n => format!("{list} WHERE {}", by(n)),
        });
        let tuple = format!("({})", vec!["?"; columns.len()].join(", "));
        let insert = CHUNKS.map(|n| {
            format!("INSERT OR FAIL INTO {table} ({all}) VALUES {}", vec![tuple.as_str(); n].join(", "))
        });
        let set: Vec<_> = shape.changing().map(|at| format!("{} = ?", columns[at])).collect();
        let update = format!("UPDATE {table} SET {} WHERE {}", set.join(", "), by(keys));
        Self { select: select.collect(), insert, update, list }
    }
}
