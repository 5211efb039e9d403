//! A document that is full: refused clearly, nothing lost, and what was begun is finished.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use object_store::ObjectStore;
use object_store::memory::InMemory;
use paidonce_ledger::testing::{eur, place, receive};
use paidonce_ledger::{Command, Granted, Policy, Received, Reply, Timestamp, invariants};
use paidonce_store::{DocumentOptions, DocumentStore, Due, Store, StoreError, StoreErrorKind};

use super::{captured, unprobed};

const NOW: Timestamp = Timestamp(1_700_000_000_000);

fn commit(store: &DocumentStore, command: Command) -> Result<Reply, StoreError> {
    store.commit(&[command], NOW, &Policy::default()).map(|mut replies| replies.remove(0))
}

fn paid(store: &DocumentStore, n: usize) -> Result<Reply, StoreError> {
    let payment = format!("pi_{n}");
    commit(store, Command::PlaceOrder(place(&format!("o_{n}"), &eur("10"), &[&payment])))?;
    commit(store, receive(vec![captured(&format!("evt_{n}"), &payment)]))
}

#[test]
fn a_full_document_refuses_new_work_and_finishes_the_old() {
    let place: Arc<dyn ObjectStore> = Arc::<InMemory>::default();
    let told = Arc::new(Mutex::new(Vec::new()));
    let tells = told.clone();
    let options = DocumentOptions {
        limit_bytes: 24 * 1024,
        notice: Some(Arc::new(move |text| tells.lock().unwrap().push(text.to_owned()))),
        ..unprobed()
    };
    let store = DocumentStore::on_objects(place.clone(), "paidonce", &options).unwrap();
    let refused = AtomicUsize::new(0);
    let full = (0..5_000).find_map(|n| {
        refused.store(n, Ordering::SeqCst);
        paid(&store, n).err()
    });
    let (full, n) = (full.expect("24 KiB are full at some point"), refused.load(Ordering::SeqCst));
    assert_eq!(full.kind(), StoreErrorKind::Limit);
    assert!(full.to_string().contains("paidonce export"), "it says what to do: {full}");
    assert!(!full.retryable());
    // An order is larger than an event: where the one is refused, a few of the other may still fit.
    let event = |n: usize| commit(&store, receive(vec![captured(&format!("evt_more_{n}"), "pi_0")]));
    let more = (0..5_000).find(|n| event(*n).is_err()).expect("it is full at some point");
    assert!(store.size() <= options.limit_bytes, "{} bytes", store.size());
    let before = store.snapshot().unwrap();
    assert!(n > 20 && before.events.rows().len() >= n, "{n} orders fit");
    // What was refused left nothing, and a provider that tries again is not told that it was seen.
    assert_eq!(event(more).unwrap_err().kind(), StoreErrorKind::Limit);
    assert_eq!(store.snapshot().unwrap(), before);
    // Whatever was begun is finished: duplicates are recognised, and everything due is granted.
    let Reply::Received(events) = commit(&store, receive(vec![captured("evt_0", "pi_0")])).unwrap() else {
        panic!("no reply to a delivery")
    };
    assert_eq!(events[0].received, Received::Duplicate);
    let due = store.due(&Due::Grants, NOW, 10_000).unwrap();
    assert!(due.len() >= n, "{} of {n} orders are due", due.len());
    for task in due {
        assert_eq!(commit(&store, Command::Grant(task)).unwrap(), Reply::Granted(Granted::Now));
    }
    assert!(store.size() > options.limit_bytes, "the grants went into the reserve");
    assert_eq!(invariants::check_settled(&store.snapshot().unwrap(), &Policy::default()), []);
    let told = told.lock().unwrap();
    assert_eq!(told.len(), 1, "it warns once: {told:?}");
    // With a higher limit it goes on.
    let roomy = DocumentStore::on_objects(place, "paidonce", &unprobed()).unwrap();
    paid(&roomy, n).unwrap();
}
