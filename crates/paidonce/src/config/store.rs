//! `[store]`: where the ledger lives.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use paidonce_store::{GrantSql, Store, StoreError};

use super::secret::SecretRef;
use super::section::Section;
use super::word_of;
use crate::store::{self, Opening};

/// The least and most bytes that a document may be allowed.
const DOCUMENT_MIN: u64 = 64 * 1024;
const DOCUMENT_MAX: u64 = 256 * 1024 * 1024;
const DOCUMENT_DEFAULT: u64 = 8 * 1024 * 1024;

/// The most committers and connections that a process may be given.
const LANES_MAX: u64 = 64;
const CONNECTIONS_MAX: u64 = 1_000;

/// Why a store takes no `[grant]`.
pub(crate) const NO_SQL: &str = "grant.sql runs in the transaction of a grant, which only sqlite:, postgres:// and \
     mysql:// have: remove [grant], or set another store.url";

const SWITCH: &[(&str, bool)] = &[("off", false), ("on", true)];

/// The `[store]` section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreConfig {
    /// Which store.
    pub url: StoreUrl,
    /// How many bytes a document may have before it takes no new work.
    pub document_max: u64,
    /// Committers that work side by side on a database server.
    pub lanes: usize,
    /// Connections to a database server at most.
    pub connections_max: usize,
    /// Whether a database server is used although its settings let it lose commits on power loss.
    pub accept_lost_commits: bool,
}

/// A store's address.
#[derive(Clone, PartialEq, Eq)]
pub enum StoreUrl {
    /// Nothing is kept: for trying out.
    Memory,
    /// A file, relative to the configuration's folder.
    Sqlite(PathBuf),
    /// Somewhere else. It may hold a password, and is never shown whole.
    Remote(RemoteUrl),
    /// Where the address itself is, because it holds a password.
    Elsewhere(SecretRef),
}

/// The address of a store that is not on this machine.
#[derive(Clone, PartialEq, Eq)]
pub struct RemoteUrl {
    /// What kind of store.
    pub kind: RemoteKind,
    text: String,
}

/// What kind of store an address names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteKind {
    /// `postgres://`
    Postgres,
    /// `mysql://`, `mariadb://`
    Mysql,
    /// `s3://`, `gs://`, `az://`
    Object,
    /// `nats://`
    Nats,
}

impl RemoteUrl {
    /// The address with everything in it. Never shown.
    #[must_use]
    pub fn whole(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for RemoteUrl {
    // Neither login nor options: both may hold secrets. P14
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, rest) = self.text.split_once("://").unwrap_or_default();
        let rest = rest.split_once('?').map_or(rest, |(rest, _)| rest);
        // The last @: a password may hold one, and may hold a / before it.
        let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
        write!(f, "{scheme}://{place}")
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory:"),
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Remote(url) => write!(f, "{url}"),
            Self::Elsewhere(place) => write!(f, "{place}"),
        }
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Debug for RemoteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl StoreUrl {
    /// Whether a merchant's own tables may be there; an address that is elsewhere is looked at when it is opened.
    pub(super) fn may_hold_sql(&self) -> bool {
        match self {
            Self::Sqlite(_) | Self::Elsewhere(_) => true,
            Self::Remote(url) => matches!(url.kind, RemoteKind::Postgres | RemoteKind::Mysql),
            Self::Memory => false,
        }
    }

    /// Reads an address, or `env:NAME` or `file:PATH` for where one is. Relative paths begin at `folder`.
    ///
    /// # Errors
    /// It is none. Only the scheme is repeated: what follows it may hold a password.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, String> {
        let (scheme, rest) = text.split_once(':').unwrap_or(("", text));
        let remote = |kind| match rest.strip_prefix("//") {
            Some(place) if !place.is_empty() => Ok(Self::Remote(RemoteUrl { kind, text: text.to_owned() })),
            _ => Err(format!("write {scheme}://, then where it is; docs/stores.md has an example of each")),
        };
        match scheme {
            "memory" if rest.is_empty() => Ok(Self::Memory),
            "sqlite" if !rest.is_empty() && rest != ":memory:" => {
                let path = rest.strip_prefix("//").unwrap_or(rest);
                Ok(Self::Sqlite(folder.join(path)))
            }
            "postgres" | "postgresql" => remote(RemoteKind::Postgres),
            "mysql" | "mariadb" => remote(RemoteKind::Mysql),
            "s3" | "gs" | "az" => remote(RemoteKind::Object),
            "nats" => remote(RemoteKind::Nats),
            "env" | "file" => SecretRef::parse(text, folder).map(Self::Elsewhere).map_err(str::to_owned),
            _ => Err(
                "write \"sqlite:paidonce.db\", or postgres://, mysql://, s3://, gs://, az:// or nats:// and \
                      where it is, or \"memory:\" to keep nothing"
                    .to_owned(),
            ),
        }
    }
}

impl StoreConfig {
    /// What is in force for an address alone.
    #[must_use]
    pub fn of(url: StoreUrl) -> Self {
        let (document_max, accept_lost_commits) = (DOCUMENT_DEFAULT, false);
        Self { url, document_max, lanes: 2, connections_max: 16, accept_lost_commits }
    }

    pub(super) fn read(section: Section<'_>, folder: &Path) -> Self {
        let url = section.parsed("url", |text| StoreUrl::parse(text, folder));
        let document_max = section.number("document_max", DOCUMENT_DEFAULT, DOCUMENT_MIN..=DOCUMENT_MAX);
        let size = |key, default, most| {
            usize::try_from(section.number(key, default, 1..=most)).unwrap_or(usize::MAX)
        };
        let lanes = size("lanes", 2, LANES_MAX);
        let connections_max = size("connections_max", 16, CONNECTIONS_MAX);
        if connections_max < lanes {
            section
                .wrong(section.span(), "store.connections_max is less than store.lanes: each lane needs one");
        }
        let accept_lost_commits = section.choice("accept_lost_commits", false, SWITCH);
        section.finish();
        let url = url.unwrap_or_else(|| StoreUrl::Sqlite(folder.join("paidonce.db")));
        Self { url, document_max, lanes, connections_max, accept_lost_commits }
    }

    pub(super) fn show(&self, out: &mut String) {
        let url = toml::Value::String(self.url.to_string());
        let accept = word_of(SWITCH, &self.accept_lost_commits);
        out.push_str(&format!(
            "\n[store]\nurl = {url}\ndocument_max = {}\nlanes = {}\nconnections_max = {}\naccept_lost_commits = \"{accept}\"\n",
            self.document_max, self.lanes, self.connections_max
        ));
    }

    /// Opens the store, creating it if there is none, for one command.
    ///
    /// # Errors
    /// It is held by somebody else, damaged, of a version that is not known, or cannot be reached.
    pub fn open(&self) -> Result<Arc<dyn Store>, StoreError> {
        store::open(self, Opening::Command, None)
    }

    /// As [`StoreConfig::open`], for a server: everything that can be checked of the store is, and each grant runs the
    /// merchant's statements.
    ///
    /// # Errors
    /// As [`StoreConfig::open`], and what stands there does not keep what a server promises, or does not understand the
    /// statements.
    pub fn open_for_server(&self, grant_sql: Option<GrantSql>) -> Result<Arc<dyn Store>, StoreError> {
        store::open(self, Opening::Server, grant_sql)
    }

    /// Asks the live database whether it understands the merchant's statements. Nothing is made or changed.
    ///
    /// # Errors
    /// It does not, it cannot be reached, or this store has no statements.
    pub fn check_grant_sql(&self, grant_sql: &GrantSql) -> Result<(), StoreError> {
        store::check_grant_sql(self, grant_sql)
    }
}
