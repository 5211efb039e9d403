//! Rows come back as they went in, and listings agree with them.

use std::collections::BTreeSet;

use paidonce_ledger::testing::{about, cancel, eur, id, notice, place, receive, stamp};
use paidonce_ledger::{
    AMOUNT_MAX, AddKey, Body, CaptureState, Command, Decision, Digest, Fact, Money, MoneyUnit, Notice,
    PlaceOrder, Policy, Reading, Received, Reply, Reprocess, ResolveCase, Scope, SetProduct,
};

use super::{Harness, NOW, commit, grant_all, sound};
use crate::{AuditFilter, CaseFilter, EntitlementFilter, EventFilter, OrderFilter, Page, Store, TaskFilter};

fn captured(event: &str, payment: &str, money: Money) -> Notice {
    about(event, payment, vec![Fact::captured(id(payment), CaptureState::Settled, Some(money))])
}

pub(super) fn ids_differ(harness: &dyn Harness) {
    let (store, policy) = (harness.fresh(), Policy::default());
    let long = "x".repeat(255);
    let ids = [
        "evt_A",
        "evt_a",
        "evt_A ",
        " evt_A",
        "évt",
        "e\u{301}vt",
        "a/b",
        "%00",
        "'; DROP TABLE event; --",
        &long,
    ];
    for (n, text) in ids.into_iter().enumerate() {
        let replies = commit(&*store, &[receive(vec![notice(text, Reading::Ignored)])], &policy);
        assert!(matches!(&replies[0], Reply::Received(r) if r[0].received == Received::Ignored), "{text:?}");
        let order = PlaceOrder { order: id(text), ..place(&format!("o_{n}"), &eur("1"), &[text]) };
        commit(&*store, &[Command::PlaceOrder(order)], &policy);
        commit(&*store, &[receive(vec![captured(&format!("paid_{n}"), text, eur("1"))])], &policy);
    }
    let ledger = sound(&*store, &policy);
    assert_eq!(ledger.orders.rows().len(), ids.len());
    assert_eq!(ledger.payments.rows().len(), ids.len());
}

pub(super) fn bodies(harness: &dyn Harness) {
    let (store, policy) = (harness.fresh(), Policy::default());
    let bytes: Vec<u8> = (0..=255).collect();
    let body = Body::new(bytes.clone());
    let odd =
        Notice { content: body.digest(), body, ..notice("evt_1", Reading::Unreadable("no JSON".to_owned())) };
    commit(&*store, &[receive(vec![odd.clone()])], &policy);
    let listed = store.events(&EventFilter::default(), &Page::first(1)).expect("readable");
    assert_eq!(listed.rows[0].1.body.bytes(), bytes);
    // P7: both versions are kept.
    let other = paidonce_ledger::testing::with_other_bytes(&odd);
    commit(&*store, &[receive(vec![other.clone()])], &policy);
    let ledger = sound(&*store, &policy);
    let kept = ledger.cases.rows().values().find_map(|case| case.body.as_ref());
    assert_eq!(kept.map(Body::bytes), Some(other.body.bytes()));
    assert_eq!(ledger.events.rows().values().next().map(|event| event.body.bytes()), Some(&bytes[..]));
    read_again(&*store, odd);
}

/// What a later contract reads out of the same bytes is kept, so that a redelivery is a duplicate under it.
fn read_again(store: &dyn Store, odd: Notice) {
    let policy = Policy::default();
    let notice = Notice {
        kind: "later".into(),
        content: Digest::of_bytes(b"members"),
        reading: Reading::Ignored,
        ..odd
    };
    let (stamp, source, account) = (stamp("reprocess"), id("shop"), paidonce_ledger::testing::account());
    let again = Reprocess { stamp, source, account, notice: notice.clone() };
    commit(store, &[Command::Reprocess(again)], &policy);
    let replies = commit(store, &[receive(vec![notice.clone()])], &policy);
    assert!(matches!(&replies[0], Reply::Received(r) if r[0].received == Received::Duplicate), "{replies:?}");
    let ledger = sound(store, &policy);
    let events = ledger.events.rows().values().map(|event| (event.kind.clone(), event.content));
    assert_eq!(events.collect::<Vec<_>>(), [(notice.kind, notice.content)]);
}

pub(super) fn amounts(harness: &dyn Harness) {
    let (store, policy) = (harness.fresh(), Policy::default());
    let wei = MoneyUnit::asset("eip155:1", "ETH", 18).expect("a unit");
    let most = Money::new(AMOUNT_MAX, wei).expect("an amount");
    commit(&*store, &[Command::PlaceOrder(place("1001", &most, &["pi_1"]))], &policy);
    commit(&*store, &[receive(vec![captured("evt_1", "pi_1", most.clone())])], &policy);
    grant_all(&*store, &policy).expect("the store works");
    let ledger = sound(&*store, &policy);
    assert_eq!(ledger.orders.get(&id("1001")).map(|order| order.total.clone()), Some(most));
    assert_eq!(ledger.entitlements.rows().len(), 1);
}

/// Orders at two moments, three to a moment, so that pages end inside one.
fn seven_orders(store: &dyn Store) {
    for n in 0..7 {
        let order = Command::PlaceOrder(place(&format!("o_{n}"), &eur("0"), &[]));
        let now = NOW.plus_ms(n / 3 - 2);
        store.commit(&[order], now, &Policy::default()).expect("the store works");
    }
    grant_all(store, &Policy::default()).expect("the store works");
}

pub(super) fn pages(harness: &dyn Harness) {
    let store = harness.fresh();
    seven_orders(&*store);
    for limit in [1, 2, 3, 6, 7, 50] {
        let (mut page, mut seen) = (Page::first(limit), Vec::new());
        loop {
            let listed = store.orders(&OrderFilter::default(), &page).expect("readable");
            assert!(listed.rows.len() <= limit);
            seen.extend(listed.rows.iter().map(ToString::to_string));
            let Some(next) = listed.next else { break };
            page.after = Some(next);
        }
        assert_eq!(seen, ["o_6", "o_5", "o_4", "o_3", "o_2", "o_1", "o_0"], "in pages of {limit}");
    }
    let nonsense = Page { after: Some("nonsense".to_owned()), limit: 5 };
    assert!(store.orders(&OrderFilter::default(), &nonsense).is_err());
}

pub(super) fn filters(harness: &dyn Harness) {
    let (store, policy) = (harness.fresh(), Policy::default());
    seven_orders(&*store);
    commit(&*store, &[receive(vec![captured("evt_1", "pi_9", eur("1"))])], &policy);
    commit(&*store, &[receive(vec![notice("evt_2", Reading::Unreadable("why".to_owned()))])], &policy);
    let page = Page::first(100);
    let entitlements =
        |filter: EntitlementFilter| store.entitlements(&filter, &page).expect("readable").rows.len();
    let of = |customer: &str, sku: &str| EntitlementFilter {
        customer: Some(id(customer)),
        sku: Some(id(sku)),
        active: true,
        order: None,
    };
    assert_eq!(entitlements(EntitlementFilter::default()), 7);
    assert_eq!((entitlements(of("alice", "ebook")), entitlements(of("alice", "other"))), (7, 0));
    assert_eq!(entitlements(of("bob", "ebook")), 0);
    let order = EntitlementFilter { order: Some(id("o_3")), ..EntitlementFilter::default() };
    assert_eq!(entitlements(order), 1);
    let customer = OrderFilter { customer: Some(id("bob")) };
    assert_eq!(store.orders(&customer, &page).expect("readable").rows.len(), 0);
    let events = |filter: EventFilter| -> BTreeSet<String> {
        let rows = store.events(&filter, &page).expect("readable").rows;
        rows.into_iter().map(|(key, _)| key.id.to_string()).collect()
    };
    let unreadable = EventFilter { outcome: Some("unreadable".to_owned()), ..EventFilter::default() };
    assert_eq!(events(unreadable), BTreeSet::from(["evt_2".to_owned()]));
    let by_id = EventFilter { id: Some(id("evt_1")), ..EventFilter::default() };
    assert_eq!(events(by_id), BTreeSet::from(["evt_1".to_owned()]));
    assert_eq!(events(EventFilter { id: Some(id("evt_9")), ..EventFilter::default() }), BTreeSet::new());
    same_id_at_two_accounts(&*store);
    let open = CaseFilter { open: true, order: None };
    assert_eq!(store.cases(&open, &page).expect("readable").rows.len(), 1);
    let (handle, case) = store
        .cases(&open, &page)
        .expect("readable")
        .rows
        .into_iter()
        .map(|(key, case)| (key.handle(), case))
        .next()
        .expect("one");
    assert_eq!(store.case(&handle).expect("readable").map(|(_, case)| case), Some(case));
    assert_eq!(store.case("000000000000").expect("readable"), None);
    let state = Some(paidonce_ledger::TaskState::Done);
    let tasks = TaskFilter { order: Some(id("o_1")), state, ..TaskFilter::default() };
    assert_eq!(store.tasks(&tasks, &page).expect("readable").rows.len(), 1);
    let counts = store.counts().expect("readable");
    assert_eq!((counts.orders, counts.events, counts.entitlements), (7, 3, 7));
    assert_eq!((counts.open_cases, counts.pending_tasks, counts.unbound_payments), (1, 0, 1));
    assert_eq!(counts.oldest_pending_event, Some(NOW), "the unreadable one waits");
    let case = store.cases(&open, &page).expect("readable").rows.remove(0).0;
    let (stamp, decision) = (stamp("resolve"), Decision::Accept);
    commit(&*store, &[Command::ResolveCase(ResolveCase { stamp, case, decision })], &policy);
    assert_eq!(store.counts().expect("readable").oldest_pending_event, None);
}

/// Another account's `evt_1`, which sorts before all others.
fn same_id_at_two_accounts(store: &dyn Store) {
    let Command::Receive(mut other) = receive(vec![notice("evt_1", Reading::Ignored)]) else {
        unreachable!("that is what it makes")
    };
    other.account.name = id("0_other");
    commit(store, &[Command::Receive(other)], &Policy::default());
    let by_id = EventFilter { id: Some(id("evt_1")), ..EventFilter::default() };
    let (mut page, mut seen) = (Page::first(1), BTreeSet::new());
    loop {
        let listed = store.events(&by_id, &page).expect("readable");
        seen.extend(listed.rows.iter().map(|(key, _)| key.account.name.to_string()));
        let Some(next) = listed.next else { break };
        page.after = Some(next);
    }
    assert_eq!(seen.len(), 2, "{seen:?}");
}

/// Eight orders were placed; the last was cancelled.
pub(super) fn audits(harness: &dyn Harness) {
    let (store, policy) = (harness.fresh(), Policy::default());
    seven_orders(&*store);
    commit(&*store, &[Command::PlaceOrder(place("o_", &eur("1"), &[]))], &policy);
    store.commit(&[cancel("o_")], NOW.plus_ms(1), &policy).expect("the store works");
    let page = Page::first(100);
    let done = |filter: AuditFilter, page: &Page| -> Vec<String> {
        let rows = store.audits(&filter, page).expect("readable").rows;
        rows.into_iter().map(|(_, audit)| format!("{} {}", audit.action, audit.subject)).collect()
    };
    assert_eq!(done(AuditFilter::default(), &page).len(), 9);
    assert_eq!(done(AuditFilter::default(), &Page::first(1)), ["cancel_order order o_"]);
    let of = |order: &str| AuditFilter { order: Some(id(order)), by: None };
    assert_eq!(done(of("o_"), &page), ["cancel_order order o_", "place_order order o_"]);
    assert_eq!(done(of("o_3"), &page), ["place_order order o_3"]);
    assert_eq!(done(of("o"), &page), Vec::<String>::new());
    let nobody = AuditFilter { order: None, by: Some("nobody".to_owned()) };
    assert_eq!(done(nobody, &page), Vec::<String>::new());
    let first = store.audits(&AuditFilter::default(), &Page::first(3)).expect("readable");
    let rest = Page { limit: 100, after: first.next };
    assert_eq!(done(AuditFilter::default(), &rest).len(), 6);
}

pub(super) fn products(harness: &dyn Harness) {
    let (store, policy) = (harness.fresh(), Policy::default());
    let price =
        |text: &str| Money::parse(text, MoneyUnit::asset("eth", "wei", 18).expect("a unit")).expect("money");
    let most = u64::try_from(i64::MAX).expect("positive");
    let stocks = [Some(0), Some(most), None];
    for (n, (sku, stock)) in ["a", "A", "quoted \"ü\""].into_iter().zip(stocks).enumerate() {
        let prices = vec![eur("0.01"), price("123456789.890123456789012345")];
        let set = SetProduct { stamp: stamp(&format!("set-{n}")), sku: id(sku), prices, stock };
        let now = NOW.plus_ms(i64::try_from(n).expect("few"));
        store.commit(&[Command::SetProduct(set)], now, &policy).expect("the store works");
    }
    let ledger = sound(&*store, &policy);
    let first = store.products(&Page::first(2)).expect("readable");
    let rest = store.products(&Page { limit: 2, after: first.next.clone() }).expect("readable");
    assert_eq!((first.rows.len(), rest.rows.len(), rest.next), (2, 1, None));
    for (sku, row) in first.rows.iter().chain(&rest.rows) {
        assert_eq!(ledger.products.get(sku), Some(row));
    }
    assert_eq!(rest.rows[0].0, id("a"));
}

pub(super) fn api_keys(harness: &dyn Harness) {
    let (store, policy) = (harness.fresh(), Policy::default());
    let digest = Digest::of_bytes(b"a key");
    let key = AddKey { stamp: stamp("key"), name: id("shop"), digest, scope: Scope::Operate };
    assert_eq!(commit(&*store, &[Command::AddKey(key)], &policy), [Reply::KeyChanged]);
    let (name, key) = store.api_key(&digest).expect("readable").expect("it is there");
    assert_eq!((name, key.scope, key.revoked_at), (id("shop"), Scope::Operate, None));
    assert_eq!(store.api_key(&Digest::of_bytes(b"another")).expect("readable"), None);
    let keys = store.api_keys().expect("readable");
    assert_eq!(keys.into_iter().map(|(name, _)| name).collect::<Vec<_>>(), [id("shop")]);
}
