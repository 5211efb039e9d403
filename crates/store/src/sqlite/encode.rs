//! Between the shared columns and SQLite's own values. No statements here.

use std::borrow::Cow;

use rusqlite::types::{ToSql, ToSqlOutput, Value, ValueRef};

use super::sql_error;
use crate::Result;
use crate::row::{Cells, Column, corrupt};

impl ToSql for Column<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Column::Null => ToSqlOutput::Owned(Value::Null),
            Column::Int(n) => ToSqlOutput::Owned(Value::Integer(*n)),
            Column::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Column::Blob(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}

impl Cells for rusqlite::Row<'_> {
    fn text(&self, at: usize) -> Result<Option<Cow<'_, str>>> {
        match self.get_ref(at).map_err(sql_error)? {
            ValueRef::Null => Ok(None),
            ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Ok(Some(Cow::Borrowed(text))),
                Err(_) => Err(corrupt("text that is not UTF-8")),
            },
            _ => Err(corrupt("a column that is not text")),
        }
    }

    fn int(&self, at: usize) -> Result<Option<i64>> {
        match self.get_ref(at).map_err(sql_error)? {
            ValueRef::Null => Ok(None),
            ValueRef::Integer(n) => Ok(Some(n)),
            _ => Err(corrupt("a column that is no integer")),
        }
    }

    fn blob(&self, at: usize) -> Result<Option<&[u8]>> {
        match self.get_ref(at).map_err(sql_error)? {
            ValueRef::Null => Ok(None),
            ValueRef::Blob(bytes) => Ok(Some(bytes)),
            _ => Err(corrupt("a column that is no blob")),
        }
    }
}
