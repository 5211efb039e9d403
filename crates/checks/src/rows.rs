//! What stands in a database after a run: how many rows, and what one admission's rows say.

use std::path::Path;

use paidonce_workload::{Deal, event};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Result};

/// Counts that must all be the number of acknowledged admissions.
const COUNTS: &[(&str, &str)] = &[
    ("events", "SELECT count(*) FROM event WHERE outcome = 'applied' AND duplicates = 0"),
    ("events of any outcome", "SELECT count(*) FROM event"),
    ("payments", "SELECT count(*) FROM payment WHERE order_id IS NOT NULL"),
    ("facts", "SELECT count(*) FROM fact WHERE kind = 'captured' AND rank = 1"),
    ("orders with one payment", "SELECT count(*) FROM orders WHERE json_array_length(payments) = 1"),
    ("orders with any payment", "SELECT count(*) FROM orders WHERE payments <> '[]'"),
];

/// The tables that an admission writes, and the columns that must be equal whoever wrote them. Left out are times,
/// and `content`, for which the naive sides take the body's digest.
const WRITTEN: &[(&str, &str, &str)] = &[
    (
        "event",
        "account, id, source, kind, outcome, detail, payment, length(content), digest, body, duplicates",
        "id = ?1",
    ),
    ("payment", "account, id, order_id, mentions, asked, listing, provider_revision", "id = ?2"),
    ("fact", "account, payment, kind, fact_id, stage, money_unit, rank, amount, asked", "payment = ?2"),
    ("orders", "id, customer, lines, total, money_unit, state, revision, payments, refs", "id = ?3"),
    ("task", "order_id, unit, kind, state, attempts, order_revision", "order_id = ?3"),
];

fn open(path: &Path) -> Result<Connection> {
    // Not read-only: a killed server's log is recovered by whoever opens the file next.
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
}

/// Compares what is stored with what was acknowledged: nothing lost, nothing doubled. Ids are unique by the schema,
/// so equal numbers are equal sets.
///
/// # Errors
/// The first difference, as a sentence.
pub fn count(path: &Path, acknowledged: u64, tasks: bool) -> std::result::Result<(), String> {
    let counted = |sql: &str| -> Result<i64> { open(path)?.query_row(sql, [], |row| row.get(0)) };
    let task = [("tasks", "SELECT count(*) FROM task")];
    for (name, sql) in COUNTS.iter().chain(task.iter().filter(|_| tasks)) {
        let stored = counted(sql).map_err(|error| format!("{name} cannot be counted: {error}"))?;
        if u64::try_from(stored) != Ok(acknowledged) {
            return Err(format!(
                "{acknowledged} admissions were acknowledged, and {stored} {name} are stored"
            ));
        }
    }
    Ok(())
}

/// The rows that notification 0 of `all` left, as text.
///
/// # Errors
/// The database cannot be read.
pub fn sample(path: &Path, all: u64) -> Result<String> {
    let connection = open(path)?;
    let deal = Deal::paid_by(0, all);
    let keys = [event(0), deal.intent(), deal.order()];
    let mut text = String::new();
    for (table, columns, filter) in WRITTEN {
        let mut statement = connection.prepare(&format!("SELECT {columns} FROM {table} WHERE {filter}"))?;
        let names: Vec<_> = statement.column_names().into_iter().map(str::to_owned).collect();
        let given = &keys[..statement.parameter_count()];
        let mut rows = statement.query(rusqlite::params_from_iter(given))?;
        while let Some(row) = rows.next()? {
            for (position, name) in names.iter().enumerate() {
                let value = match row.get_ref(position)? {
                    ValueRef::Null => "null".to_owned(),
                    ValueRef::Integer(n) => n.to_string(),
                    ValueRef::Real(n) => n.to_string(),
                    ValueRef::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                    ValueRef::Blob(bytes) => format!("{} bytes, {:02x?}", bytes.len(), bytes.first()),
                };
                text += &format!("{table}.{name} = {value}\n");
            }
        }
    }
    Ok(text)
}
