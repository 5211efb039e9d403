//! `[store]`: where the ledger lives.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use paidonce_store::{MemoryStore, SqliteOptions, SqliteStore, Store, StoreError};

use super::section::Section;

/// The `[store]` section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreConfig {
    /// Which store.
    pub url: StoreUrl,
}

/// A store's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreUrl {
    /// Nothing is kept: for trying out.
    Memory,
    /// A file, relative to the configuration's folder.
    Sqlite(PathBuf),
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory:"),
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
        }
    }
}

/// The scheme alone is repeated in messages: what follows it may hold a password.
fn parse(text: &str, folder: &Path) -> Result<StoreUrl, String> {
    let (scheme, rest) = text.split_once(':').unwrap_or(("", text));
    match scheme {
        "memory" if rest.is_empty() => Ok(StoreUrl::Memory),
        "sqlite" if !rest.is_empty() && rest != ":memory:" => {
            let path = rest.strip_prefix("//").unwrap_or(rest);
            Ok(StoreUrl::Sqlite(folder.join(path)))
        }
        "postgres" | "postgresql" | "mysql" | "mariadb" | "s3" | "gs" | "az" | "nats" => Err(format!(
            "{scheme}: is not supported yet, it comes in a later version; write \"sqlite:paidonce.db\""
        )),
        _ => Err("write \"sqlite:paidonce.db\", or \"memory:\" to keep nothing".to_owned()),
    }
}

impl StoreConfig {
    pub(super) fn read(section: Section<'_>, folder: &Path) -> Self {
        let url = section.parsed("url", |text| parse(text, folder));
        section.finish();
        Self { url: url.unwrap_or_else(|| StoreUrl::Sqlite(folder.join("paidonce.db"))) }
    }

    pub(super) fn show(&self, out: &mut String) {
        out.push_str("\n[store]\nurl = ");
        out.push_str(&toml::Value::String(self.url.to_string()).to_string());
        out.push('\n');
    }

    /// Opens the store, creating the file if there is none.
    ///
    /// # Errors
    /// It is held by somebody else, damaged, of a version that is not known, or cannot be reached.
    pub fn open(&self) -> Result<Arc<dyn Store>, StoreError> {
        match &self.url {
            StoreUrl::Memory => Ok(Arc::new(MemoryStore::new())),
            StoreUrl::Sqlite(path) => Ok(Arc::new(SqliteStore::open(path, SqliteOptions::default())?)),
        }
    }
}
