//! On a NATS JetStream key-value bucket: at `PAIDONCE_TEST_NATS`, else at the usual port. A key of its own for each store.

use std::sync::{Mutex, OnceLock};

use paidonce_store::conformance::{Break, Broken, Harness, skipped};
use paidonce_store::{DocumentOptions, DocumentStore, Store, StoreErrorKind};

use super::{Breaks, name_of_its_own, unprobed};

pub(super) fn server() -> String {
    std::env::var("PAIDONCE_TEST_NATS").unwrap_or_else(|_| "nats://127.0.0.1:4222".to_owned())
}

/// Why there is no server to test with.
pub(super) fn missing() -> Option<String> {
    static MISSING: OnceLock<Option<String>> = OnceLock::new();
    let try_it = || {
        let error = DocumentStore::open_nats(&url("reachable"), &unprobed()).err()?;
        Some(format!("no NATS with JetStream answers at {} (PAIDONCE_TEST_NATS): {error}", server()))
    };
    MISSING.get_or_init(try_it).clone()
}

pub(super) fn url(key: &str) -> String {
    format!("{}/paidonce-test/{key}", server().trim_end_matches('/'))
}

#[derive(Default)]
struct Nats {
    key: Mutex<String>,
    breaks: Breaks,
}

impl Nats {
    fn open(&self) -> DocumentStore {
        DocumentStore::open_nats(&url(&self.key.lock().unwrap()), &unprobed()).unwrap()
    }
}

impl Harness for Nats {
    fn missing(&self) -> Option<String> {
        missing()
    }

    fn fresh(&self) -> Box<dyn Store> {
        *self.key.lock().unwrap() = name_of_its_own();
        Box::new(self.breaks.of(self.open()))
    }

    fn second(&self) -> Option<Box<dyn Store>> {
        Some(Box::new(self.open()))
    }

    fn break_at<'a>(&'a self, _store: &'a dyn Store, _at: Break) -> Box<dyn Broken + 'a> {
        self.breaks.switch()
    }
}

paidonce_store::conformance_tests!(Nats::default());

#[test]
fn the_probe_trusts_a_server_that_keeps_the_conditions() {
    if skipped("the_probe_trusts_a_server_that_keeps_the_conditions", missing().as_deref()) {
        return;
    }
    DocumentStore::open_nats(&url(&name_of_its_own()), &DocumentOptions::default()).unwrap();
}

#[test]
fn what_cannot_be_reached_says_so_and_never_the_password() {
    let url = "nats://someone:hunter2@127.0.0.1:1/bucket";
    let error = DocumentStore::open_nats(url, &unprobed()).err().unwrap();
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
}
