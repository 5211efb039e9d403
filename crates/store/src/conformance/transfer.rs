//! A whole ledger moves here from memory, and back: the same rows, however often it was interrupted.

use std::cell::Cell;

use paidonce_ledger::testing::{
    about, cancel, eur, id, notice, place, receive, register, stamp, with_other_bytes,
};
use paidonce_ledger::{
    AddKey, Body, CaptureState, Claim, Command, Digest, EffectRule, Fact, Happening, Outcome, Policy,
    Prepare, Reading, RefundState, Scope, Settle,
};

use super::{Break, Harness, NOW, commit, grant_all, sound};
use crate::{Export, ImportError, ImportOptions, MemoryStore, Page, Store, TaskFilter, export, import, read};

const OPTIONS: ImportOptions = ImportOptions { rows_a_commit: 3, now: NOW };

/// Something in every table.
fn filled() -> MemoryStore {
    let (store, policy) = (MemoryStore::new(), telling());
    let captured = |payment: &str| Fact::captured(id(payment), CaptureState::Settled, Some(eur("10")));
    let mut commands = Vec::new();
    for n in 0..4 {
        let (order, payment) = (format!("100{n}"), format!("pi_{n}"));
        commands.push(Command::PlaceOrder(place(&order, &eur("10"), &[&payment])));
        commands.push(receive(vec![about(&format!("evt_{n}"), &payment, vec![captured(&payment)])]));
    }
    commands.push(register("1001", "cs_1"));
    commands.push(receive(vec![with_other_bytes(&about("evt_0", "pi_0", vec![captured("pi_0")]))]));
    commands
        .push(receive(vec![notice("evt_bad", Reading::Unreadable("data.object.id is absent".to_owned()))]));
    commands.push(receive(vec![about("evt_lost", "pi_nobody", vec![captured("pi_nobody")])]));
    commit(&store, &commands, &policy);
    grant_all(&store, &policy).expect("memory works");
    let refunded = Fact::refunded(id("re_1"), RefundState::Succeeded, Some(eur("10")));
    let late = [
        receive(vec![about("evt_refund", "pi_2", vec![refunded])]),
        Command::PlaceOrder(place("2000", &eur("10"), &["pi_due"])),
        receive(vec![about("evt_due", "pi_due", vec![captured("pi_due")])]),
        Command::PlaceOrder(place("2001", &eur("10"), &[])),
        cancel("2001"),
        Command::AddKey(AddKey {
            stamp: stamp("add ops"),
            name: id("ops"),
            digest: Digest::of_bytes(b"a key"),
            scope: Scope::Operate,
        }),
    ];
    commit(&store, &late, &policy);
    try_once(&store, &policy);
    store
}

/// Two effects: one that tells, and one that keeps a copy.
fn telling() -> Policy {
    let mut policy = Policy::default();
    let on = [Happening::EntitlementGranted].into();
    policy.effects.insert(id("mail"), EffectRule { on, ..EffectRule::default() });
    policy.effects.insert(id("licence"), EffectRule { sync: true, ..EffectRule::default() });
    policy
}

/// One message is there, one is on its way, and of one nobody knows: leases, requests and tries.
fn try_once(store: &MemoryStore, policy: &Policy) {
    let filter = TaskFilter { effect: Some(id("mail")), ..TaskFilter::default() };
    let tasks = store.tasks(&filter, &Page::first(3)).expect("readable").rows;
    assert_eq!(tasks.len(), 3, "three messages wait");
    for ((task, row), outcome) in tasks.into_iter().zip([Some(Outcome::Done), Some(Outcome::Uncertain), None])
    {
        let body = Body::new(format!("Your order: {task}").into_bytes());
        let claim = Claim { task: task.clone(), owner: id("worker-1"), lease_ms: 30_000 };
        let prepare = Prepare { task: task.clone(), version: 1, revision: row.order_revision, body };
        commit(store, &[Command::Claim(claim), Command::Prepare(prepare)], policy);
        if let Some(outcome) = outcome {
            let settle = Settle { task, version: 1, outcome, took_ms: 7, detail: "250 queued".into() };
            commit(store, &[Command::Settle(settle)], policy);
        }
    }
}

fn exported(store: &dyn Store) -> (Vec<u8>, Export) {
    let mut text = Vec::new();
    export(&store.snapshot().expect("readable"), &mut text, &mut |_| {}).expect("a vector takes it");
    let read = read(&mut text.as_slice(), &mut |_, _| {}).expect("what was exported is an export");
    (text, read)
}

pub(super) fn moves_here_and_back(harness: &dyn Harness) {
    let (text, from) = exported(&filled());
    let store = harness.fresh();
    let imported = import(&*store, &from, &OPTIONS, &mut |_| {}).expect("an empty store takes it");
    assert_eq!((imported.before, &imported.summary), (0, &from.summary));
    assert_eq!(sound(&*store, &Policy::default()), from.ledger);
    assert_eq!(exported(&*store).0, text, "the export of the import is another one");
    // Once more is nothing more.
    let again = import(&*store, &from, &OPTIONS, &mut |_| {}).expect("it is the same export");
    assert_eq!(again.before, from.ledger.len());
    // And the work that was due is still due.
    grant_all(&*store, &Policy::default()).expect("the store works");
    assert_eq!(sound(&*store, &Policy::default()).entitlements.rows().len(), 5);
}

pub(super) fn interrupted_import_goes_on(harness: &dyn Harness) {
    let (_, from) = exported(&filled());
    let store = harness.fresh();
    let broken = Cell::new(None);
    let mut armed = false;
    let error = import(&*store, &from, &OPTIONS, &mut |_| {
        if !std::mem::replace(&mut armed, true) {
            broken.set(Some(harness.break_at(&*store, Break::Task)));
        }
    });
    drop(broken);
    assert!(matches!(error, Err(ImportError::Store(_))), "{error:?}");
    let there = store.snapshot().expect("readable").len();
    assert!((1..from.ledger.len()).contains(&there), "{there} rows of {} are there", from.ledger.len());
    let imported = import(&*store, &from, &OPTIONS, &mut |_| {}).expect("it goes on");
    assert_eq!((imported.before, imported.summary), (there, from.summary));
    assert_eq!(sound(&*store, &Policy::default()), from.ledger);
}

pub(super) fn import_over_something_else_is_refused(harness: &dyn Harness) {
    let (_, from) = exported(&filled());
    let store = harness.fresh();
    commit(&*store, &[Command::PlaceOrder(place("mine", &eur("1"), &[]))], &Policy::default());
    let before = store.snapshot().expect("readable");
    let error = import(&*store, &from, &OPTIONS, &mut |_| {});
    assert!(matches!(error, Err(ImportError::NotEmpty(1..))), "{error:?}");
    assert_eq!(store.snapshot().expect("readable"), before);
}
