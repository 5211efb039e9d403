//! The databases that sides write to: one that holds open orders and is copied for every run, and its copies. What is in
//! them is the business of `preload` and `rows`.

mod server;
mod sqlite;

use std::path::{Path, PathBuf};

use self::server::Server;

/// An error as a sentence.
pub type Failure = Box<dyn std::error::Error>;

/// What a query answers: rows of values as text.
pub type Texts = Vec<Vec<Option<String>>>;

/// Which kind of database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Backend {
    /// A file.
    Sqlite,
    /// The server at `PAIDONCE_TEST_POSTGRES`, else at its usual port.
    Postgres,
    /// The server at `PAIDONCE_TEST_MYSQL`, else at its usual port.
    Mysql,
}

impl Backend {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Sqlite, Self::Postgres, Self::Mysql];

    /// Its name for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "Postgres",
            Self::Mysql => "MariaDB",
        }
    }

    /// The naive side's program on it.
    #[must_use]
    pub fn naive_program(self) -> &'static str {
        match self {
            Self::Sqlite => "naive-axum-sqlx",
            Self::Postgres => "naive-axum-postgres",
            Self::Mysql => "naive-axum-mysql",
        }
    }

    /// A column's or a table's name as its SQL spells it.
    #[must_use]
    pub fn quoted(self, name: &str) -> String {
        match self {
            Self::Sqlite | Self::Postgres => format!("\"{name}\""),
            Self::Mysql => format!("`{name}`"),
        }
    }

    /// One of paidonce's tables.
    #[must_use]
    pub fn table(self, name: &str) -> String {
        match self {
            Self::Sqlite => name.to_owned(),
            Self::Postgres => format!("paidonce.{name}"),
            Self::Mysql => format!("paidonce_{name}"),
        }
    }
}

/// One database.
#[derive(Debug)]
pub enum Database {
    /// In a file.
    File(PathBuf),
    /// On a server.
    Server(Server),
}

impl Database {
    /// A new one without tables. `name` is its own among the databases of all benchmarks on this machine; files lie in
    /// `folder`. One that is left over from a run that was ended is removed.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new(backend: Backend, folder: &Path, name: &str) -> Result<Self, Failure> {
        if backend == Backend::Sqlite {
            let path = folder.join(format!("{name}.db"));
            sqlite::remove(&path)?;
            return Ok(Self::File(path));
        }
        let server = Server::new(backend, &format!("paidonce_bench_{name}"))?;
        server.create()?;
        Ok(Self::Server(server))
    }

    /// A copy, on disk before it is used: its writing back must not be measured.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn copy(&self, name: &str) -> Result<Self, Failure> {
        match self {
            Self::File(path) => Ok(Self::File(sqlite::copy(path, name)?)),
            Self::Server(server) => Ok(Self::Server(server.copy(&format!("paidonce_bench_{name}"))?)),
        }
    }

    /// Which kind it is.
    #[must_use]
    pub fn backend(&self) -> Backend {
        match self {
            Self::File(_) => Backend::Sqlite,
            Self::Server(server) => server.backend,
        }
    }

    /// As a naive side is told it: a path, or a URL.
    #[must_use]
    pub fn address(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Server(server) => server.url(),
        }
    }

    /// As `[store] url` says it.
    #[must_use]
    pub fn store_url(&self) -> String {
        match self {
            Self::File(path) => format!("sqlite:{}", path.display()),
            Self::Server(server) => server.url(),
        }
    }

    /// Asks it something, once no side uses it.
    ///
    /// # Errors
    /// It cannot be asked.
    pub fn texts(&self, sql: &str) -> Result<Texts, Failure> {
        match self {
            Self::File(path) => Ok(sqlite::texts(path, sql)?),
            Self::Server(server) => server.texts(sql),
        }
    }

    /// Writes down what is only in memory, and lets the database look at its tables: every run begins alike.
    ///
    /// # Errors
    /// The server refuses.
    pub fn settle(&self) -> Result<(), Failure> {
        match self {
            // The last connection to close has written the log back into the file.
            Self::File(path) if sqlite::has_log(path) => Err("the file's log was not written back".into()),
            Self::File(_) => Ok(()),
            Self::Server(server) => server.settle(),
        }
    }

    /// Removes it.
    ///
    /// # Errors
    /// It is in use, or the disk fails.
    pub fn remove(&self) -> Result<(), Failure> {
        match self {
            Self::File(path) => Ok(sqlite::remove(path)?),
            Self::Server(server) => server.remove(),
        }
    }
}
