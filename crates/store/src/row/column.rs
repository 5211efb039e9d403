//! One column's value on its way in, and the reading of columns by position. No driver, no statements.

use std::borrow::Cow;
use std::sync::Arc;

use paidonce_ledger::{Account, Digest, Timestamp};

use super::word::parse_account;
use crate::{Result, StoreError, StoreErrorKind};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Int,
    Blob,
    /// An exact integer of up to 39 digits, which travels as decimal text.
    Amount,
}

/// One column's value on its way in.
#[derive(Debug, Clone)]
pub(crate) enum Column<'a> {
    Null,
    Int(i64),
    Text(Cow<'a, str>),
    Blob(Cow<'a, [u8]>),
}

pub(crate) fn text(text: &str) -> Column<'_> {
    Column::Text(Cow::Borrowed(text))
}

pub(crate) fn owned(text: impl Into<String>) -> Column<'static> {
    Column::Text(Cow::Owned(text.into()))
}

pub(crate) fn blob(bytes: &[u8]) -> Column<'_> {
    Column::Blob(Cow::Borrowed(bytes))
}

/// Thirty-two bytes of its own.
pub(crate) fn digest(digest: Digest) -> Column<'static> {
    Column::Blob(Cow::Owned(digest.0.to_vec()))
}

pub(crate) fn int(n: i64) -> Column<'static> {
    Column::Int(n)
}

/// Revisions and counters: an i64 holds more of them than anybody lives to see.
pub(crate) fn count(n: u64) -> Column<'static> {
    int(i64::try_from(n).unwrap_or(i64::MAX))
}

pub(crate) fn time(at: Timestamp) -> Column<'static> {
    int(at.0)
}

pub(crate) fn maybe<'a, T>(value: Option<T>, column: impl Fn(T) -> Column<'a>) -> Column<'a> {
    value.map_or(Column::Null, column)
}

pub(crate) fn json(value: &impl serde::Serialize) -> Result<Column<'static>> {
    serde_json::to_string(value).map(owned).map_err(|error| {
        StoreError::new(StoreErrorKind::Internal, "a row cannot be written as JSON").caused_by(error)
    })
}

pub(crate) fn corrupt(what: impl Into<String>) -> StoreError {
    let what = what.into();
    StoreError::new(StoreErrorKind::Corrupt, format!("the database holds what paidonce never wrote: {what}"))
}

/// A driver's row.
pub(crate) trait Cells {
    fn text(&self, at: usize) -> Result<Option<Cow<'_, str>>>;
    fn int(&self, at: usize) -> Result<Option<i64>>;
    fn blob(&self, at: usize) -> Result<Option<&[u8]>>;
}

/// Reads columns by position.
pub(crate) struct Reader<'a> {
    row: &'a dyn Cells,
    next: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(row: &'a dyn Cells) -> Self {
        Self { row, next: 0 }
    }

    fn step(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    pub(crate) fn maybe_text(&mut self) -> Result<Option<Cow<'a, str>>> {
        let at = self.step();
        self.row.text(at)
    }

    pub(crate) fn text(&mut self) -> Result<Cow<'a, str>> {
        self.maybe_text()?.ok_or_else(|| corrupt("a text column that is null"))
    }

    pub(crate) fn maybe_int(&mut self) -> Result<Option<i64>> {
        let at = self.step();
        self.row.int(at)
    }

    pub(crate) fn int(&mut self) -> Result<i64> {
        self.maybe_int()?.ok_or_else(|| corrupt("an integer column that is null"))
    }

    pub(crate) fn number<T: TryFrom<i64>>(&mut self) -> Result<T> {
        T::try_from(self.int()?).map_err(|_| corrupt("a number out of range"))
    }

    pub(crate) fn maybe_blob(&mut self) -> Result<Option<&'a [u8]>> {
        let at = self.step();
        self.row.blob(at)
    }

    pub(crate) fn blob(&mut self) -> Result<&'a [u8]> {
        self.maybe_blob()?.ok_or_else(|| corrupt("a blob column that is null"))
    }

    pub(crate) fn time(&mut self) -> Result<Timestamp> {
        self.int().map(Timestamp)
    }

    pub(crate) fn maybe_time(&mut self) -> Result<Option<Timestamp>> {
        Ok(self.maybe_int()?.map(Timestamp))
    }

    pub(crate) fn digest(&mut self) -> Result<Digest> {
        self.blob()?.try_into().map(Digest).map_err(|_| corrupt("a digest that is not 32 bytes"))
    }

    pub(crate) fn maybe_digest(&mut self) -> Result<Option<Digest>> {
        let bytes = self.maybe_blob()?.map(<[u8; 32]>::try_from).transpose();
        Ok(bytes.map_err(|_| corrupt("a digest that is not 32 bytes"))?.map(Digest))
    }

    pub(crate) fn json<T: serde::de::DeserializeOwned>(&mut self) -> Result<T> {
        serde_json::from_str(&self.text()?).map_err(|error| corrupt("JSON").caused_by(error))
    }

    pub(crate) fn maybe_json<T: serde::de::DeserializeOwned>(&mut self) -> Result<Option<T>> {
        let Some(text) = self.maybe_text()? else { return Ok(None) };
        serde_json::from_str(&text).map(Some).map_err(|error| corrupt("JSON").caused_by(error))
    }

    /// Shared text: a trace context, a person's name.
    pub(crate) fn trace(&mut self) -> Result<Option<Arc<str>>> {
        Ok(self.maybe_text()?.map(Arc::from))
    }

    /// A text that one of the ledger's own parsers must take.
    pub(crate) fn parse<T>(&mut self, parse: impl Fn(&str) -> Option<T>) -> Result<T> {
        let text = self.text()?;
        parse(&text).ok_or_else(|| corrupt(format!("{text:?}")))
    }

    pub(crate) fn id<T: std::str::FromStr>(&mut self) -> Result<T> {
        self.parse(|text| text.parse().ok())
    }

    pub(crate) fn maybe_id<T: std::str::FromStr>(&mut self) -> Result<Option<T>> {
        let Some(text) = self.maybe_text()? else { return Ok(None) };
        text.parse().map(Some).map_err(|_| corrupt(format!("{text:?}")))
    }

    pub(crate) fn amount(&mut self) -> Result<i128> {
        self.parse(|text| text.parse().ok())
    }

    pub(crate) fn maybe_amount(&mut self) -> Result<Option<i128>> {
        self.maybe_id()
    }

    pub(crate) fn account(&mut self) -> Result<Account> {
        self.parse(parse_account)
    }
}
