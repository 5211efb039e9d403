//! What is done often, as SQLite is told it: for a test to ask how it would run it.

use super::SqliteTables;
use super::sql::sql;
use crate::Result;
use crate::hot::{Texts, statements};
use crate::row::Stored;

impl SqliteTables {
    /// Each statement, ready to be explained.
    ///
    /// # Errors
    /// None; listings could refuse a cursor, and there is none.
    pub fn hot_statements() -> Result<Vec<String>> {
        statements::<Self>()
    }
}

impl Texts for SqliteTables {
    fn by_keys<T: Stored>(given: usize) -> Vec<String> {
        vec![sql::<T>().select[given].clone(), sql::<T>().update.clone()]
    }

    fn list<T: Stored>() -> String {
        sql::<T>().list.clone()
    }
}
