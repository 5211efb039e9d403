//! Writing everything that a ledger holds. The order of the lines is the rows' own, so equal ledgers give equal exports.

use std::io::{self, Write};

use paidonce_ledger::Ledger;

use super::{FORMAT, First, Last, Sum, Summary, VERSION};
use crate::line::{LineError, write_lines};

impl From<LineError> for io::Error {
    fn from(error: LineError) -> Self {
        Self::other(error)
    }
}

/// Writes a whole ledger, as [`crate::Store::snapshot`] gives it. `at` is told how many rows are written.
///
/// # Errors
/// It cannot be written.
pub fn export(ledger: &Ledger, to: &mut dyn Write, at: &mut dyn FnMut(usize)) -> io::Result<Summary> {
    let first = First { format: FORMAT.to_owned(), version: VERSION, rows: ledger.len() };
    line(to, &first)?;
    let mut sum = Sum::default();
    write_lines::<io::Error>(ledger, |line| {
        sum.add(line);
        at(sum.rows);
        to.write_all(line)
    })?;
    let end = sum.finish();
    line(to, &Last { end: end.clone() })?;
    to.flush()?;
    Ok(end)
}

fn line(to: &mut dyn Write, value: &impl serde::Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *to, value)?;
    to.write_all(b"\n")
}

/// What an export of this ledger would come to.
pub(super) fn summary(ledger: &Ledger) -> io::Result<Summary> {
    export(ledger, &mut io::sink(), &mut |_| {})
}
