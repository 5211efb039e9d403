//! The document in a NATS JetStream key-value bucket, by revision. The server acknowledges before it syncs to disk
//! unless it is told otherwise (`sync: always`): docs/stores.md says what that costs.

use async_nats::jetstream::kv::{Operation, Store, UpdateErrorKind};
use async_nats::jetstream::stream::{Config, DiscardPolicy, StorageType};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectOptions};

use super::backing::{Backing, Found, Put, Version};
use super::runtime::Waiting;
use super::{DocumentOptions, address};
use crate::{Result, StoreError, StoreErrorKind};

/// What of a message's `max_payload` is left to headers.
const HEADERS_BYTES: usize = 4 * 1024;

/// The key in the bucket, unless the address names one.
const KEY: &str = "ledger";

pub(super) struct Bucket {
    store: Store,
    client: Client,
    key: String,
    shown: String,
    waiting: Waiting,
}

fn usage(what: impl Into<String>) -> StoreError {
    StoreError::new(StoreErrorKind::Usage, what)
}

fn unread(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::new(StoreErrorKind::Unavailable, "the NATS bucket cannot be read").caused_by(error)
}

fn word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

impl Bucket {
    /// `nats://[user:password@]host[:port]/bucket[/key]`. The bucket is made if there is none.
    pub(super) fn open(url: &str, options: &DocumentOptions) -> Result<Self> {
        let address = address::Address::parse(url)?;
        address.only(&["tls"])?;
        let (bucket, key) = address.path.split_once('/').unwrap_or((&address.path, KEY));
        if !word(bucket) || !word(key) {
            return Err(usage(
                "write nats://host/bucket or nats://host/bucket/key, of letters, digits, - and _",
            ));
        }
        let (bucket, key, shown) = (bucket.to_owned(), key.to_owned(), address.shown());
        let waiting = Waiting::new(options.timeout())?;
        let opening = open(address, bucket, options.timeout());
        let failed = |error: Box<dyn std::error::Error + Send + Sync>| {
            let what = format!("{shown} cannot be opened: check that the server runs, with JetStream on");
            StoreError::new(StoreErrorKind::Unavailable, what).caused_by(error)
        };
        match waiting.wait(opening) {
            Ok(Ok((client, store))) => Ok(Self { store, client, key, shown, waiting }),
            Ok(Err(error)) => Err(failed(error.to_string().into())),
            Err(timed_out) => Err(failed(timed_out.into())),
        }
    }

    fn at(&self, name: &str) -> String {
        if name.is_empty() { self.key.clone() } else { format!("{}.{name}", self.key) }
    }
}

async fn open(
    address: address::Address,
    bucket: String,
    timeout: std::time::Duration,
) -> Result<(Client, Store), async_nats::Error> {
    let mut options = ConnectOptions::new()
        .name("paidonce")
        .connection_timeout(timeout)
        .request_timeout(Some(timeout))
        .require_tls(address.option("tls") == Some("true"));
    if let Some(login) = address.login {
        options = match login.split_once(':') {
            Some((user, password)) => options.user_and_password(user.to_owned(), password.to_owned()),
            None => options.token(login),
        };
    }
    let client = options.connect(format!("nats://{}", address.host)).await?;
    let mut context = jetstream::new(client.clone());
    context.set_timeout(timeout);
    Ok((client, bucket_of(&context, bucket).await?))
}

/// The bucket, made if there is none. What creating answers is not looked at: that a server older than the client
/// answers in other words does not mean that there is no bucket.
async fn bucket_of(context: &Context, bucket: String) -> Result<Store, async_nats::Error> {
    if let Ok(store) = context.get_key_value(&bucket).await {
        return Ok(store);
    }
    let config = Config {
        name: format!("KV_{bucket}"),
        subjects: vec![format!("$KV.{bucket}.>")],
        max_messages_per_subject: 1,
        discard: DiscardPolicy::New,
        storage: StorageType::File,
        allow_rollup: true,
        deny_delete: true,
        // Reads must not come from a replica that lags behind.
        allow_direct: false,
        ..Config::default()
    };
    let made = context.create_stream(config).await;
    match context.get_key_value(&bucket).await {
        Ok(store) => Ok(store),
        Err(error) => Err(made.err().map_or_else(|| error.into(), Into::into)),
    }
}

impl Backing for Bucket {
    fn read(&self, name: &str, known: Option<&Version>) -> Result<Found> {
        let (store, key) = (self.store.clone(), self.at(name));
        let entry = self.waiting.wait(async move { store.entry(key).await }).map_err(unread)?;
        let Some(entry) = entry.map_err(unread)?.filter(|entry| entry.operation == Operation::Put) else {
            return Ok(Found::Absent);
        };
        let version = Version { tag: None, revision: Some(entry.revision.to_string()) };
        if known == Some(&version) {
            return Ok(Found::Unchanged);
        }
        Ok(Found::Here(version, entry.value.into()))
    }

    fn put(&self, name: &str, bytes: Vec<u8>, expected: Option<&Version>) -> Put {
        let (store, key) = (self.store.clone(), self.at(name));
        let revision = expected.and_then(|version| version.revision.as_deref()?.parse().ok()).unwrap_or(0);
        let put = async move { store.update(key, bytes.into(), revision).await };
        match self.waiting.wait(put) {
            Ok(Ok(revision)) => Put::Done(Version { tag: None, revision: Some(revision.to_string()) }),
            Ok(Err(error)) if error.kind() == UpdateErrorKind::WrongLastRevision => Put::Moved,
            Ok(Err(error)) => Put::Unknown(error.into()),
            Err(timed_out) => Put::Unknown(timed_out.into()),
        }
    }

    fn remove(&self, name: &str) {
        let (store, key) = (self.store.clone(), self.at(name));
        let _ = self.waiting.wait(async move { store.purge(key).await });
    }

    fn room(&self) -> Option<usize> {
        Some(self.client.server_info().max_payload.saturating_sub(HEADERS_BYTES))
    }

    fn describe(&self) -> String {
        self.shown.clone()
    }
}
