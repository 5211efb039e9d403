//! The document in object storage: S3 and what speaks like it, Google Cloud Storage, Azure Blob Storage, memory.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientOptions, Error, GetOptions, ObjectStore, ObjectStoreExt, PutMode, PutOptions,
    PutResult, RetryConfig, UpdateVersion,
};

use super::backing::{Backing, Found, Put, Version};
use super::runtime::Waiting;
use super::{DocumentOptions, address};
use crate::{Result, StoreError, StoreErrorKind};

/// How often a read is tried again. (It asks for nothing to be changed.)
const READ_RETRIES: usize = 3;

pub(super) struct Objects {
    /// For reads: its client tries again.
    reads: Arc<dyn ObjectStore>,
    /// For conditional writes: its client never does.
    writes: Arc<dyn ObjectStore>,
    path: Path,
    shown: String,
    waiting: Waiting,
}

fn usage(what: impl Into<String>) -> StoreError {
    StoreError::new(StoreErrorKind::Usage, what)
}

fn retries(max_retries: usize, timeout: Duration) -> RetryConfig {
    RetryConfig { backoff: BackoffConfig::default(), max_retries, retry_timeout: timeout }
}

/// A client for one bucket. `settings` are names and values as the providers' own tools read them from the
/// environment (`AWS_ACCESS_KEY_ID` and so on); what the address says goes before them.
fn client(
    address: &address::Address,
    settings: &[(String, String)],
    retry: RetryConfig,
    timeout: Duration,
) -> Result<Arc<dyn ObjectStore>, Error> {
    let plain = address.option("endpoint").is_some_and(|endpoint| endpoint.starts_with("http://"));
    let options = ClientOptions::new()
        .with_timeout(timeout)
        .with_connect_timeout(timeout)
        .with_http1_only()
        .with_allow_http(plain);
    let lower = settings.iter().map(|(name, value)| (name.to_ascii_lowercase(), value));
    Ok(match address.scheme.as_str() {
        "s3" => {
            let mut builder = AmazonS3Builder::new();
            for (name, value) in lower {
                let Ok(key) = name.parse() else { continue };
                builder = builder.with_config(key, value);
            }
            if let Some(endpoint) = address.option("endpoint") {
                builder = builder.with_endpoint(endpoint);
            }
            if let Some(region) = address.option("region") {
                builder = builder.with_region(region);
            }
            let builder = builder.with_bucket_name(&address.host).with_retry(retry);
            Arc::new(builder.with_client_options(options).build()?)
        }
        "gs" => {
            let mut builder = GoogleCloudStorageBuilder::new();
            for (name, value) in lower {
                let Ok(key) = name.parse() else { continue };
                builder = builder.with_config(key, value);
            }
            let builder = builder.with_bucket_name(&address.host).with_retry(retry);
            Arc::new(builder.with_client_options(options).build()?)
        }
        _ => {
            let mut builder = MicrosoftAzureBuilder::new();
            for (name, value) in lower {
                let Ok(key) = name.parse() else { continue };
                builder = builder.with_config(key, value);
            }
            if let Some(account) = address.option("account") {
                builder = builder.with_account(account);
            }
            let builder = builder.with_container_name(&address.host).with_retry(retry);
            Arc::new(builder.with_client_options(options).build()?)
        }
    })
}

impl Objects {
    /// `s3://bucket/key`, `gs://bucket/key` or `az://container/key`.
    pub(super) fn open(url: &str, settings: &[(String, String)], options: &DocumentOptions) -> Result<Self> {
        let address = address::Address::parse(url)?;
        let known: &[&str] = match address.scheme.as_str() {
            "s3" => &["endpoint", "region"],
            "gs" => &[],
            "az" => &["account"],
            _ => return Err(usage("write s3://bucket/key, gs://bucket/key or az://container/key")),
        };
        address.only(known)?;
        if address.path.is_empty() {
            let what = format!("name the document in the bucket, as in {}://bucket/paidonce", address.scheme);
            return Err(usage(what));
        }
        // Only the first of a process is heard, and all are the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let timeout = options.timeout();
        let make = |retries| {
            client(&address, settings, retries, timeout).map_err(|error| {
                usage("the address or the credentials of the object store are incomplete").caused_by(error)
            })
        };
        let (reads, writes) = (make(retries(READ_RETRIES, timeout))?, make(retries(0, timeout))?);
        Self::new(reads, writes, &address.path, address.shown(), options)
    }

    /// Any two clients of one place, which may be one.
    pub(super) fn new(
        reads: Arc<dyn ObjectStore>,
        writes: Arc<dyn ObjectStore>,
        path: &str,
        shown: String,
        options: &DocumentOptions,
    ) -> Result<Self> {
        let path = Path::parse(path).map_err(|error| usage("the document's name").caused_by(error))?;
        // The clients have time-outs of their own, one for each try.
        let waiting = Waiting::new(options.timeout() * 2)?;
        Ok(Self { reads, writes, path, shown, waiting })
    }

    /// What stands beside the document has names that begin with the document's.
    fn at(&self, name: &str) -> Path {
        if name.is_empty() { self.path.clone() } else { Path::from(format!("{}.{name}", self.path)) }
    }
}

fn version(result: PutResult) -> Version {
    Version { tag: result.e_tag, revision: result.version }
}

fn unread(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::new(StoreErrorKind::Unavailable, "the object store cannot be read").caused_by(error)
}

impl Backing for Objects {
    fn read(&self, name: &str, known: Option<&Version>) -> Result<Found> {
        let (store, path) = (self.reads.clone(), self.at(name));
        let if_none_match = known.and_then(|version| version.tag.clone());
        let read = async move {
            let options = GetOptions { if_none_match, ..GetOptions::default() };
            let found = store.get_opts(&path, options).await?;
            let version = Version { tag: found.meta.e_tag.clone(), revision: found.meta.version.clone() };
            Ok((version, found.bytes().await?))
        };
        match self.waiting.wait(read) {
            Ok(Ok((version, bytes))) => Ok(Found::Here(version, bytes.into())),
            Ok(Err(Error::NotModified { .. })) => Ok(Found::Unchanged),
            Ok(Err(Error::NotFound { .. })) => Ok(Found::Absent),
            Ok(Err(error)) => Err(unread(error)),
            Err(timed_out) => Err(unread(timed_out)),
        }
    }

    fn put(&self, name: &str, bytes: Vec<u8>, expected: Option<&Version>) -> Put {
        let (store, path) = (self.writes.clone(), self.at(name));
        let mode = match expected.cloned() {
            None => PutMode::Create,
            Some(Version { tag, revision }) => {
                PutMode::Update(UpdateVersion { e_tag: tag, version: revision })
            }
        };
        let put = async move { store.put_opts(&path, bytes.into(), PutOptions::from(mode)).await };
        match self.waiting.wait(put) {
            Ok(Ok(result)) => Put::Done(version(result)),
            Ok(Err(Error::AlreadyExists { .. } | Error::Precondition { .. } | Error::NotFound { .. })) => {
                Put::Moved
            }
            Ok(Err(error)) => Put::Unknown(error.into()),
            Err(timed_out) => Put::Unknown(timed_out.into()),
        }
    }

    fn remove(&self, name: &str) {
        let (store, path) = (self.writes.clone(), self.at(name));
        let _ = self.waiting.wait(async move { store.delete(&path).await });
    }

    fn room(&self) -> Option<usize> {
        None
    }

    fn describe(&self) -> String {
        self.shown.clone()
    }
}
