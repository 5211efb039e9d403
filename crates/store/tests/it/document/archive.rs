//! Bodies of old events move to archives: the document stays small, and nobody can tell.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::memory::InMemory;
use paidonce_ledger::testing::{about, account, eur, id, place, receive, with_other_bytes};
use paidonce_ledger::{
    Body, CaptureState, Command, EventKey, Fact, Key, Keys, Notice, Policy, Timestamp, invariants,
};
use paidonce_store::conformance::skipped;
use paidonce_store::{
    DocumentOptions, DocumentStore, EventFilter, MemoryStore, Page, Store, StoreErrorKind, export, read,
};

use super::{moto, name_of_its_own, nats, unprobed};

const EVENTS: usize = 200;

/// A body of 1.5 KB that compression makes little of, every third one no UTF-8.
fn large(n: usize) -> Notice {
    let capture = Fact::captured(id("pi_1"), CaptureState::Settled, Some(eur("10")));
    let notice = about(&format!("evt_{n:04}"), "pi_1", vec![capture]);
    let mut seed = n as u64 + 1;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed.to_be_bytes()[2]
    };
    let text = !n.is_multiple_of(3);
    let body =
        Body::new((0..1_500).map(|_| if text { b'!' + next() % 90 } else { next() }).collect::<Vec<_>>());
    Notice { content: body.digest(), body, ..notice }
}

fn options() -> DocumentOptions {
    DocumentOptions { limit_bytes: 96 * 1024, ..unprobed() }
}

fn fills_and_looks_the_same(store: &DocumentStore, again: &DocumentStore) {
    let (memory, policy) = (MemoryStore::new(), Policy::default());
    let both = |n: usize, command: Command| {
        let now = Timestamp(1_700_000_000_000 + n as i64);
        let replies = store.commit(std::slice::from_ref(&command), now, &policy).unwrap();
        assert_eq!(replies, memory.commit(&[command], now, &policy).unwrap());
    };
    both(0, Command::PlaceOrder(place("1001", &eur("10"), &["pi_1"])));
    (0..EVENTS).for_each(|n| both(n, receive(vec![large(n)])));
    assert!(store.size() < 96 * 1024, "{} bytes with {EVENTS} bodies of 1.5 KB", store.size());
    // A duplicate of what was archived, and a conflict with it.
    both(EVENTS, receive(vec![large(3)]));
    both(EVENTS, receive(vec![with_other_bytes(&large(5))]));
    for store in [store, again] {
        let all = store.snapshot().unwrap();
        assert_eq!(all, memory.snapshot().unwrap());
        assert_eq!(invariants::check_settled(&all, &policy), []);
        let same = |(one, two): (&paidonce_ledger::Event, &paidonce_ledger::Event)| {
            one.body.bytes() == two.body.bytes()
        };
        let memory = memory.snapshot().unwrap();
        assert!(all.events.rows().values().zip(memory.events.rows().values()).all(same));
        let key = EventKey { account: account(), id: id("evt_0000") };
        let part = store.load(&Keys::from([Key::Event(key.clone())])).unwrap();
        assert_eq!(part.events.get(&key).unwrap().body.bytes(), large(0).body.bytes());
        let listed = store
            .events(&EventFilter { id: Some(key.id.clone()), ..EventFilter::default() }, &Page::first(1));
        assert_eq!(listed.unwrap().rows[0].1.body.bytes(), large(0).body.bytes());
    }
}

#[test]
fn archived_bodies_come_back_from_memory() {
    let place: Arc<dyn ObjectStore> = Arc::<InMemory>::default();
    let open = || DocumentStore::on_objects(place.clone(), "paidonce", &options()).unwrap();
    fills_and_looks_the_same(&open(), &open());
}

#[test]
fn archived_bodies_come_back_from_s3() {
    if skipped("archived_bodies_come_back_from_s3", moto::missing().as_deref()) {
        return;
    }
    let url = moto::url(&name_of_its_own());
    let open = || DocumentStore::open_object(&url, &moto::settings(), &options()).unwrap();
    fills_and_looks_the_same(&open(), &open());
}

#[test]
fn archived_bodies_come_back_from_nats() {
    if skipped("archived_bodies_come_back_from_nats", nats::missing().as_deref()) {
        return;
    }
    let url = nats::url(&name_of_its_own());
    let open = || DocumentStore::open_nats(&url, &options()).unwrap();
    fills_and_looks_the_same(&open(), &open());
}

#[test]
fn an_archive_that_is_gone_is_named_and_not_passed_over() {
    use object_store::ObjectStoreExt;
    let place = Arc::<InMemory>::default();
    let store = DocumentStore::on_objects(place.clone(), "paidonce", &options()).unwrap();
    for n in 0..40 {
        let now = Timestamp(1_700_000_000_000 + n as i64);
        store.commit(&[receive(vec![large(n)])], now, &Policy::default()).unwrap();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        for path in list(&place).await {
            if path.as_ref().contains("archive") {
                place.delete(&path).await.unwrap();
            }
        }
    });
    let again = DocumentStore::on_objects(place, "paidonce", &options()).unwrap();
    let error = again.snapshot().unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    assert!(error.to_string().contains("archive"), "{error}");
    // What needs no old body goes on.
    let heard = [receive(vec![large(0)]), receive(vec![with_other_bytes(&large(1))])];
    again.commit(&heard, Timestamp(1), &Policy::default()).unwrap();
}

#[test]
fn a_body_that_was_dropped_is_looked_for_in_no_archive() {
    use object_store::ObjectStoreExt;
    let place = Arc::<InMemory>::default();
    let open = || DocumentStore::on_objects(place.clone(), "paidonce", &options()).unwrap();
    let (store, memory) = (open(), MemoryStore::new());
    let policy = Policy { body_retention_ms: Some(1_000), ..Policy::default() };
    let both = |n: usize, batch: &[Command]| {
        let now = Timestamp(1_700_000_000_000 + n as i64);
        let replies = store.commit(batch, now, &policy).unwrap();
        assert_eq!(replies, memory.commit(batch, now, &policy).unwrap());
    };
    (0..EVENTS).for_each(|n| both(n, &[receive(vec![large(n)])]));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let archives = || {
        let all = runtime.block_on(list(&place));
        all.into_iter().filter(|path| path.as_ref().contains("archive")).collect::<Vec<_>>()
    };
    assert!(!archives().is_empty(), "nothing was archived");
    let key = |n: usize| EventKey { account: account(), id: id(&format!("evt_{n:04}")) };
    let sweeps: Vec<_> = (0..EVENTS).map(|n| Command::Sweep(Key::Event(key(n)))).collect();
    let size = store.size();
    both(EVENTS + 1_000, &sweeps);
    assert!(store.size() < size, "{} bytes, and {size} before", store.size());
    // Nothing asks for an archive any more, so that none can give a body back.
    for path in archives() {
        runtime.block_on(place.delete(&path)).unwrap();
    }
    for event in [0, EVENTS - 1] {
        both(EVENTS + 1_001, &[receive(vec![large(event)]), receive(vec![with_other_bytes(&large(event))])]);
    }
    for store in [&store, &open()] {
        let (all, memory) = (store.snapshot().unwrap(), memory.snapshot().unwrap());
        assert_eq!(all, memory);
        assert_eq!(invariants::check_settled(&all, &policy), []);
        let bytes: usize = all.events.rows().values().map(|event| event.body.bytes().len()).sum();
        assert_eq!(bytes, 0);
        let mut text = Vec::new();
        export(&all, &mut text, &mut |_| {}).unwrap();
        assert_eq!(read(&mut text.as_slice(), &mut |_, _| {}).unwrap().ledger, memory);
        let part = store.load(&Keys::from([Key::Event(key(0))])).unwrap();
        assert_eq!(part.events.get(&key(0)).unwrap().body.bytes(), b"");
    }
    assert_eq!(archives(), [], "nothing was archived again");
}

async fn list(place: &InMemory) -> Vec<object_store::path::Path> {
    use object_store::ObjectStore as _;
    let listed = place.list_with_delimiter(None).await.unwrap();
    let mut paths: Vec<_> = listed.objects.into_iter().map(|object| object.location).collect();
    for prefix in listed.common_prefixes {
        let inner = place.list_with_delimiter(Some(&prefix)).await.unwrap();
        paths.extend(inner.objects.into_iter().map(|object| object.location));
    }
    paths
}
