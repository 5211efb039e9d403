//! Many callers at once: one event, one grant, whoever wins.

use std::sync::Barrier;

use paidonce_ledger::testing::{about, eur, id, place, product, receive, register};
use paidonce_ledger::{
    CaptureState, Command, Fact, Granted, Notice, Policy, Received, Refusal, Reply, TaskKey, Unit,
};

use super::{Harness, NOW, commit, grant_all, sound};
use crate::Store;

fn captured(event: &str, payment: &str) -> Notice {
    about(event, payment, vec![Fact::captured(id(payment), CaptureState::Settled, Some(eur("10")))])
}

/// Commits one command again and again while the store says that somebody else is at it.
fn insist(store: &dyn Store, command: &Command) -> Reply {
    loop {
        match store.commit(std::slice::from_ref(command), NOW, &Policy::default()) {
            Ok(mut replies) => return replies.remove(0),
            Err(error) => assert!(error.retryable(), "{error}"),
        }
    }
}

/// `total` calls on 8 threads, spread over the stores.
fn at_once(stores: &[&dyn Store], total: usize, command: &Command) -> Vec<Reply> {
    let (threads, barrier) = (8, Barrier::new(8));
    let run = |thread: usize| {
        barrier.wait();
        let calls = (thread..total).step_by(threads);
        calls.map(|call| insist(stores[call % stores.len()], command)).collect::<Vec<_>>()
    };
    let run = &run;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || run(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no caller panics")).collect()
    })
}

fn count(replies: &[Reply], received: Received) -> usize {
    let is = |reply: &&Reply| matches!(reply, Reply::Received(events) if events[0].received == received);
    replies.iter().filter(is).count()
}

pub(super) fn twenty_copies(harness: &dyn Harness) {
    let (store, policy) = (harness.fresh(), Policy::default());
    commit(&*store, &[Command::PlaceOrder(place("1001", &eur("10"), &["pi_1"]))], &policy);
    let replies = at_once(&[&*store], 20, &receive(vec![captured("evt_1", "pi_1")]));
    assert_eq!((count(&replies, Received::Accepted), count(&replies, Received::Duplicate)), (1, 19));
    let ledger = sound(&*store, &policy);
    assert_eq!((ledger.events.rows().len(), ledger.tasks.rows().len()), (1, 1));
    assert_eq!(ledger.events.rows().values().next().map(|event| event.duplicates), Some(19));
}

pub(super) fn twenty_grants(harness: &dyn Harness) {
    let (store, policy) = (harness.fresh(), Policy::default());
    commit(&*store, &[Command::PlaceOrder(place("1001", &eur("10"), &["pi_1"]))], &policy);
    commit(&*store, &[receive(vec![captured("evt_1", "pi_1")])], &policy);
    let task = TaskKey::grant(id("1001"), Unit::Order);
    let replies = at_once(&[&*store], 20, &Command::Grant(task));
    let granted = |what| replies.iter().filter(|reply| **reply == Reply::Granted(what)).count();
    assert_eq!((granted(Granted::Now), granted(Granted::Before)), (1, 19));
    assert_eq!(sound(&*store, &policy).entitlements.rows().len(), 1);
}

pub(super) fn two_processes(harness: &dyn Harness) {
    let (one, policy) = (harness.fresh(), Policy::default());
    let Some(two) = harness.second() else { return };
    commit(&*one, &[Command::PlaceOrder(place("1001", &eur("10"), &["pi_1"]))], &policy);
    let replies = at_once(&[&*one, &*two], 50, &receive(vec![captured("evt_1", "pi_1")]));
    assert_eq!((count(&replies, Received::Accepted), count(&replies, Received::Duplicate)), (1, 49));
    grant_all(&*two, &policy).expect("the store works");
    assert_eq!(sound(&*one, &policy).entitlements.rows().len(), 1);
}

/// Buyers of the last pieces, and how many pieces there are.
const BUYERS: usize = 24;
const PIECES: usize = 12;

/// Each buyer's request comes three times, through either process: as many orders as pieces, and every copy is
/// answered alike. P12, P13
pub(super) fn last_pieces(harness: &dyn Harness) {
    let (one, policy) = (harness.fresh(), Policy::default());
    let two = harness.second();
    let other = two.as_deref().unwrap_or(&*one);
    let pieces = u64::try_from(PIECES).expect("few");
    commit(&*one, &[product("set", "ticket", &eur("10"), Some(pieces))], &policy);
    let buy = |buyer: usize, copy: usize| {
        let mut order = place(&format!("o_{buyer}"), &eur("10"), &[]);
        order.lines[0].sku = id("ticket");
        insist(if (buyer + copy).is_multiple_of(2) { &*one } else { other }, &Command::PlaceOrder(order))
    };
    let buy = &buy;
    let replies: Vec<Vec<Reply>> = std::thread::scope(|scope| {
        let thread = |copy: usize| scope.spawn(move || (0..BUYERS).map(|buyer| buy(buyer, copy)).collect());
        let threads: Vec<_> = (0..3).map(thread).collect();
        threads.into_iter().map(|thread| thread.join().expect("no buyer panics")).collect()
    });
    assert_eq!((&replies[0], &replies[0]), (&replies[1], &replies[2]));
    let placed = replies[0].iter().filter(|reply| matches!(reply, Reply::Placed { .. })).count();
    let refused = Reply::Refused(Refusal::OutOfStock { sku: id("ticket"), free: 0 });
    assert_eq!(placed, PIECES);
    assert_eq!(replies[0].iter().filter(|reply| **reply == refused).count(), BUYERS - PIECES);
    let ledger = sound(&*one, &policy);
    let row = ledger.products.get(&id("ticket")).expect("it was set");
    assert_eq!((row.reserved, row.sold, row.free()), (pieces, 0, Some(0)));
    assert_eq!(ledger.orders.rows().len(), PIECES);
}

/// Races in the short form; `PAIDONCE_RACES` asks for more.
const RACES: usize = 25;

/// The reference is registered and the event that names it is received at the same moment: always bound.
pub(super) fn registration_and_receipt(harness: &dyn Harness) {
    let (one, policy) = (harness.fresh(), Policy::default());
    let two = harness.second();
    let other = two.as_deref().unwrap_or(&*one);
    let races = std::env::var("PAIDONCE_RACES").ok().and_then(|n| n.parse().ok()).unwrap_or(RACES);
    for n in 0..races {
        // All payments of an order are read with it, so an order that served them all would measure only that.
        let order = (n / RACES).to_string();
        if n % RACES == 0 {
            commit(&*one, &[Command::PlaceOrder(place(&order, &eur("1000000"), &[]))], &policy);
        }
        let payment = format!("pi_{n}");
        let event = receive(vec![captured(&format!("evt_{n}"), &payment)]);
        let registration = register(&order, &payment);
        let barrier = Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                barrier.wait();
                insist(&*one, &event);
            });
            scope.spawn(|| {
                barrier.wait();
                insist(other, &registration);
            });
        });
    }
    let ledger = sound(&*one, &policy);
    let bound = ledger.payments.rows().values().filter(|payment| payment.order.is_some()).count();
    assert_eq!(bound, races);
}
