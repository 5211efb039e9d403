//! What is done often, as this server is told it, with values in place of the marks: for a test to ask the server how it
//! would run it.

use super::MysqlTables;
use super::sql::{CHUNKS, sql};
use crate::Result;
use crate::hot::{Texts, statements};
use crate::row::Stored;
use crate::server::Lock;

impl MysqlTables {
    /// Each statement, ready to be explained.
    ///
    /// # Errors
    /// None; listings could refuse a cursor, and there is none.
    pub fn hot_statements() -> Result<Vec<String>> {
        Ok(statements::<Self>()?.iter().map(|sql| filled(sql)).collect())
    }
}

impl Texts for MysqlTables {
    /// Reads in every size; locked where the whole key is given; and the update of one row.
    fn by_keys<T: Stored>(given: usize) -> Vec<String> {
        let sql = sql::<T>();
        let mut all = Vec::new();
        for at in 0..CHUNKS.len() {
            all.push(sql.by(given, Lock::None)[at].to_string());
            if given == T::SHAPE.keys {
                all.push(sql.by(given, Lock::Wait)[at].to_string());
            }
        }
        all.push(sql.update.to_string());
        all
    }

    fn list<T: Stored>() -> String {
        sql::<T>().list.to_string()
    }
}

/// Marks as values: a limit is a number, and what is compared with a time may be one too.
fn filled(sql: &str) -> String {
    let sql = sql.replace("LIMIT ?", "LIMIT 10").replace("due_at <= ?", "due_at <= 10");
    let mut pieces = sql.split('?');
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    for (n, piece) in pieces.enumerate() {
        filled.push_str(&format!("'{n}'{piece}"));
    }
    filled
}
