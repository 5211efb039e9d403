//! The text of each table's statements, built once for a schema.

use std::sync::Arc;

use super::encode::array_type;
use crate::row::{Kind, PerTable, Shape};

/// A table's statements. Values come as one array a column, so that a statement is the same for any number of rows.
pub(super) struct Sql {
    /// The table's name, with its schema's.
    pub(super) table: String,
    /// By how many of the key columns are given: all rows, .., whole keys.
    pub(super) select: Vec<Arc<str>>,
    /// By whole keys, locked in key order, waiting.
    pub(super) lock: Arc<str>,
    /// The same, not waiting.
    pub(super) try_lock: Arc<str>,
    pub(super) insert: Arc<str>,
    /// Key columns first, then those that change.
    pub(super) update: Arc<str>,
}

/// Every statement that a schema needs.
pub(super) fn statements(schema: &str) -> PerTable<Sql> {
    PerTable::new(|shape| Sql::new(schema, shape))
}

/// A name as SQL spells it.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// `unnest($1::text[], ..) AS u("a", ..)` for some of a table's columns.
fn unnest(columns: &[(&str, Kind)]) -> String {
    let types = columns.iter().map(|(_, kind)| *kind).zip(1..);
    let arrays: Vec<_> = types.map(|(kind, n)| format!("${n}::{}", array_type(kind))).collect();
    let names: Vec<_> = columns.iter().map(|(name, _)| quoted(name)).collect();
    format!("unnest({}) AS u({})", arrays.join(", "), names.join(", "))
}

/// A column of `u` as the table's type.
fn from_u((name, kind): (&str, Kind)) -> String {
    let cast = if kind == Kind::Amount { "::numeric" } else { "" };
    format!("u.{}{cast}", quoted(name))
}

/// A key's column of `u`, byte by byte, as the table's own columns compare.
fn in_order((name, kind): (&str, Kind)) -> String {
    let collation = if kind == Kind::Text { " COLLATE \"C\"" } else { "" };
    format!("u.{}{collation}", quoted(name))
}

fn same_key(columns: &[(&str, Kind)]) -> String {
    let same = columns.iter().map(|(name, _)| format!("t.{0} = u.{0}", quoted(name)));
    same.collect::<Vec<_>>().join(" AND ")
}

impl Sql {
    fn new(schema: &str, shape: &Shape) -> Self {
        let table = format!("{}.{}", quoted(schema), quoted(shape.table));
        let columns: Vec<_> = shape.columns.iter().map(|column| read(*column)).collect();
        let list = columns.join(", ");
        let keys = &shape.columns[..shape.keys];
        let found = |from: String, keys: &[(&str, Kind)], how: &str| {
            let same = same_key(keys);
            format!(
                "SELECT {list} FROM {from} CROSS JOIN LATERAL (SELECT * FROM {table} AS t WHERE {same} {how}) AS t"
            )
        };
        let select = |n: usize| match n {
            0 => format!("SELECT {list} FROM {table} AS t"),
            // OFFSET 0 keeps the condition where it is: one search of the index for each key. As a plain join, what was
            // planned while the table was small reads the whole index for each key, and is kept while the table grows.
            n => found(unnest(&keys[..n]), &keys[..n], "OFFSET 0"),
        };
        let order: Vec<_> = keys.iter().map(|column| in_order(*column)).collect();
        let sorted = format!("(SELECT * FROM {} ORDER BY {}) AS u", unnest(keys), order.join(", "));
        // Nobody refers to these rows by foreign keys, so the weaker lock excludes all that matters.
        let lock = |how: &str| found(sorted.clone(), keys, &format!("FOR NO KEY UPDATE{how}")).into();
        let changing: Vec<_> = shape.changing().map(|at| shape.columns[at]).collect();
        let updated: Vec<_> = keys.iter().copied().chain(changing.iter().copied()).collect();
        let set: Vec<_> =
            changing.iter().map(|column| format!("{} = {}", quoted(column.0), from_u(*column))).collect();
        let names: Vec<_> = shape.columns.iter().map(|(name, _)| quoted(name)).collect();
        let values: Vec<_> = shape.columns.iter().map(|column| from_u(*column)).collect();
        let insert = format!(
            "INSERT INTO {table} ({}) SELECT {} FROM {}",
            names.join(", "),
            values.join(", "),
            unnest(shape.columns)
        );
        let update = format!(
            "UPDATE {table} AS t SET {} FROM {} WHERE {}",
            set.join(", "),
            unnest(&updated),
            same_key(keys)
        );
        Self {
            select: (0..=shape.keys).map(|n| select(n).into()).collect(),
            try_lock: lock(" NOWAIT"),
            lock: lock(""),
            insert: insert.into(),
            update: update.into(),
            table,
        }
    }
}

fn read((name, kind): (&str, Kind)) -> String {
    let cast = if kind == Kind::Amount { "::text" } else { "" };
    format!("t.{}{cast}", quoted(name))
}

/// `?` as Postgres writes it: `$1`, `$2`, .. (The texts of listings have none in quotes.)
pub(super) fn numbered(sql: &str) -> String {
    let mut pieces = sql.split('?');
    let mut numbered = pieces.next().unwrap_or_default().to_owned();
    for (piece, n) in pieces.zip(1..) {
        numbered.push_str(&format!("${n}{piece}"));
    }
    numbered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Stored;
    use paidonce_ledger::Entitlement;

    #[test]
    fn a_tables_statements_read_as_they_should() {
        let all = statements("paid\"once");
        let sql = Entitlement::pick(&all);
        assert!(sql.lock.ends_with(
            "FROM (SELECT * FROM unnest($1::text[], $2::text[]) AS u(\"order_id\", \"unit\") \
             ORDER BY u.\"order_id\" COLLATE \"C\", u.\"unit\" COLLATE \"C\") AS u \
             CROSS JOIN LATERAL (SELECT * FROM \"paid\"\"once\".\"entitlement\" AS t \
             WHERE t.\"order_id\" = u.\"order_id\" AND t.\"unit\" = u.\"unit\" FOR NO KEY UPDATE) AS t"
        ));
        assert_eq!(numbered("a = ? AND b < ? LIMIT ?"), "a = $1 AND b < $2 LIMIT $3");
    }
}
