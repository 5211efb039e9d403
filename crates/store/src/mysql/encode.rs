//! Between the shared columns and MySQL's values: texts travel as bytes, so that no character set is between.

use std::borrow::Cow;

use sqlx::mysql::{MySqlArguments, MySqlRow};
use sqlx::{Arguments, Row};

use super::error::sql_error;
use crate::row::{Cells, Column, corrupt};
use crate::{Result, StoreError, StoreErrorKind};

pub(super) fn add(arguments: &mut MySqlArguments, column: &Column<'_>) -> Result<()> {
    let added = match column {
        Column::Null => arguments.add(None::<i64>),
        Column::Int(n) => arguments.add(*n),
        Column::Text(text) => arguments.add(text.as_bytes()),
        Column::Blob(bytes) => arguments.add(&**bytes),
    };
    added.map_err(|error| {
        StoreError::new(StoreErrorKind::Internal, "a value cannot be sent to the server").caused_by(error)
    })
}

pub(super) fn values<'a, 'b: 'a>(
    columns: impl IntoIterator<Item = &'a Column<'b>>,
) -> Result<MySqlArguments> {
    let mut arguments = MySqlArguments::default();
    columns.into_iter().try_for_each(|column| add(&mut arguments, column))?;
    Ok(arguments)
}

/// About as many bytes as a column takes on its way.
pub(super) fn size(column: &Column<'_>) -> usize {
    match column {
        Column::Null | Column::Int(_) => 8,
        Column::Text(text) => text.len(),
        Column::Blob(bytes) => bytes.len(),
    }
}

// The column types are the migrations' own: the driver's check of them knows only its own mapping.
impl Cells for MySqlRow {
    fn text(&self, at: usize) -> Result<Option<Cow<'_, str>>> {
        let Some(bytes) = self.blob(at)? else { return Ok(None) };
        let text = std::str::from_utf8(bytes).map_err(|_| corrupt("text that is not UTF-8"))?;
        Ok(Some(Cow::Borrowed(text)))
    }

    fn int(&self, at: usize) -> Result<Option<i64>> {
        self.try_get_unchecked(at).map_err(sql_error)
    }

    fn blob(&self, at: usize) -> Result<Option<&[u8]>> {
        self.try_get_unchecked(at).map_err(sql_error)
    }
}
