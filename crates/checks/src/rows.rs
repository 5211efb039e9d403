//! What stands in a database after a run: how many rows, and what one admission's rows say.

use paidonce_workload::{Deal, event};

use crate::database::{Backend, Database, Failure};

/// How a column is compared.
#[derive(Debug, Clone, Copy)]
enum By {
    /// Its value.
    Value,
    /// Its bytes.
    Bytes,
    /// How long it is, because the naive sides take another value of the same kind.
    Length,
}

use By::{Bytes, Length, Value};

/// A table that an admission writes: its name, the columns that must be equal whoever wrote them, and the column that
/// finds the rows. Only times are left out.
type Written = (&'static str, &'static [(&'static str, By)], &'static str);

const WRITTEN: &[Written] = &[
    (
        "event",
        &[
            ("account", Value),
            ("id", Value),
            ("source", Value),
            ("kind", Value),
            ("outcome", Value),
            ("detail", Value),
            ("payment", Value),
            ("content", Length),
            ("digest", Bytes),
            ("body", Bytes),
            ("duplicates", Value),
            ("trace", Value),
        ],
        "id",
    ),
    (
        "payment",
        &[
            ("account", Value),
            ("id", Value),
            ("order_id", Value),
            ("mentions", Value),
            ("asked", Value),
            ("listing", Value),
            ("listed_at", Value),
            ("provider_revision", Value),
        ],
        "id",
    ),
    (
        "fact",
        &[
            ("account", Value),
            ("payment", Value),
            ("kind", Value),
            ("fact_id", Value),
            ("stage", Value),
            ("money_unit", Value),
            ("rank", Value),
            ("amount", Value),
            ("asked", Value),
        ],
        "payment",
    ),
    (
        "orders",
        &[
            ("id", Value),
            ("customer", Value),
            ("lines", Value),
            ("total", Value),
            ("money_unit", Value),
            ("fulfil", Value),
            ("hint", Value),
            ("state", Value),
            ("closed_covering", Value),
            ("placed_at", Value),
            ("expires_at", Value),
            ("request", Bytes),
            ("revision", Value),
            ("payments", Value),
            ("refs", Value),
            ("trace", Value),
        ],
        "id",
    ),
    (
        "task",
        &[
            ("subject_kind", Value),
            ("subject_account", Value),
            ("subject_id", Value),
            ("kind", Value),
            ("unit", Value),
            ("effect", Value),
            ("occasion", Value),
            ("handle", Length),
            ("state", Value),
            ("active", Value),
            ("attempts", Value),
            ("order_revision", Value),
            ("delivered", Value),
            ("version", Value),
            ("lease_owner", Value),
            ("lease_until", Value),
            ("sent_revision", Value),
            ("sent_body", Bytes),
            ("sent_at", Value),
            ("sent_unsure", Value),
            ("trace", Value),
        ],
        "subject_id",
    ),
];

/// Counts that must all be the number of acknowledged admissions: what is counted, the table, which rows.
fn counts(backend: Backend) -> Vec<(&'static str, &'static str, String)> {
    let one_payment = match backend {
        Backend::Sqlite => "json_array_length(payments) = 1",
        Backend::Postgres => "json_array_length(payments::json) = 1",
        Backend::Mysql => "JSON_LENGTH(CONVERT(payments USING utf8mb4)) = 1",
    };
    let rank = backend.quoted("rank");
    vec![
        ("events", "event", "outcome = 'applied' AND duplicates = 0".to_owned()),
        ("events of any outcome", "event", "1 = 1".to_owned()),
        ("payments", "payment", "order_id IS NOT NULL".to_owned()),
        ("facts", "fact", format!("kind = 'captured' AND {rank} = 1")),
        ("orders with one payment", "orders", one_payment.to_owned()),
        ("orders with any payment", "orders", "payments <> '[]'".to_owned()),
    ]
}

/// Compares what is stored with what was acknowledged: nothing lost, nothing doubled. Ids are unique by the schema,
/// so equal numbers are equal sets.
///
/// # Errors
/// The first difference, as a sentence.
pub fn count(database: &Database, acknowledged: u64, tasks: bool) -> Result<(), Failure> {
    let backend = database.backend();
    let task = ("tasks", "task", "1 = 1".to_owned());
    for (name, table, which) in counts(backend).into_iter().chain(tasks.then_some(task)) {
        let sql = format!("SELECT count(*) FROM {} WHERE {which}", backend.table(table));
        let stored = database.texts(&sql)?.into_iter().flatten().flatten().next().unwrap_or_default();
        if stored != acknowledged.to_string() {
            return Err(format!(
                "{acknowledged} admissions were acknowledged, and {stored} {name} are stored"
            )
            .into());
        }
    }
    Ok(())
}

/// A column as text that is the same whenever the value is.
fn compared(backend: Backend, (name, by): (&str, By)) -> String {
    let name = backend.quoted(name);
    match (by, backend) {
        (Length, _) => format!("length({name})"),
        (Value, Backend::Sqlite) => name,
        (Value, Backend::Postgres) => format!("{name}::text"),
        (Value, Backend::Mysql) => format!("CAST({name} AS CHAR)"),
        (Bytes, Backend::Postgres) => format!("encode({name}, 'hex')"),
        (Bytes, Backend::Sqlite | Backend::Mysql) => format!("hex({name})"),
    }
}

/// The rows that notification 0 of `all` left, as text.
///
/// # Errors
/// The database cannot be read.
pub fn sample(database: &Database, all: u64) -> Result<String, Failure> {
    let backend = database.backend();
    let deal = Deal::paid_by(0, all);
    let mut text = String::new();
    for (table, columns, by) in WRITTEN {
        let key = match *table {
            "event" => event(0),
            "payment" | "fact" => deal.intent(),
            _ => deal.order(),
        };
        let compared: Vec<_> = columns.iter().map(|column| compared(backend, *column)).collect();
        let (compared, table_name) = (compared.join(", "), backend.table(table));
        // The key is letters and digits.
        let sql = format!("SELECT {compared} FROM {table_name} WHERE {} = '{key}'", backend.quoted(by));
        for row in database.texts(&sql)? {
            for ((column, _), value) in columns.iter().zip(row) {
                text += &format!("{table}.{column} = {}\n", value.as_deref().unwrap_or("null"));
            }
        }
    }
    Ok(text)
}
