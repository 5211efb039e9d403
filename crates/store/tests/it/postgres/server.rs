//! The Postgres server that tests use: the one at `PAIDONCE_TEST_POSTGRES`, else the one at its usual port.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use paidonce_store::PostgresOptions;
use sqlx::{AssertSqlSafe, Connection, PgConnection, Row};

pub(crate) fn url() -> String {
    // Without TLS: a handshake for each test costs more than the test.
    let usual = || "postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable".to_owned();
    std::env::var("PAIDONCE_TEST_POSTGRES").unwrap_or_else(|_| usual())
}

/// Why there is no server to test with.
pub(crate) fn missing() -> Option<String> {
    static MISSING: OnceLock<Option<String>> = OnceLock::new();
    let try_it = || {
        let error = wait_for(PgConnection::connect(&url())).err()?;
        Some(format!("no Postgres answers at {} (PAIDONCE_TEST_POSTGRES): {error}", url()))
    };
    MISSING.get_or_init(try_it).clone()
}

pub(crate) fn wait_for<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// A schema that goes when the test does.
pub(crate) struct Schema {
    pub(crate) name: String,
}

impl Default for Schema {
    fn default() -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let n = MADE.fetch_add(1, Ordering::Relaxed);
        let schema = Self { name: format!("paidonce_test_{}_{n}", std::process::id()) };
        schema.drop_it();
        schema
    }
}

impl Schema {
    pub(crate) fn options(&self) -> PostgresOptions {
        PostgresOptions { schema: self.name.clone(), ..PostgresOptions::default() }
    }

    pub(crate) fn execute(&self, sql: &str) {
        wait_for(async {
            let mut connection = PgConnection::connect(&url()).await.unwrap();
            sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
        });
    }

    pub(crate) fn count(&self, table: &str) -> i64 {
        wait_for(async {
            let mut connection = PgConnection::connect(&url()).await.unwrap();
            let sql = AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
            sqlx::query(sql).fetch_one(&mut connection).await.unwrap().get(0)
        })
    }

    /// Empties every table. (Faster than a new schema.)
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
        let sql: String = tables.iter().map(|table| format!("DELETE FROM {}.{table};", self.name)).collect();
        self.execute(&sql);
    }

    fn drop_it(&self) {
        self.execute(&format!("DROP SCHEMA IF EXISTS {} CASCADE", self.name));
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        self.drop_it();
    }
}
