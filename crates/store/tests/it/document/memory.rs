//! On an object store in memory, which two stores share as two processes share a bucket.

use std::sync::{Arc, Mutex};

use object_store::ObjectStore;
use object_store::memory::InMemory;
use paidonce_store::conformance::{Break, Broken, Harness};
use paidonce_store::{DocumentOptions, DocumentStore, Store};

use super::{Breaks, unprobed};

#[derive(Default)]
struct Memory {
    place: Mutex<Arc<InMemory>>,
    breaks: Breaks,
}

impl Memory {
    fn open(&self) -> DocumentStore {
        let place: Arc<dyn ObjectStore> = self.place.lock().unwrap().clone();
        DocumentStore::on_objects(place, "paidonce", &unprobed()).unwrap()
    }
}

impl Harness for Memory {
    fn fresh(&self) -> Box<dyn Store> {
        *self.place.lock().unwrap() = Arc::default();
        Box::new(self.breaks.of(self.open()))
    }

    fn second(&self) -> Option<Box<dyn Store>> {
        Some(Box::new(self.open()))
    }

    fn break_at<'a>(&'a self, _store: &'a dyn Store, _at: Break) -> Box<dyn Broken + 'a> {
        self.breaks.switch()
    }
}

paidonce_store::conformance_tests!(Memory::default());

#[test]
fn the_probe_trusts_a_store_that_keeps_the_conditions() {
    let place: Arc<dyn ObjectStore> = Arc::<InMemory>::default();
    DocumentStore::on_objects(place, "paidonce", &DocumentOptions::default()).unwrap();
}
