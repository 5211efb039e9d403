//! One row as one line of JSON: `{"table":"orders","key":...,"row":...}`. The document store's contents and exports are
//! such lines. What a line looked like in any released version is read for ever; it does not say where lines go.

mod shape;
mod value;

use paidonce_ledger::{
    ApiKey, Attempt, Audit, Case, CommandRecord, Entitlement, Event, FactValue, Ledger, Order, Payment,
    Product, Reference, Row, Task,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use shape::{Shape, Shown};
pub(crate) use value::is_elsewhere;

/// The version of the lines' shape that this program writes.
pub const LINE_VERSION: u32 = 1;

#[derive(Serialize)]
#[serde(bound = "")]
struct Written<'a, T: Shape> {
    table: &'static str,
    key: Shown<'a, T::KeyShape, T::Key>,
    row: Shown<'a, T::RowShape, T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    archive: Option<&'a str>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read<'a> {
    table: String,
    #[serde(borrow)]
    key: &'a RawValue,
    #[serde(borrow)]
    row: &'a RawValue,
    archive: Option<String>,
}

/// A line that was read: the row, and the archive that its body was moved to, if it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) row: Row,
    pub(crate) archive: Option<String>,
}

/// Why a line is none.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct LineError(String);

impl From<serde_json::Error> for LineError {
    // serde_json quotes no values but numbers, strings of unknown variants and names of members.
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

fn write<T: Shape>(key: &T::Key, row: &T, archive: Option<&str>, out: &mut Vec<u8>) -> Result<(), LineError> {
    let line = Written::<T> { table: T::TABLE, key: Shown::new(key), row: Shown::new(row), archive };
    serde_json::to_writer(&mut *out, &line)?;
    out.push(b'\n');
    Ok(())
}

macro_rules! tables {
    ($($name:ident $variant:ident: $row:ty,)+) => {
        /// Writes every row, table by table and each by key, without their archives.
        ///
        /// # Errors
        /// What `each` answers, or a row that JSON cannot say.
        pub fn write_lines<E: From<LineError>>(
            ledger: &Ledger,
            mut each: impl FnMut(&[u8]) -> Result<(), E>,
        ) -> Result<(), E> {
            let mut line = Vec::new();
            $(for (key, row) in ledger.$name.rows() {
                line.clear();
                write::<$row>(key, row, None, &mut line)?;
                each(&line)?;
            })+
            Ok(())
        }

        /// Every row, in the lines' order.
        pub(crate) fn rows(ledger: &Ledger) -> impl Iterator<Item = Row> + '_ {
            std::iter::empty()$(.chain(
                ledger.$name.rows().iter().map(|(key, row)| Row::$variant(key.clone(), row.clone()))
            ))+
        }

        fn read_row(read: &Read<'_>) -> Result<Row, LineError> {
            $(if read.table == <$row as Shape>::TABLE {
                let key = shape::read::<<$row as Shape>::KeyShape, _>(read.key)?;
                return Ok(Row::$variant(key, shape::read::<<$row as Shape>::RowShape, _>(read.row)?));
            })+
            Err(LineError("it names a table that this version does not know".to_owned()))
        }

        /// Writes every row into one text. `archive` says where an event's body was moved to.
        #[cfg(feature = "document")]
        pub(crate) fn write_all(
            ledger: &Ledger,
            archives: &std::collections::BTreeMap<paidonce_ledger::EventKey, std::sync::Arc<str>>,
            out: &mut Vec<u8>,
        ) -> Result<(), LineError> {
            $(for (key, row) in ledger.$name.rows() {
                write::<$row>(key, row, <$row as Shape>::archive(key, archives), out)?;
            })+
            Ok(())
        }
    };
}

// The order of the lines. The work that is due comes last, so that nothing can be granted from half an import.
tables! {
    events Event: Event,
    payments Payment: Payment,
    facts Fact: FactValue,
    products Product: Product,
    orders Order: Order,
    references Reference: Reference,
    entitlements Entitlement: Entitlement,
    cases Case: Case,
    commands Command: CommandRecord,
    audits Audit: Audit,
    api_keys ApiKey: ApiKey,
    attempts Attempt: Attempt,
    tasks Task: Task,
}

/// Reads one line, with or without its line feed.
///
/// # Errors
/// It is no line of a version that is known.
pub fn read_line(line: &[u8]) -> Result<Row, LineError> {
    read(line).map(|line| line.row)
}

pub(crate) fn read(line: &[u8]) -> Result<Line, LineError> {
    let read: Read<'_> = serde_json::from_slice(line)?;
    Ok(Line { row: read_row(&read)?, archive: read.archive })
}

/// Writes one body, for an archive.
#[cfg(feature = "document")]
pub(crate) fn write_body(body: &paidonce_ledger::Body, out: &mut Vec<u8>) -> Result<(), LineError> {
    serde_json::to_writer(&mut *out, &value::OneBody(body.clone()))?;
    out.push(b'\n');
    Ok(())
}

#[cfg(feature = "document")]
pub(crate) fn read_body(line: &[u8]) -> Result<paidonce_ledger::Body, LineError> {
    Ok(serde_json::from_slice::<value::OneBody>(line)?.0)
}
