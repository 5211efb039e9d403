//! The text of each table's statements, built once. Tables stand in the database of the connection, with a prefix,
//! because a hosted server gives one database.

use std::sync::{Arc, LazyLock};

use crate::row::{Kind, PerTable, Shape, Stored};
use crate::server::Lock;

/// Rows or keys in one statement, largest first. Fixed sizes keep the statements prepared.
pub(super) const CHUNKS: [usize; 4] = [128, 32, 8, 1];

/// A table's statements.
pub(super) struct Sql {
    /// Everything up to the table's name.
    pub(super) list: Arc<str>,
    /// By how many of the key columns are given, less one, and by the chunk: the last of them is a list.
    select: Vec<[Arc<str>; 4]>,
    lock: [Arc<str>; 4],
    try_lock: [Arc<str>; 4],
    pub(super) insert: [Arc<str>; 4],
    /// Of rows that are there, whole: an insert that must meet its row.
    pub(super) upsert: [Arc<str>; 4],
    /// Of one row. Values first, then the key.
    pub(super) update: Arc<str>,
}

/// The statements of `T`'s table.
pub(super) fn sql<T: Stored>() -> &'static Sql {
    static SQL: LazyLock<PerTable<Sql>> = LazyLock::new(|| PerTable::new(Sql::new));
    T::pick(&SQL)
}

pub(super) fn table(name: &str) -> String {
    format!("`paidonce_{name}`")
}

impl Sql {
    fn new(shape: &Shape) -> Self {
        let name = table(shape.table);
        let names: Vec<_> = shape.columns.iter().map(|(name, _)| format!("`{name}`")).collect();
        let read: Vec<_> = shape.columns.iter().map(read).collect();
        let list = format!("SELECT {} FROM {name}", read.join(", "));
        // Left to itself the optimizer reads a small table whole, and locks what it reads.
        let index = if shape.table == "event" { "by_key" } else { "PRIMARY" };
        let by = |n: usize, lock: &str| {
            let equal: String = names[..n - 1].iter().map(|name| format!("{name} = ? AND ")).collect();
            CHUNKS.map(|size| {
                let (last, marks) = (&names[n - 1], marks(size));
                format!("{list} FORCE INDEX ({index}) WHERE {equal}{last} IN {marks}{lock}").into()
            })
        };
        let values = CHUNKS.map(|size| vec![marks(names.len()); size].join(", "));
        let insert =
            values.map(|values| format!("INSERT INTO {name} ({}) VALUES {values}", names.join(", ")));
        let changing: Vec<_> = shape.changing().map(|at| &names[at]).collect();
        let from_values: Vec<_> = changing.iter().map(|name| format!("{name} = VALUES({name})")).collect();
        let upsert = insert
            .clone()
            .map(|sql| format!("{sql} ON DUPLICATE KEY UPDATE {}", from_values.join(", ")).into());
        let set: Vec<_> = changing.iter().map(|name| format!("{name} = ?")).collect();
        let key: Vec<_> = names[..shape.keys].iter().map(|name| format!("{name} = ?")).collect();
        let update = format!("UPDATE {name} SET {} WHERE {}", set.join(", "), key.join(" AND "));
        Self {
            list: list.as_str().into(),
            select: (1..=shape.keys).map(|n| by(n, "")).collect(),
            lock: by(shape.keys, " FOR UPDATE"),
            try_lock: by(shape.keys, " FOR UPDATE NOWAIT"),
            insert: insert.map(Into::into),
            upsert,
            update: update.into(),
        }
    }

    /// The statements, by chunk, that read by the first `n` key columns.
    pub(super) fn by(&self, n: usize, lock: Lock) -> &[Arc<str>; 4] {
        match lock {
            Lock::None => &self.select[n - 1],
            Lock::Wait => &self.lock,
            Lock::NoWait => &self.try_lock,
        }
    }
}

/// `(?, ?, ..)`
fn marks(n: usize) -> String {
    format!("({})", vec!["?"; n].join(", "))
}

fn read((name, kind): &(&str, Kind)) -> String {
    match kind {
        Kind::Amount => format!("CAST(`{name}` AS CHAR)"),
        _ => format!("`{name}`"),
    }
}
