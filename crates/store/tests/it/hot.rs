//! Everything that is done often, once each: what the scan tests watch.

use paidonce_ledger::testing::{about, eur, id, place, receive};
use paidonce_ledger::{
    CaptureState, Command, Digest, EventKey, Fact, Key, Keys, PaymentKey, Policy, Timestamp, testing,
};
use paidonce_store::conformance::NOW;
use paidonce_store::{
    AuditFilter, Bodies, CaseFilter, EntitlementFilter, EventFilter, OrderFilter, Page, Store, TaskFilter,
};

/// Rows in each table in the short form; `PAIDONCE_SCAN_ROWS` asks for more.
pub(crate) fn rows() -> u32 {
    std::env::var("PAIDONCE_SCAN_ROWS").ok().and_then(|n| n.parse().ok()).unwrap_or(50_000)
}

/// Commands and queries that no table may be read whole for. (Counts and exports are not among them.)
pub(crate) fn everything(store: &dyn Store) {
    let policy = Policy::default();
    let order = Command::PlaceOrder(place("hot", &eur("10"), &["pi_hot"]));
    let capture = Fact::captured(id("pi_hot"), CaptureState::Settled, Some(eur("10")));
    let event = receive(vec![about("evt_hot", "pi_hot", vec![capture])]);
    let unbound = receive(vec![about("evt_lost", "pi_lost", vec![Fact::pending(None)])]);
    for batch in [vec![order], vec![event.clone(), unbound], vec![event]] {
        store.commit(&batch, NOW, &policy).unwrap();
    }
    let due = store.due(&paidonce_store::Due::Grants, NOW, 10).unwrap();
    assert_eq!(due.len(), 1);
    store.commit(&[Command::Grant(due[0].clone())], NOW, &policy).unwrap();

    let (page, payment) = (Page::first(10), PaymentKey { account: testing::account(), id: id("pi_hot") });
    let event = EventKey { account: testing::account(), id: id("evt_hot") };
    let keys = Keys::from([Key::Order(id("hot")), Key::Event(event), Key::Payment(payment.clone())]);
    assert_eq!(store.load(&keys).unwrap().entitlements.rows().len(), 1);
    let of_payment = EventFilter { payment: Some(payment), ..EventFilter::default() };
    assert_eq!(store.events(&of_payment, &page).unwrap().rows.len(), 1);
    let by_id = EventFilter { id: Some(id("evt_hot")), ..EventFilter::default() };
    assert_eq!(store.events(&by_id, &page).unwrap().rows.len(), 1);
    let of_order = EntitlementFilter { order: Some(id("hot")), ..EntitlementFilter::default() };
    assert_eq!(store.entitlements(&of_order, &page).unwrap().rows.len(), 1);
    let of_customer = OrderFilter { customer: Some(id("alice")) };
    assert_eq!(store.orders(&of_customer, &page).unwrap().rows.len(), 1);
    let newest = store.orders(&OrderFilter::default(), &Page::first(1)).unwrap();
    store.orders(&OrderFilter::default(), &Page { limit: 5, after: newest.next }).unwrap();
    let tasks = TaskFilter { order: Some(id("hot")), ..TaskFilter::default() };
    assert_eq!(store.tasks(&tasks, &page).unwrap().rows.len(), 1);
    store.cases(&CaseFilter { open: true, order: Some(id("hot")) }, &page).unwrap();
    store.case("000000000000").unwrap();
    let audits = AuditFilter { order: Some(id("hot")), by: None };
    assert_eq!(store.audits(&audits, &page).unwrap().rows.len(), 1);
    let wanted = Bodies { after: Timestamp(0), by: NOW, walk: 100, limit: 10 };
    assert!(!store.old_bodies(&wanted).unwrap().events.is_empty());
    store.api_key(&Digest::of_bytes(b"a key")).unwrap();
}
