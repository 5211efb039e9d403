//! The document store, on each place where a document can lie.

mod archive;
mod bad_server;
mod contended;
mod fixture;
mod limit;
mod lost;
mod memory;
mod moto;
mod nats;
mod proxy;
mod s3;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use paidonce_ledger::testing::{about, eur, id};
use paidonce_ledger::{CaptureState, Fact, Notice};
use paidonce_store::conformance::Broken;
use paidonce_store::{DocumentOptions, DocumentProbe, DocumentStore};

/// A name that no other test of this run, or of another run on the same server, has.
fn name_of_its_own() -> String {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let since = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos();
    format!("t{}-{}-{since}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed))
}

/// Without the probe, which has tests of its own: a suite opens hundreds of stores.
fn unprobed() -> DocumentOptions {
    DocumentOptions { probe: DocumentProbe::Never, ..DocumentOptions::default() }
}

fn captured(event: &str, payment: &str) -> Notice {
    about(event, payment, vec![Fact::captured(id(payment), CaptureState::Settled, Some(eur("10")))])
}

/// The switch of the store that was opened last.
#[derive(Default)]
struct Breaks(Mutex<Arc<AtomicBool>>);

impl Breaks {
    fn of(&self, store: DocumentStore) -> DocumentStore {
        *self.0.lock().unwrap() = store.breaks();
        store
    }

    fn switch(&self) -> Box<dyn Broken> {
        let breaks = self.0.lock().unwrap().clone();
        breaks.store(true, Ordering::SeqCst);
        Box::new(Mended(breaks))
    }
}

struct Mended(Arc<AtomicBool>);

impl Broken for Mended {}
impl Drop for Mended {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}
