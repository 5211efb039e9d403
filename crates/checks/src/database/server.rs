//! A database on a server: made, copied, asked and dropped by SQL.

use sqlx::{AssertSqlSafe, Connection, MySqlConnection, PgConnection, Row};

use paidonce_store::{MysqlOptions, MysqlStore};

use super::{Backend, Failure, Texts};

/// One database on a server.
#[derive(Debug)]
pub struct Server {
    pub(super) backend: Backend,
    name: String,
}

fn wait_for<T>(future: impl Future<Output = sqlx::Result<T>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(future)?)
}

/// The server's URL with another database in it.
fn with_database(url: &str, name: &str) -> String {
    let (place, options) = url.split_once('?').map_or((url, String::new()), |(p, o)| (p, format!("?{o}")));
    let host = place.find("://").map_or(0, |at| at + 3);
    let place = place[host..].find('/').map_or(place, |slash| &place[..host + slash]);
    format!("{place}/{name}{options}")
}

impl Server {
    pub(super) fn new(backend: Backend, name: &str) -> Result<Self, Failure> {
        if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err(format!("{name} is no name for a database").into());
        }
        Ok(Self { backend, name: name.to_owned() })
    }

    fn server(&self) -> String {
        let (variable, usual) = match self.backend {
            Backend::Mysql => ("PAIDONCE_TEST_MYSQL", "mysql://root@127.0.0.1:3306"),
            _ => ("PAIDONCE_TEST_POSTGRES", "postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable"),
        };
        std::env::var(variable).unwrap_or_else(|_| usual.to_owned())
    }

    pub(super) fn url(&self) -> String {
        with_database(&self.server(), &self.name)
    }

    /// Runs statements one by one, each in a transaction of its own.
    fn execute(&self, url: &str, statements: &[String]) -> Result<(), Failure> {
        wait_for(async {
            if self.backend == Backend::Mysql {
                let mut connection = MySqlConnection::connect(url).await?;
                for sql in statements {
                    sqlx::raw_sql(AssertSqlSafe(sql.clone())).execute(&mut connection).await?;
                }
                return connection.close().await;
            }
            let mut connection = PgConnection::connect(url).await?;
            for sql in statements {
                sqlx::raw_sql(AssertSqlSafe(sql.clone())).execute(&mut connection).await?;
            }
            connection.close().await
        })
    }

    fn drops(&self) -> String {
        // A side that was killed may still have sessions there.
        let force = if self.backend == Backend::Postgres { " WITH (FORCE)" } else { "" };
        format!("DROP DATABASE IF EXISTS {}{force}", self.name)
    }

    pub(super) fn create(&self) -> Result<(), Failure> {
        self.execute(&self.server(), &[self.drops(), format!("CREATE DATABASE {}", self.name)])
    }

    pub(super) fn remove(&self) -> Result<(), Failure> {
        self.execute(&self.server(), &[self.drops()])
    }

    /// Every value as text: the protocols' text form, whatever the column's type.
    pub(super) fn texts(&self, sql: &str) -> Result<Texts, Failure> {
        let (url, sql) = (self.url(), AssertSqlSafe(sql.to_owned()));
        wait_for(async {
            if self.backend == Backend::Mysql {
                let mut connection = MySqlConnection::connect(&url).await?;
                let rows = sqlx::raw_sql(sql).fetch_all(&mut connection).await?;
                let text = |row: &sqlx::mysql::MySqlRow, at| {
                    let bytes: Option<Vec<u8>> = row.try_get_unchecked(at)?;
                    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
                };
                return rows.iter().map(|row| (0..row.len()).map(|at| text(row, at)).collect()).collect();
            }
            let mut connection = PgConnection::connect(&url).await?;
            let rows = sqlx::raw_sql(sql).fetch_all(&mut connection).await?;
            let text = |row: &sqlx::postgres::PgRow, at| row.try_get_unchecked(at);
            rows.iter().map(|row| (0..row.len()).map(|at| text(row, at)).collect()).collect()
        })
    }

    fn tables(&self) -> Result<Vec<String>, Failure> {
        let sql = "SELECT table_name FROM information_schema.tables
            WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' ORDER BY table_name";
        Ok(self.texts(sql)?.into_iter().flatten().flatten().collect())
    }

    pub(super) fn settle(&self) -> Result<(), Failure> {
        if self.backend == Backend::Postgres {
            return self.execute(&self.url(), &["VACUUM ANALYZE".to_owned(), "CHECKPOINT".to_owned()]);
        }
        let tables = self.tables()?.join(", ");
        // The one statement that waits until a table's changed pages are on disk.
        let flush = format!("FLUSH TABLES {tables} FOR EXPORT");
        let statements = [format!("ANALYZE TABLE {tables}"), flush, "UNLOCK TABLES".to_owned()];
        self.execute(&self.url(), &statements)
    }

    pub(super) fn copy(&self, name: &str) -> Result<Self, Failure> {
        let copy = Self::new(self.backend, name)?;
        if self.backend == Backend::Postgres {
            let copies = format!("CREATE DATABASE {name} TEMPLATE {} STRATEGY file_copy", self.name);
            copy.execute(&self.server(), &[copy.drops(), copies])?;
            return Ok(copy);
        }
        copy.create()?;
        drop(MysqlStore::open(&copy.url(), MysqlOptions::default())?);
        let filled = copy.tables()?.into_iter().filter(|table| table != "paidonce_migration");
        let rows = |table| format!("INSERT INTO {name}.{table} SELECT * FROM {}.{table}", self.name);
        copy.execute(&self.server(), &filled.map(rows).collect::<Vec<_>>())?;
        copy.settle()?;
        Ok(copy)
    }
}

#[test]
fn a_url_is_given_another_database_and_keeps_its_options() {
    for (url, other) in [
        ("postgres://u@h:1/postgres?sslmode=disable", "postgres://u@h:1/x?sslmode=disable"),
        ("mysql://root@h", "mysql://root@h/x"),
        ("mysql://root@h/", "mysql://root@h/x"),
    ] {
        assert_eq!(with_database(url, "x"), other);
    }
    assert!(Server::new(Backend::Mysql, "x; DROP").is_err());
}
