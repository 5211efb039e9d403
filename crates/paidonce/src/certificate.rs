//! Certificates of providers that sign with one: fetched when a delivery names one that its contract allows, one at a
//! time, and kept.
//!
//! It is the only outbound call that an unverified request can cause, so it is held short: the address is the
//! contract's to allow, no redirect and no proxy is followed, and there are only so many a minute. Nothing fetched is
//! believed: chain, name and validity are checked at each request, by the contract's verifier.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use paidonce_contracts::Certificates;
use tokio::sync::Mutex;
use ureq::Agent;

/// How long a fetch may take, in all.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The largest answer. A chain has about 5 KB.
const BYTES_MAX: u64 = 64 * 1024;

/// The most fetches of a minute, whatever is sent. A provider changes its certificate once in months.
const FETCHES_PER_MINUTE_MAX: usize = 6;

const MINUTE_MS: i64 = 60_000;

/// After so long a certificate that is not accepted is fetched again: the provider may have renewed it in its place.
const STALE_MS: i64 = 60 * MINUTE_MS;

/// Gets what is at an address. It may block.
pub trait FetchCertificate: Send + Sync {
    /// The body of a 200 answer.
    ///
    /// # Errors
    /// There is none, in words for the log.
    fn fetch(&self, url: &str) -> Result<Vec<u8>, String>;
}

/// Over https, from the address itself.
struct Https(Agent);

impl Https {
    fn new() -> Self {
        let config = Agent::config_builder().https_only(true).max_redirects(0).proxy(None);
        Self(config.timeout_global(Some(TIMEOUT)).http_status_as_error(false).build().into())
    }
}

impl FetchCertificate for Https {
    fn fetch(&self, url: &str) -> Result<Vec<u8>, String> {
        let mut answer = self.0.get(url).call().map_err(|error| error.to_string())?;
        if answer.status() != 200 {
            return Err(format!("status {}", answer.status().as_u16()));
        }
        let body = answer.body_mut().with_config().limit(BYTES_MAX).read_to_vec();
        body.map_err(|error| error.to_string())
    }
}

/// Why there is no certificate now. The delivery may come again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfetched {
    /// Enough was fetched for now.
    #[error("more certificates were asked for than are fetched in a minute")]
    TooMany,
    /// It cannot be had, or is none.
    #[error("the certificate cannot be fetched: {0}")]
    Failed(String),
}

/// The certificates of all sources.
pub struct CertificateCache {
    kept: RwLock<Arc<Certificates>>,
    fetches: Mutex<Fetches>,
    from: Arc<dyn FetchCertificate>,
}

/// What was fetched, and when.
#[derive(Default)]
struct Fetches {
    /// Tries of the last minute, failed ones too.
    recent_ms: Vec<i64>,
    fetched_ms: BTreeMap<String, i64>,
}

impl fmt::Debug for CertificateCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CertificateCache")
    }
}

impl Default for CertificateCache {
    /// Empty, with the roots that browsers trust, over https.
    fn default() -> Self {
        Self::new(Certificates::default(), Arc::new(Https::new()))
    }
}

impl CertificateCache {
    /// With other roots, or another way to fetch.
    #[must_use]
    pub fn new(kept: Certificates, from: Arc<dyn FetchCertificate>) -> Self {
        Self { kept: RwLock::new(Arc::new(kept)), fetches: Mutex::default(), from }
    }

    /// What is there now.
    #[must_use]
    pub fn kept(&self) -> Arc<Certificates> {
        self.kept.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes that certificate be there, unless it came lately. One fetch at a time: whoever waits for it finds it.
    /// True if something new is there.
    ///
    /// # Errors
    /// It cannot be had now.
    pub async fn fetch(&self, url: &str, now_ms: i64) -> Result<bool, Unfetched> {
        let mut fetches = self.fetches.lock().await;
        if fetches.fetched_ms.get(url).is_some_and(|at| now_ms.saturating_sub(*at) < STALE_MS) {
            return Ok(false);
        }
        fetches.recent_ms.retain(|at| now_ms.saturating_sub(*at) < MINUTE_MS);
        if fetches.recent_ms.len() >= FETCHES_PER_MINUTE_MAX {
            return Err(Unfetched::TooMany);
        }
        fetches.recent_ms.push(now_ms);
        let (from, address) = (self.from.clone(), url.to_owned());
        let fetched = tokio::task::spawn_blocking(move || from.fetch(&address)).await;
        let fetched = fetched.unwrap_or_else(|_| Err("the fetch ended early".to_owned()));
        let mut certificates = Certificates::clone(&self.kept());
        let kept = fetched.and_then(|pem| certificates.insert(url, &pem).map_err(|error| error.to_string()));
        kept.map_err(Unfetched::Failed)?;
        *self.kept.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(certificates);
        fetches.fetched_ms.insert(url.to_owned(), now_ms);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;

    const PEM: &[u8] = include_bytes!("../../contracts/fixtures/paypal/selfmade_cert.pem");
    const URL: &str = "https://api.paypal.com/v1/notifications/certs/CERT-1";

    /// Answers with what it was given, and counts.
    struct Fake(Result<Vec<u8>, String>, AtomicUsize);

    impl FetchCertificate for Fake {
        fn fetch(&self, _: &str) -> Result<Vec<u8>, String> {
            self.1.fetch_add(1, Relaxed);
            self.0.clone()
        }
    }

    fn cache(answer: Result<Vec<u8>, String>) -> (CertificateCache, Arc<Fake>) {
        let fake = Arc::new(Fake(answer, AtomicUsize::new(0)));
        (CertificateCache::new(Certificates::none(), fake.clone()), fake)
    }

    fn block<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
    }

    #[test]
    fn many_at_once_are_one_fetch_and_a_stale_one_is_fetched_again() {
        let (cache, fake) = cache(Ok(PEM.to_vec()));
        block(async {
            let (one, other) = tokio::join!(cache.fetch(URL, 0), cache.fetch(URL, 1));
            assert_eq!((one, other), (Ok(true), Ok(false)));
            assert!(cache.kept().contains(URL));
            assert_eq!(cache.fetch(URL, STALE_MS - 1).await, Ok(false));
            assert_eq!(fake.1.load(Relaxed), 1);
            assert_eq!(cache.fetch(URL, STALE_MS).await, Ok(true));
            assert_eq!(fake.1.load(Relaxed), 2);
        });
    }

    /// B13: a page instead of a certificate, and no answer at all. Neither is kept, and neither is asked for without end.
    #[test]
    fn what_is_no_certificate_is_not_kept_and_only_so_many_are_asked_for() {
        for answer in [Ok(b"<html>no</html>".to_vec()), Ok(Vec::new()), Err("timed out".to_owned())] {
            let (cache, fake) = cache(answer);
            block(async {
                for _ in 0..FETCHES_PER_MINUTE_MAX {
                    assert!(matches!(cache.fetch(URL, 0).await, Err(Unfetched::Failed(_))));
                }
                assert_eq!(cache.fetch(URL, MINUTE_MS - 1).await, Err(Unfetched::TooMany));
                assert_eq!(fake.1.load(Relaxed), FETCHES_PER_MINUTE_MAX);
                assert!(!cache.kept().contains(URL));
                assert!(matches!(cache.fetch(URL, MINUTE_MS).await, Err(Unfetched::Failed(_))));
            });
        }
    }

    #[test]
    fn nothing_is_fetched_but_over_https() {
        let error = Https::new().fetch("http://127.0.0.1:9/v1/notifications/certs/C").unwrap_err();
        assert!(error.contains("https"), "{error}");
    }
}
