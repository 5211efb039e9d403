//! The places that servers share: a database or a document of its own for each test.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use paidonce_store::{
    DocumentOptions, DocumentProbe, DocumentStore, MysqlOptions, MysqlStore, PostgresOptions,
};
use paidonce_store::{PostgresStore, SqliteOptions, SqliteStore, Store};
use sqlx::{AssertSqlSafe, Connection, MySqlConnection, PgConnection};

use super::moto;

fn postgres_server() -> String {
    std::env::var("PAIDONCE_TEST_POSTGRES")
        .unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable".to_owned())
}

/// Names no database.
fn mysql_server() -> String {
    std::env::var("PAIDONCE_TEST_MYSQL").unwrap_or_else(|_| "mysql://root@127.0.0.1:3306".to_owned())
}

fn nats_server() -> String {
    std::env::var("PAIDONCE_TEST_NATS").unwrap_or_else(|_| "nats://127.0.0.1:4222".to_owned())
}

fn wait_for<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn name() -> String {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    format!("kill_{}_{}_{}", std::process::id(), since.as_millis(), MADE.fetch_add(1, Ordering::Relaxed))
}

fn on_postgres(sql: String) -> sqlx::Result<()> {
    wait_for(async {
        let mut connection = PgConnection::connect(&postgres_server()).await?;
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.map(|_| ())
    })
}

fn on_mysql(sql: String) -> sqlx::Result<()> {
    wait_for(async {
        let mut connection = MySqlConnection::connect(&mysql_server()).await?;
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.map(|_| ())
    })
}

/// A store that several servers can share.
pub(super) enum Shared {
    /// In the folder of the configuration.
    Sqlite,
    Postgres(String),
    Mysql(String),
    S3(String),
    Nats(String),
}

impl Shared {
    pub(super) fn postgres() -> Self {
        let name = name();
        on_postgres(format!("CREATE DATABASE {name}")).unwrap();
        Self::Postgres(name)
    }

    pub(super) fn mysql() -> Self {
        let name = name();
        on_mysql(format!("CREATE DATABASE {name}")).unwrap();
        Self::Mysql(name)
    }

    pub(super) fn s3() -> Self {
        Self::S3(name())
    }

    pub(super) fn nats() -> Self {
        Self::Nats(name())
    }

    /// Whether all of it is written at every commit.
    pub(super) fn is_document(&self) -> bool {
        matches!(self, Self::S3(_) | Self::Nats(_))
    }

    /// As a configuration writes it.
    pub(super) fn url(&self) -> String {
        match self {
            Self::Sqlite => "sqlite:kill.db".to_owned(),
            Self::Postgres(name) => {
                let server = postgres_server();
                let (server, options) = server.split_once('?').unwrap_or((&server, ""));
                let host = server.rsplit_once('/').map_or(server, |(host, _)| host);
                format!("{host}/{name}?{options}")
            }
            Self::Mysql(name) => format!("{}/{name}", mysql_server()),
            Self::S3(name) => moto::url(name),
            Self::Nats(name) => format!("{}/paidonce-kill/{name}", nats_server()),
        }
    }

    /// What its servers find in their environment.
    pub(super) fn environment(&self) -> Vec<(String, String)> {
        if matches!(self, Self::S3(_)) { moto::settings() } else { vec![] }
    }

    /// Opens it once more, for looking.
    pub(super) fn open(&self, folder: &std::path::Path) -> Arc<dyn Store> {
        let document = DocumentOptions { probe: DocumentProbe::Never, ..DocumentOptions::default() };
        match self {
            Self::Sqlite => {
                Arc::new(SqliteStore::open(folder.join("kill.db"), SqliteOptions::default()).unwrap())
            }
            Self::Postgres(_) => {
                Arc::new(PostgresStore::open(&self.url(), PostgresOptions::default()).unwrap())
            }
            Self::Mysql(_) => Arc::new(MysqlStore::open(&self.url(), MysqlOptions::default()).unwrap()),
            Self::S3(_) => {
                Arc::new(DocumentStore::open_object(&self.url(), &moto::settings(), &document).unwrap())
            }
            Self::Nats(_) => Arc::new(DocumentStore::open_nats(&self.url(), &document).unwrap()),
        }
    }

    /// Why there is no server for it.
    pub(super) fn missing(kind: &str) -> Option<String> {
        let absent = |error: String| Some(format!("nothing answers: {error}"));
        match kind {
            "postgres" => {
                on_postgres("SELECT 1".to_owned()).err().and_then(|error| absent(error.to_string()))
            }
            "mysql" => on_mysql("SELECT 1".to_owned()).err().and_then(|error| absent(error.to_string())),
            "s3" => moto::missing(),
            _ => {
                let store = DocumentStore::open_nats(&Self::nats().url(), &DocumentOptions::default());
                store.err().and_then(|error| absent(error.to_string()))
            }
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let dropped = match self {
            Self::Postgres(name) => on_postgres(format!("DROP DATABASE {name} WITH (FORCE)")),
            Self::Mysql(name) => on_mysql(format!("DROP DATABASE {name}")),
            Self::Sqlite | Self::S3(_) | Self::Nats(_) => Ok(()),
        };
        // A test that has failed already says more.
        if !std::thread::panicking() {
            dropped.unwrap();
        }
    }
}
