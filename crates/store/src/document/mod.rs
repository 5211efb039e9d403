//! The whole ledger as one versioned object, where there is no database: object storage, NATS. A commit replaces it,
//! if nobody else has. It has a limit, and says so long before anything breaks.
// Without a place where it can lie, it is built and nobody can open it.
#![cfg_attr(not(any(feature = "object", feature = "nats")), allow(dead_code))]

mod address;
mod archive;
mod backing;
mod commit;
mod format;
mod limit;
#[cfg(feature = "nats")]
mod nats;
#[cfg(feature = "object")]
mod object;
mod probe;
mod runtime;

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use paidonce_ledger::{
    ApiKey, Attempt, Audit, AuditKey, Case, CaseKey, Command, Digest, Entitlement, Event, EventKey, KeyName,
    Keys, Ledger, OrderId, Policy, Product, Reply, Sku, Task, TaskKey, Timestamp, Unit,
};

use self::backing::{Backing, Found, Version};
use self::format::Document;
use self::limit::Limit;
use crate::list::{
    AuditFilter, Bodies, CaseFilter, Counts, Due, EntitlementFilter, EventFilter, Listed, OldBodies,
    OrderFilter, Page, Stale, TaskFilter,
};
use crate::{Result, Store, StoreError, StoreErrorKind, whole};

/// Who is told when the document comes near its limit.
pub type DocumentNotice = Arc<dyn Fn(&str) + Send + Sync>;

/// When to prove that a server keeps the conditions of writes: about a hundred small writes, eight at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentProbe {
    /// Whenever a document is opened.
    Always,
    /// Before a document is begun. What is there already was begun on a server that was proven then.
    New,
    /// Never: somebody else has proven it.
    Never,
}

/// How a document is opened.
#[derive(Clone)]
pub struct DocumentOptions {
    /// How large it may become before new work is refused, in bytes as stored. A backing may allow less.
    pub limit_bytes: usize,
    /// How long one read or write may take.
    pub timeout_ms: u64,
    /// When the server is put to the proof.
    pub probe: DocumentProbe,
    /// Is told once when the document passes 70 % of its limit.
    pub notice: Option<DocumentNotice>,
}

impl Default for DocumentOptions {
    fn default() -> Self {
        Self { limit_bytes: 8 * 1024 * 1024, timeout_ms: 10_000, probe: DocumentProbe::Always, notice: None }
    }
}

impl fmt::Debug for DocumentOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit_bytes, timeout_ms, probe, notice: _ } = self;
        write!(f, "DocumentOptions({limit_bytes} bytes, {timeout_ms} ms, probe: {probe:?})")
    }
}

impl DocumentOptions {
    fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms.max(1))
    }
}

/// A document.
pub struct DocumentStore {
    backing: Box<dyn Backing>,
    limit: Limit,
    notice: Option<DocumentNotice>,
    told: AtomicBool,
    /// This process, among all that write the document.
    writer: String,
    attempts: AtomicU64,
    /// One commit at a time: two of one process would only make each other start again.
    committing: Mutex<()>,
    held: Mutex<Option<Arc<Held>>>,
    archives: archive::Archives,
    #[cfg(feature = "conformance")]
    breaks: Arc<AtomicBool>,
}

/// One version of the document, as it was read or written.
struct Held {
    /// `None` while there is no object.
    version: Option<Version>,
    document: Document,
    size: usize,
}

impl DocumentStore {
    /// Opens `s3://bucket/key`, `gs://bucket/key` or `az://container/key`. `settings` are the provider's own names and
    /// values (`AWS_ACCESS_KEY_ID` and so on).
    ///
    /// # Errors
    /// The address is none, the server cannot be reached, does not keep the conditions of writes, or what is there
    /// is no document.
    #[cfg(feature = "object")]
    pub fn open_object(url: &str, settings: &[(String, String)], options: &DocumentOptions) -> Result<Self> {
        Self::open(Box::new(object::Objects::open(url, settings, options)?), options)
    }

    /// A document in an object store that was opened elsewhere. Its client must not try conditional writes again.
    ///
    /// # Errors
    /// As [`DocumentStore::open_object`].
    #[cfg(feature = "object")]
    pub fn on_objects(
        store: Arc<dyn object_store::ObjectStore>,
        path: &str,
        options: &DocumentOptions,
    ) -> Result<Self> {
        let shown = format!("{store}/{path}");
        Self::open(Box::new(object::Objects::new(store.clone(), store, path, shown, options)?), options)
    }

    /// Opens `nats://[user:password@]host[:port]/bucket[/key]`.
    ///
    /// # Errors
    /// As [`DocumentStore::open_object`].
    #[cfg(feature = "nats")]
    pub fn open_nats(url: &str, options: &DocumentOptions) -> Result<Self> {
        Self::open(Box::new(nats::Bucket::open(url, options)?), options)
    }

    fn open(backing: Box<dyn Backing>, options: &DocumentOptions) -> Result<Self> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|error| {
            StoreError::new(StoreErrorKind::Unavailable, "the system gives no random bytes").caused_by(error)
        })?;
        let writer: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let store = Self {
            limit: Limit::new(options.limit_bytes, backing.room()),
            backing,
            notice: options.notice.clone(),
            told: AtomicBool::new(false),
            writer,
            attempts: AtomicU64::new(0),
            committing: Mutex::default(),
            held: Mutex::default(),
            archives: archive::Archives::default(),
            #[cfg(feature = "conformance")]
            breaks: Arc::default(),
        };
        let held = store.fresh()?;
        let begins = held.version.is_none();
        if options.probe == DocumentProbe::Always || (options.probe == DocumentProbe::New && begins) {
            probe::probe(&*store.backing, &store.writer)?;
        }
        store.tell_if_near(held.size);
        Ok(store)
    }

    /// While this is true, commits fail after everything was decided, for the conformance suite.
    #[cfg(feature = "conformance")]
    #[must_use]
    pub fn breaks(&self) -> Arc<AtomicBool> {
        self.breaks.clone()
    }

    /// How large the document was when this process last saw it, in bytes as stored.
    #[must_use]
    pub fn size(&self) -> usize {
        self.held().map_or(0, |held| held.size)
    }

    fn held(&self) -> Option<Arc<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The last version that was seen: good enough to try a commit on, which fails if it is no longer the last.
    fn at_hand(&self) -> Result<Arc<Held>> {
        self.held().map_or_else(|| self.fresh(), Ok)
    }

    /// The document as it is now.
    fn fresh(&self) -> Result<Arc<Held>> {
        let before = self.held();
        let known = before.as_ref().and_then(|held| held.version.as_ref());
        let now = match (self.backing.read("", known)?, &before) {
            (Found::Unchanged, Some(held)) => return Ok(held.clone()),
            (Found::Here(version, bytes), _) => {
                Held { document: Document::decode(&bytes)?, size: bytes.len(), version: Some(version) }
            }
            (_, Some(held)) if held.version.is_some() => {
                let what = "the document is gone: restore it from a backup, or start again for an empty one";
                return Err(StoreError::new(StoreErrorKind::Corrupt, what));
            }
            _ => Held { version: None, document: Document::default(), size: 0 },
        };
        let now = Arc::new(now);
        self.install(before.as_ref(), now.clone());
        Ok(now)
    }

    /// Keeps `now`, which followed `before`; whoever was faster stays if it is newer.
    fn install(&self, before: Option<&Arc<Held>>, now: Arc<Held>) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let same = match (held.as_ref(), before) {
            (Some(held), Some(before)) => Arc::ptr_eq(held, before),
            (None, _) => true,
            _ => false,
        };
        if same || held.as_ref().is_some_and(|held| held.document.head.revision < now.document.head.revision)
        {
            *held = Some(now);
        }
    }

    fn tell_if_near(&self, size: usize) {
        if !self.limit.near(size) {
            self.told.store(false, Ordering::Relaxed);
            return;
        }
        if let Some(notice) = self.notice.as_ref().filter(|_| !self.told.swap(true, Ordering::Relaxed)) {
            notice(&format!(
                "the document has {size} of {} bytes: at its limit it refuses new orders and notifications; move to \
                 another store before that (`paidonce export`, then `paidonce import`)",
                self.limit.new_work
            ));
        }
    }

    fn with_bytes(&self, held: &Held, mut ledger: Ledger) -> Result<Ledger> {
        self.archives.fill(&*self.backing, &held.document, &mut ledger)?;
        Ok(ledger)
    }
}

impl Store for DocumentStore {
    fn commit(&self, batch: &[Command], now: Timestamp, policy: &Policy) -> Result<Vec<Reply>> {
        let _one_at_a_time = self.committing.lock().unwrap_or_else(PoisonError::into_inner);
        self.commit_batch(batch, now, policy)
    }

    fn load(&self, keys: &Keys) -> Result<Ledger> {
        let held = self.fresh()?;
        self.with_bytes(&held, whole::part(&held.document.ledger, keys))
    }

    fn snapshot(&self) -> Result<Ledger> {
        let held = self.fresh()?;
        self.with_bytes(&held, held.document.ledger.clone())
    }

    fn due(&self, what: &Due, now: Timestamp, limit: usize) -> Result<Vec<TaskKey>> {
        whole::due(&self.fresh()?.document.ledger, what, now, limit)
    }

    fn stale(&self, stale: &Stale) -> Result<Keys> {
        whole::stale(&self.fresh()?.document.ledger, stale)
    }

    fn old_bodies(&self, wanted: &Bodies) -> Result<OldBodies> {
        whole::old_bodies(&self.fresh()?.document.ledger, wanted)
    }

    fn attempts(&self, task: &TaskKey) -> Result<Vec<(u64, Attempt)>> {
        whole::attempts(&self.fresh()?.document.ledger, task)
    }

    fn task(&self, handle: &str) -> Result<Option<(TaskKey, Task)>> {
        whole::task(&self.fresh()?.document.ledger, handle)
    }

    fn orders(&self, filter: &OrderFilter, page: &Page) -> Result<Listed<OrderId>> {
        whole::orders(&self.fresh()?.document.ledger, filter, page)
    }

    fn events(&self, filter: &EventFilter, page: &Page) -> Result<Listed<(EventKey, Event)>> {
        let held = self.fresh()?;
        let mut listed = whole::events(&held.document.ledger, filter, page)?;
        for (key, event) in &mut listed.rows {
            event.body = self.archives.body(&*self.backing, &held.document, key, event)?;
        }
        Ok(listed)
    }

    fn entitlements(
        &self,
        filter: &EntitlementFilter,
        page: &Page,
    ) -> Result<Listed<((OrderId, Unit), Entitlement)>> {
        whole::entitlements(&self.fresh()?.document.ledger, filter, page)
    }

    fn cases(&self, filter: &CaseFilter, page: &Page) -> Result<Listed<(CaseKey, Case)>> {
        whole::cases(&self.fresh()?.document.ledger, filter, page)
    }

    fn case(&self, handle: &str) -> Result<Option<(CaseKey, Case)>> {
        whole::case(&self.fresh()?.document.ledger, handle)
    }

    fn audits(&self, filter: &AuditFilter, page: &Page) -> Result<Listed<(AuditKey, Audit)>> {
        whole::audits(&self.fresh()?.document.ledger, filter, page)
    }

    fn tasks(&self, filter: &TaskFilter, page: &Page) -> Result<Listed<(TaskKey, Task)>> {
        whole::tasks(&self.fresh()?.document.ledger, filter, page)
    }

    fn products(&self, page: &Page) -> Result<Listed<(Sku, Product)>> {
        whole::products(&self.fresh()?.document.ledger, page)
    }

    fn api_keys(&self) -> Result<Vec<(KeyName, ApiKey)>> {
        whole::api_keys(&self.fresh()?.document.ledger)
    }

    fn api_key(&self, digest: &Digest) -> Result<Option<(KeyName, ApiKey)>> {
        whole::api_key(&self.fresh()?.document.ledger, digest)
    }

    fn counts(&self) -> Result<Counts> {
        whole::counts(&self.fresh()?.document.ledger)
    }

    fn describe(&self) -> String {
        self.backing.describe()
    }
}
