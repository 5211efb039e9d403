//! On a server that speaks S3. A document of its own for each store.

use std::sync::Mutex;

use paidonce_store::conformance::{Break, Broken, Harness, skipped};
use paidonce_store::{DocumentOptions, DocumentStore, Store};

use super::{Breaks, moto, name_of_its_own, unprobed};

#[derive(Default)]
struct S3 {
    key: Mutex<String>,
    breaks: Breaks,
}

impl S3 {
    fn open(&self) -> DocumentStore {
        let url = moto::url(&self.key.lock().unwrap());
        DocumentStore::open_object(&url, &moto::settings(), &unprobed()).unwrap()
    }
}

impl Harness for S3 {
    fn missing(&self) -> Option<String> {
        moto::missing()
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

paidonce_store::conformance_tests!(S3::default());

#[test]
fn the_probe_trusts_a_server_that_keeps_the_conditions() {
    if skipped("the_probe_trusts_a_server_that_keeps_the_conditions", moto::missing().as_deref()) {
        return;
    }
    let url = moto::url(&name_of_its_own());
    DocumentStore::open_object(&url, &moto::settings(), &DocumentOptions::default()).unwrap();
}
