//! Eight writers, each a process of its own as far as the document can tell, on one object: no commit is lost.

use std::sync::{Arc, Barrier};

use object_store::ObjectStore;
use object_store::memory::InMemory;
use paidonce_ledger::testing::{eur, place, receive};
use paidonce_ledger::{Command, Policy, Timestamp, invariants};
use paidonce_store::conformance::skipped;
use paidonce_store::{DocumentStore, Store};

use super::{captured, moto, name_of_its_own, nats, unprobed};

const WRITERS: usize = 8;
const COMMANDS: usize = 25;
const NOW: Timestamp = Timestamp(1_700_000_000_000);

fn insist(store: &DocumentStore, command: &Command) {
    while let Err(error) = store.commit(std::slice::from_ref(command), NOW, &Policy::default()) {
        assert!(error.retryable(), "{error}");
    }
}

/// Every writer delivers one shared event and one of its own, again and again.
fn contend(open: &(dyn Fn() -> DocumentStore + Sync)) {
    let first = open();
    insist(&first, &Command::PlaceOrder(place("1001", &eur("10"), &["pi_1"])));
    let barrier = Barrier::new(WRITERS);
    let write = |writer: usize| {
        let store = open();
        barrier.wait();
        for n in 0..COMMANDS {
            insist(&store, &receive(vec![captured("evt_1", "pi_1")]));
            insist(&store, &receive(vec![captured(&format!("evt_{writer}_{n}"), "pi_1")]));
        }
    };
    let write = &write;
    std::thread::scope(|scope| {
        (0..WRITERS).for_each(|writer| {
            scope.spawn(move || write(writer));
        });
    });
    let ledger = first.snapshot().unwrap();
    assert_eq!(invariants::check_settled(&ledger, &Policy::default()), []);
    assert_eq!(ledger.events.rows().len(), 1 + WRITERS * COMMANDS);
    // A lost commit would be missing here, and one that was tried again without looking would be twice.
    let shared = ledger.events.rows().iter().find(|(key, _)| key.id.as_str() == "evt_1").unwrap().1;
    assert_eq!(shared.duplicates as usize, WRITERS * COMMANDS - 1);
    let others = ledger.events.rows().iter().filter(|(key, _)| key.id.as_str() != "evt_1");
    assert_eq!(others.map(|(_, event)| event.duplicates).sum::<u32>(), 0);
}

#[test]
fn eight_writers_lose_nothing_in_memory() {
    let place: Arc<dyn ObjectStore> = Arc::<InMemory>::default();
    contend(&|| DocumentStore::on_objects(place.clone(), "paidonce", &unprobed()).unwrap());
}

#[test]
fn eight_writers_lose_nothing_on_s3() {
    if skipped("eight_writers_lose_nothing_on_s3", moto::missing().as_deref()) {
        return;
    }
    let url = moto::url(&name_of_its_own());
    contend(&|| DocumentStore::open_object(&url, &moto::settings(), &unprobed()).unwrap());
}

#[test]
fn eight_writers_lose_nothing_on_nats() {
    if skipped("eight_writers_lose_nothing_on_nats", nats::missing().as_deref()) {
        return;
    }
    let url = nats::url(&name_of_its_own());
    contend(&|| DocumentStore::open_nats(&url, &unprobed()).unwrap());
}
