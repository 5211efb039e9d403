//! Opening any store by its address: the one place that knows them all. What a store does is the store crate's business.

use std::path::Path;
use std::sync::Arc;

use paidonce_store::{GrantSql, MemoryStore, SqliteOptions, SqliteStore, Store, StoreError, StoreErrorKind};

use crate::config::{NO_SQL, RemoteKind, RemoteUrl, SecretRef, StoreConfig, StoreUrl};

/// What a store is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// For a server: everything that can be checked of the store is.
    Server,
    /// For one command, beside a server or before there is one: a document that stands is trusted.
    Command,
}

fn usage(what: impl Into<String>) -> StoreError {
    StoreError::new(StoreErrorKind::Usage, what)
}

/// The address itself, from wherever it stands.
fn resolved(url: &StoreUrl) -> Result<StoreUrl, StoreError> {
    let StoreUrl::Elsewhere(place) = url else { return Ok(url.clone()) };
    let text = place.text().map_err(|error| usage(format!("store.url: {error}")))?;
    // Not relative to the configuration: the address came from elsewhere.
    StoreUrl::parse(text.trim(), Path::new(""))
        .map_err(|what| usage(format!("the store's address, which {place} holds, is none: {what}")))
}

fn nested(place: &SecretRef) -> StoreError {
    usage(format!("the store's address, which {place} holds, names another place"))
}

/// Opens whatever the configuration names. `grant_sql` are the statements that run with each grant.
///
/// # Errors
/// It cannot be reached or opened, its server could lose what it acknowledges, it does not understand the statements, or
/// this program was built without it.
pub fn open(
    config: &StoreConfig,
    opening: Opening,
    grant_sql: Option<GrantSql>,
) -> Result<Arc<dyn Store>, StoreError> {
    Ok(match &resolved(&config.url)? {
        StoreUrl::Sqlite(path) => {
            Arc::new(SqliteStore::open(path, SqliteOptions { grant_sql, ..SqliteOptions::default() })?)
        }
        StoreUrl::Remote(url) => remote(url, config, opening, grant_sql)?,
        StoreUrl::Memory if grant_sql.is_some() => return Err(usage(NO_SQL)),
        StoreUrl::Memory => Arc::new(MemoryStore::new()),
        StoreUrl::Elsewhere(place) => return Err(nested(place)),
    })
}

fn remote(
    url: &RemoteUrl,
    config: &StoreConfig,
    opening: Opening,
    grant_sql: Option<GrantSql>,
) -> Result<Arc<dyn Store>, StoreError> {
    match url.kind {
        RemoteKind::Postgres => postgres(url, config, grant_sql),
        RemoteKind::Mysql => mysql(url, config, grant_sql),
        _ if grant_sql.is_some() => Err(usage(NO_SQL)),
        RemoteKind::Object => object(url, config, opening),
        RemoteKind::Nats => nats(url, config, opening),
    }
}

/// Whether the live database understands the merchant's statements. Nothing is made or changed.
///
/// # Errors
/// It does not, it cannot be reached, or it has no statements.
pub fn check_grant_sql(config: &StoreConfig, sql: &GrantSql) -> Result<(), StoreError> {
    match &resolved(&config.url)? {
        StoreUrl::Sqlite(path) if !path.exists() => {
            let path = path.display();
            Err(usage(format!(
                "grant.sql cannot be checked: there is no {path} yet, and no table of yours in it"
            )))
        }
        StoreUrl::Sqlite(path) => SqliteStore::check_grant_sql(path, sql),
        StoreUrl::Remote(url) => match url.kind {
            #[cfg(feature = "postgres")]
            RemoteKind::Postgres => paidonce_store::PostgresStore::check_grant_sql(url.whole(), sql),
            #[cfg(not(feature = "postgres"))]
            RemoteKind::Postgres => Err(absent("postgres")),
            #[cfg(feature = "mysql")]
            RemoteKind::Mysql => paidonce_store::MysqlStore::check_grant_sql(url.whole(), sql),
            #[cfg(not(feature = "mysql"))]
            RemoteKind::Mysql => Err(absent("mysql")),
            RemoteKind::Object | RemoteKind::Nats => Err(usage(NO_SQL)),
        },
        StoreUrl::Memory => Err(usage(NO_SQL)),
        StoreUrl::Elsewhere(place) => Err(nested(place)),
    }
}

#[cfg(not(all(feature = "postgres", feature = "mysql", feature = "object", feature = "nats")))]
fn absent(feature: &str) -> StoreError {
    usage(format!("this paidonce was built without {feature}: build it with the feature {feature}"))
}

#[cfg(feature = "postgres")]
fn postgres(
    url: &RemoteUrl,
    config: &StoreConfig,
    grant_sql: Option<GrantSql>,
) -> Result<Arc<dyn Store>, StoreError> {
    use paidonce_store::{PostgresOptions, PostgresStore};
    let &StoreConfig { lanes, connections_max, accept_lost_commits, .. } = config;
    let options = PostgresOptions {
        lanes,
        connections_max,
        accept_lost_commits,
        grant_sql,
        ..PostgresOptions::default()
    };
    Ok(Arc::new(PostgresStore::open(url.whole(), options)?))
}

#[cfg(not(feature = "postgres"))]
fn postgres(_: &RemoteUrl, _: &StoreConfig, _: Option<GrantSql>) -> Result<Arc<dyn Store>, StoreError> {
    Err(absent("postgres"))
}

#[cfg(feature = "mysql")]
fn mysql(
    url: &RemoteUrl,
    config: &StoreConfig,
    grant_sql: Option<GrantSql>,
) -> Result<Arc<dyn Store>, StoreError> {
    use paidonce_store::{MysqlOptions, MysqlStore};
    let &StoreConfig { lanes, connections_max, accept_lost_commits, .. } = config;
    let options =
        MysqlOptions { lanes, connections_max, accept_lost_commits, grant_sql, ..MysqlOptions::default() };
    Ok(Arc::new(MysqlStore::open(url.whole(), options)?))
}

#[cfg(not(feature = "mysql"))]
fn mysql(_: &RemoteUrl, _: &StoreConfig, _: Option<GrantSql>) -> Result<Arc<dyn Store>, StoreError> {
    Err(absent("mysql"))
}

#[cfg(any(feature = "object", feature = "nats"))]
fn document(config: &StoreConfig, opening: Opening) -> paidonce_store::DocumentOptions {
    use paidonce_store::{DocumentOptions, DocumentProbe};
    DocumentOptions {
        limit_bytes: usize::try_from(config.document_max).unwrap_or(usize::MAX),
        probe: match opening {
            Opening::Server => DocumentProbe::Always,
            Opening::Command => DocumentProbe::New,
        },
        notice: Some(Arc::new(|text| tracing::warn!("{text}"))),
        ..DocumentOptions::default()
    }
}

/// The variables that the providers' own tools read.
#[cfg(feature = "object")]
fn credentials() -> Vec<(String, String)> {
    let theirs = |name: &str| ["AWS_", "GOOGLE_", "AZURE_"].iter().any(|prefix| name.starts_with(prefix));
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).filter(|(name, _)| theirs(name)).collect()
}

#[cfg(feature = "object")]
fn object(url: &RemoteUrl, config: &StoreConfig, opening: Opening) -> Result<Arc<dyn Store>, StoreError> {
    let options = document(config, opening);
    Ok(Arc::new(paidonce_store::DocumentStore::open_object(url.whole(), &credentials(), &options)?))
}

#[cfg(not(feature = "object"))]
fn object(_: &RemoteUrl, _: &StoreConfig, _: Opening) -> Result<Arc<dyn Store>, StoreError> {
    Err(absent("object"))
}

#[cfg(feature = "nats")]
fn nats(url: &RemoteUrl, config: &StoreConfig, opening: Opening) -> Result<Arc<dyn Store>, StoreError> {
    Ok(Arc::new(paidonce_store::DocumentStore::open_nats(url.whole(), &document(config, opening))?))
}

#[cfg(not(feature = "nats"))]
fn nats(_: &RemoteUrl, _: &StoreConfig, _: Opening) -> Result<Arc<dyn Store>, StoreError> {
    Err(absent("nats"))
}
