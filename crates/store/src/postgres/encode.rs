//! Between the shared columns and Postgres's arrays and values. No statements here.

use std::borrow::Cow;

use sqlx::postgres::{PgArguments, PgRow};
use sqlx::{Arguments, Row};

use super::error::sql_error;
use crate::row::{Cells, Column, Kind, corrupt};
use crate::{Result, StoreError, StoreErrorKind};

/// Before a text that Postgres cannot hold as it is, which is then written as hex digits. No id begins with it.
const ODD: char = '\u{1}';

pub(super) fn array_type(kind: Kind) -> &'static str {
    match kind {
        // An amount travels as decimal text.
        Kind::Text | Kind::Amount => "text[]",
        Kind::Int => "bigint[]",
        Kind::Blob => "bytea[]",
    }
}

/// Postgres holds no NUL in a text, and providers send what they like.
fn to_postgres(text: &str) -> Cow<'_, str> {
    if !text.contains('\0') && !text.starts_with(ODD) {
        return Cow::Borrowed(text);
    }
    let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    Cow::Owned(format!("{ODD}{hex}"))
}

fn from_postgres(text: &str) -> Result<Cow<'_, str>> {
    let Some(hex) = text.strip_prefix(ODD) else { return Ok(Cow::Borrowed(text)) };
    let byte = |at: usize| hex.get(at..at + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    let bytes: Option<Vec<u8>> = (0..hex.len()).step_by(2).map(byte).collect();
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    text.map(Cow::Owned).ok_or_else(|| corrupt("a text that was written as hex digits and is none"))
}

fn mismatch() -> StoreError {
    StoreError::new(StoreErrorKind::Internal, "a row has another shape than its table")
}

fn add<'a>(
    to: &mut PgArguments,
    value: impl sqlx::Encode<'a, sqlx::Postgres> + sqlx::Type<sqlx::Postgres> + 'a,
) -> Result<()> {
    to.add(value).map_err(|error| {
        StoreError::new(StoreErrorKind::Internal, "a value cannot be sent to Postgres").caused_by(error)
    })
}

/// One array a column, of the columns `which` of all rows.
pub(super) fn arrays(
    columns: &[(&'static str, Kind)],
    which: impl IntoIterator<Item = usize>,
    rows: &[Vec<Column<'_>>],
) -> Result<PgArguments> {
    let mut arguments = PgArguments::default();
    for at in which {
        let cells = rows.iter().map(|row| &row[at]);
        match columns[at].1 {
            Kind::Text | Kind::Amount => {
                let text = |cell| match cell {
                    &Column::Null => Ok(None),
                    Column::Text(text) => Ok(Some(to_postgres(text))),
                    _ => Err(mismatch()),
                };
                add(&mut arguments, cells.map(text).collect::<Result<Vec<_>>>()?)?;
            }
            Kind::Int => {
                let int = |cell: &Column<'_>| match cell {
                    Column::Null => Ok(None),
                    Column::Int(n) => Ok(Some(*n)),
                    _ => Err(mismatch()),
                };
                add(&mut arguments, cells.map(int).collect::<Result<Vec<_>>>()?)?;
            }
            Kind::Blob => {
                let bytes = |cell| match cell {
                    &Column::Null => Ok(None),
                    Column::Blob(bytes) => Ok(Some(&**bytes)),
                    _ => Err(mismatch()),
                };
                add(&mut arguments, cells.map(bytes).collect::<Result<Vec<Option<&[u8]>>>>()?)?;
            }
        }
    }
    Ok(arguments)
}

/// Single values, for listings.
pub(super) fn values(columns: &[Column<'_>]) -> Result<PgArguments> {
    let mut arguments = PgArguments::default();
    for column in columns {
        match column {
            Column::Null => add(&mut arguments, None::<&str>)?,
            Column::Int(n) => add(&mut arguments, *n)?,
            Column::Text(text) => add(&mut arguments, to_postgres(text))?,
            Column::Blob(bytes) => add(&mut arguments, &**bytes)?,
        }
    }
    Ok(arguments)
}

impl Cells for PgRow {
    fn text(&self, at: usize) -> Result<Option<Cow<'_, str>>> {
        let text: Option<&str> = self.try_get(at).map_err(sql_error)?;
        text.map(from_postgres).transpose()
    }

    fn int(&self, at: usize) -> Result<Option<i64>> {
        self.try_get(at).map_err(sql_error)
    }

    fn blob(&self, at: usize) -> Result<Option<&[u8]>> {
        self.try_get(at).map_err(sql_error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_whatever_they_hold() {
        for text in ["", "plain", "a\0b", "\0", "\u{1}", "\u{1}00", "é\0"] {
            let stored = to_postgres(text);
            assert!(!stored.contains('\0'));
            assert_eq!(from_postgres(&stored).expect("it was written so"), text);
        }
        assert!(from_postgres("\u{1}0").is_err() && from_postgres("\u{1}xx").is_err());
    }
}
