//! Commits that break half way, and stores that are opened again: nothing is ever "seen" but not "done".

use paidonce_ledger::testing::{about, eur, id, place, receive};
use paidonce_ledger::{CaptureState, Command, Fact, Policy, Received, Reply};

use super::{Break, Harness, NOW, commit, grant_all, sound};
use crate::{Due, Store};

fn paid() -> Command {
    let capture = Fact::captured(id("pi_1"), CaptureState::Settled, Some(eur("10")));
    receive(vec![about("evt_1", "pi_1", vec![capture])])
}

fn ordered(harness: &dyn Harness) -> Box<dyn Store> {
    let store = harness.fresh();
    commit(&*store, &[Command::PlaceOrder(place("1001", &eur("10"), &["pi_1"]))], &Policy::default());
    store
}

fn breaks(harness: &dyn Harness, store: &dyn Store, at: Break, command: &Command) {
    let before = store.snapshot().expect("the store can be read");
    let broken = harness.break_at(store, at);
    let result = store.commit(std::slice::from_ref(command), NOW, &Policy::default());
    assert!(result.is_err(), "the commit was to break: {result:?}");
    drop(broken);
    let after = store.snapshot().expect("the store can be read");
    assert_eq!(before, after, "a broken commit left something behind");
}

pub(super) fn event_and_task(harness: &dyn Harness) {
    let (store, policy) = (ordered(harness), Policy::default());
    breaks(harness, &*store, Break::Task, &paid());
    let replies = commit(&*store, &[paid()], &policy);
    assert!(matches!(&replies[0], Reply::Received(events) if events[0].received == Received::Accepted));
    grant_all(&*store, &policy).expect("the store works");
    assert_eq!(sound(&*store, &policy).entitlements.rows().len(), 1);
}

pub(super) fn entitlement_and_completion(harness: &dyn Harness) {
    let (store, policy) = (ordered(harness), Policy::default());
    commit(&*store, &[paid()], &policy);
    let task = store.due(&Due::Grants, NOW, 1).expect("the store works").remove(0);
    breaks(harness, &*store, Break::Entitlement, &Command::Grant(task));
    grant_all(&*store, &policy).expect("the store works");
    assert_eq!(sound(&*store, &policy).entitlements.rows().len(), 1);
}

pub(super) fn before_the_event(harness: &dyn Harness) {
    let (store, policy) = (ordered(harness), Policy::default());
    breaks(harness, &*store, Break::Event, &paid());
    let replies = commit(&*store, &[paid()], &policy);
    assert!(matches!(&replies[0], Reply::Received(events) if events[0].received == Received::Accepted));
}

/// A second connection sees exactly what the first one acknowledged, while and after the first is open.
pub(super) fn opened_again(harness: &dyn Harness) {
    let (store, policy) = (ordered(harness), Policy::default());
    commit(&*store, &[paid()], &policy);
    let Some(again) = harness.second() else { return };
    assert_eq!(again.snapshot().expect("readable"), store.snapshot().expect("readable"));
    let before = store.snapshot().expect("readable");
    drop(store);
    assert_eq!(sound(&*again, &policy), before);
}
