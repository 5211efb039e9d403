//! The MariaDB or MySQL server that tests use: the one at `PAIDONCE_TEST_MYSQL`, else the one at its usual port. The URL
//! names no database.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::{AssertSqlSafe, Connection, MySqlConnection, Row};

pub(crate) use crate::postgres::server::wait_for;

/// The server's URL, without a database and without options.
pub(crate) fn url() -> String {
    std::env::var("PAIDONCE_TEST_MYSQL").unwrap_or_else(|_| "mysql://root@127.0.0.1:3306".to_owned())
}

/// Why there is no server to test with.
pub(crate) fn missing() -> Option<String> {
    static MISSING: OnceLock<Option<String>> = OnceLock::new();
    let try_it = || {
        let error = wait_for(MySqlConnection::connect(&url())).err()?;
        Some(format!("no MariaDB or MySQL answers at {} (PAIDONCE_TEST_MYSQL): {error}", url()))
    };
    MISSING.get_or_init(try_it).clone()
}

/// A database that goes when the test does.
pub(crate) struct Database {
    pub(crate) name: String,
}

impl Default for Database {
    fn default() -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let n = MADE.fetch_add(1, Ordering::Relaxed);
        let database = Self { name: format!("paidonce_test_{}_{n}", std::process::id()) };
        database.execute(&format!("DROP DATABASE IF EXISTS {0}; CREATE DATABASE {0}", database.name));
        database
    }
}

impl Database {
    pub(crate) fn url(&self) -> String {
        format!("{}/{}", url(), self.name)
    }

    pub(crate) fn execute(&self, sql: &str) {
        wait_for(async {
            let mut connection = MySqlConnection::connect(&url()).await.unwrap();
            sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
        });
    }

    pub(crate) fn count(&self, table: &str) -> i64 {
        wait_for(async {
            let mut connection = MySqlConnection::connect(&url()).await.unwrap();
            let sql = AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
            sqlx::query(sql).fetch_one(&mut connection).await.unwrap().get(0)
        })
    }

    /// Empties every table. (Faster than a new database.)
    pub(crate) fn clear(&self) {
        let tables = [
            "reference",
            "orders",
            "payment",
            "fact",
            "event",
            "task",
            "attempt",
            "entitlement",
            "product",
            "cases",
            "command",
            "audit",
            "api_key",
        ];
        let sql: Vec<_> =
            tables.iter().map(|table| format!("DELETE FROM {}.paidonce_{table}", self.name)).collect();
        self.execute(&format!("START TRANSACTION; {}; COMMIT", sql.join("; ")));
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.execute(&format!("DROP DATABASE {}", self.name));
    }
}
