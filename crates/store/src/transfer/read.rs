//! Reading an export back: every line checked before any of it is used.

use std::io::{self, BufRead};

use paidonce_ledger::{Ledger, Row, invariants};

use super::{FORMAT, First, Last, Sum, Summary, VERSION};
use crate::line::{is_elsewhere, read_line};

/// The most bytes that one line may have. (A body has at most a megabyte, and base64 and escapes make more of it.)
const LINE_MAX: u64 = 64 * 1024 * 1024;

/// An export that was read and found whole.
#[derive(Debug, Clone)]
pub struct Export {
    /// All its rows.
    pub ledger: Ledger,
    /// What it comes to.
    pub summary: Summary,
}

/// Why a file is no export.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// A line is damaged.
    #[error("line {line}: {what}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// What is wrong with it. It quotes nothing but names.
        what: String,
    },
    /// Each line is right, and the whole is not.
    #[error("{0}")]
    Whole(String),
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
}

fn wrong(line: usize, what: impl Into<String>) -> FileError {
    FileError::Line { line, what: what.into() }
}

/// The next line with its line feed; `None` at the end.
fn next(from: &mut dyn BufRead, line: &mut Vec<u8>, number: usize) -> Result<bool, FileError> {
    line.clear();
    io::Read::take(&mut *from, LINE_MAX).read_until(b'\n', line)?;
    if line.is_empty() {
        return Ok(false);
    }
    if line.last() == Some(&b'\n') {
        return Ok(true);
    }
    Err(wrong(number, "it is not whole: the file was cut off here, or is none; export again"))
}

fn first(line: &[u8]) -> Result<First, FileError> {
    let first = serde_json::from_slice::<First>(line).ok().filter(|first| first.format == FORMAT);
    let first = first.ok_or_else(|| wrong(1, "this is no export of paidonce: its first line must say so"))?;
    if first.version > VERSION {
        let what =
            format!("it is of version {}, written by a newer paidonce: update this one", first.version);
        return Err(wrong(1, what));
    }
    Ok(first)
}

/// Reads a whole export. `at` is told how many rows were read and how many there are.
///
/// # Errors
/// A line that is damaged, by its number; an end that does not come, or does not agree with what came before; or
/// rows that break a promise together.
pub fn read(from: &mut dyn BufRead, at: &mut dyn FnMut(usize, usize)) -> Result<Export, FileError> {
    let mut line = Vec::new();
    if !next(from, &mut line, 1)? {
        return Err(wrong(1, "the file is empty"));
    }
    let total = first(&line)?.rows;
    let (mut ledger, mut sum) = (Ledger::whole(), Sum::default());
    for number in 2.. {
        if !next(from, &mut line, number)? {
            return Err(wrong(number, "the end is missing: the file was cut off; export again"));
        }
        if line.starts_with(b"{\"end\":") {
            let last: Last =
                serde_json::from_slice(&line).map_err(|error| wrong(number, error.to_string()))?;
            agrees(&last.end, sum.finish(), &ledger)?;
            if next(from, &mut line, number + 1)? {
                return Err(wrong(number + 1, "there is more after the end"));
            }
            sound(&ledger)?;
            return Ok(Export { ledger, summary: last.end });
        }
        let row = read_line(&line).map_err(|error| wrong(number, error.to_string()))?;
        if lacks_bytes(&row) {
            return Err(wrong(
                number,
                "its body has a digest and no bytes, and nothing says that they were dropped",
            ));
        }
        if ledger.holds(&row).is_some() {
            return Err(wrong(number, "a row with this key came before"));
        }
        ledger.load_row(row);
        sum.add(&line);
        at(sum.rows, total);
    }
    Err(FileError::Whole("it has more lines than can be counted".to_owned()))
}

/// Whether bytes are missing that were never dropped: a document's own lines have their bodies in archives.
fn lacks_bytes(row: &Row) -> bool {
    match row {
        Row::Event(_, event) => event.dropped_at.is_none() && is_elsewhere(&event.body),
        Row::Case(_, case) => case.body.as_ref().is_some_and(is_elsewhere),
        _ => false,
    }
}

fn agrees(end: &Summary, read: Summary, ledger: &Ledger) -> Result<(), FileError> {
    if end.rows != read.rows || ledger.len() != read.rows {
        let what = format!("it has {} rows, and says at its end that they are {}", read.rows, end.rows);
        return Err(FileError::Whole(what));
    }
    if *end == read {
        return Ok(());
    }
    let what = "its rows are not those that its end was written for: a line was changed; export again";
    Err(FileError::Whole(what.to_owned()))
}

fn sound(ledger: &Ledger) -> Result<(), FileError> {
    let broken = invariants::check(ledger);
    match &broken[..] {
        [] => Ok(()),
        [first, ..] => Err(FileError::Whole(format!(
            "its rows break {} promise(s), the first is {first}; run `paidonce audit` where it came from",
            broken.len()
        ))),
    }
}
