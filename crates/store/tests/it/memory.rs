//! The memory store. Its commit is one replacement of the maps, so it breaks where a decision does.

use std::sync::Mutex;

use paidonce_store::conformance::{Break, Broken, Harness};
use paidonce_store::{MemoryStore, Store};

#[derive(Default)]
struct Memory {
    breaks: Mutex<std::sync::Arc<std::sync::atomic::AtomicBool>>,
}

struct Mended(std::sync::Arc<std::sync::atomic::AtomicBool>);

impl Broken for Mended {}
impl Drop for Mended {
    fn drop(&mut self) {
        self.0.store(false, std::sync::atomic::Ordering::SeqCst);
    }
}

impl Harness for Memory {
    fn fresh(&self) -> Box<dyn Store> {
        let store = MemoryStore::new();
        *self.breaks.lock().unwrap() = store.breaks();
        Box::new(store)
    }

    fn second(&self) -> Option<Box<dyn Store>> {
        None
    }

    fn break_at<'a>(&'a self, _store: &'a dyn Store, _at: Break) -> Box<dyn Broken + 'a> {
        let breaks = self.breaks.lock().unwrap().clone();
        breaks.store(true, std::sync::atomic::Ordering::SeqCst);
        Box::new(Mended(breaks))
    }
}

paidonce_store::conformance_tests!(Memory::default());
