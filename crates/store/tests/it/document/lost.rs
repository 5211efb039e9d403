//! Answers that are lost after the write was done: no outcome is told wrong, and nothing is done twice.

use paidonce_ledger::testing::{eur, place, receive};
use paidonce_ledger::{Command, Granted, Policy, Received, Reply, Timestamp, invariants};
use paidonce_store::conformance::skipped;
use paidonce_store::{DocumentOptions, DocumentStore, Due, Store};

use super::proxy::Proxy;
use super::{captured, moto, name_of_its_own, nats, unprobed};

const NOW: Timestamp = Timestamp(1_700_000_000_000);

fn commit(store: &DocumentStore, command: Command) -> Reply {
    store.commit(&[command], NOW, &Policy::default()).unwrap().remove(0)
}

/// Each order is placed, paid and granted through the lossy network. Every reply must be the one of a first time.
fn runs_true(store: &DocumentStore, orders: usize, lost: impl Fn() -> usize) {
    for n in 0..orders {
        let (order, payment) = (format!("o_{n}"), format!("pi_{n}"));
        let placed = commit(store, Command::PlaceOrder(place(&order, &eur("10"), &[&payment])));
        assert!(matches!(placed, Reply::Placed { .. }), "{placed:?}");
        let Reply::Received(events) = commit(store, receive(vec![captured(&format!("evt_{n}"), &payment)]))
        else {
            panic!("no reply to a delivery")
        };
        assert_eq!(events[0].received, Received::Accepted);
        let task = store.due(&Due::Grants, NOW, 1).unwrap().remove(0);
        assert_eq!(commit(store, Command::Grant(task)), Reply::Granted(Granted::Now));
    }
    let ledger = store.snapshot().unwrap();
    assert_eq!(invariants::check_settled(&ledger, &Policy::default()), []);
    assert_eq!(ledger.entitlements.rows().len(), orders);
    assert_eq!(ledger.events.rows().values().map(|event| event.duplicates).sum::<u32>(), 0);
    assert!(lost() >= orders, "only {} answers were lost", lost());
}

#[test]
fn p2_answers_lost_between_here_and_s3_change_no_outcome() {
    if skipped("p2_answers_lost_between_here_and_s3_change_no_outcome", moto::missing().as_deref()) {
        return;
    }
    let proxy = Proxy::http(moto::endpoint(), 2);
    let url = moto::url_at(&format!("http://{}", proxy.address), &name_of_its_own());
    let store = DocumentStore::open_object(&url, &moto::settings(), &unprobed()).unwrap();
    runs_true(&store, 20, || proxy.lost());
}

#[test]
fn p2_answers_lost_between_here_and_nats_change_no_outcome() {
    if skipped("p2_answers_lost_between_here_and_nats_change_no_outcome", nats::missing().as_deref()) {
        return;
    }
    let proxy = Proxy::nats(&nats::server(), 3);
    // The client waits for a lost answer as long as it is told to.
    let options = DocumentOptions { timeout_ms: 700, ..unprobed() };
    let url = format!("nats://{}/paidonce-test/{}", proxy.address, name_of_its_own());
    let store = DocumentStore::open_nats(&url, &options).unwrap();
    runs_true(&store, 5, || proxy.lost());
}
