//! A missing load can never be read as absence: a ledger that is given only what it asks for answers every command
//! exactly as one that holds everything.

use paidonce_ledger::testing::{about, any_batches, busy_policy, eur, id, place, receive};
use paidonce_ledger::{
    CaptureState, Changes, Command, Fact, Key, Keys, Ledger, Policy, Reply, Subject, Timestamp, invariants,
};
use proptest::prelude::*;

const NOW: Timestamp = Timestamp(1_000);

/// Copies one aggregate, as a store would fetch it.
fn fetch(whole: &Ledger, key: &Key, into: &mut Ledger) {
    let subject = match key {
        Key::Order(id) => Some(Subject::Order(id.clone())),
        Key::Payment(payment) => Some(Subject::Payment(payment.clone())),
        Key::Event(event) => Some(Subject::Event(event.clone())),
        _ => None,
    };
    if let Some(subject) = subject {
        let tasks: Vec<_> = whole.tasks_of(&subject).map(|(k, t)| (k.clone(), t.clone())).collect();
        tasks.into_iter().for_each(|(key, task)| into.tasks.load(key, task));
        let cases: Vec<_> = whole.cases_of(&subject).map(|(k, c)| (k.clone(), c.clone())).collect();
        cases.into_iter().for_each(|(key, case)| into.cases.load(key, case));
    }
    match key {
        Key::Product(k) => {
            whole.products.get(k).into_iter().for_each(|r| into.products.load(k.clone(), r.clone()))
        }
        Key::Reference(k) => {
            whole.references.get(k).into_iter().for_each(|r| into.references.load(k.clone(), r.clone()))
        }
        Key::Event(k) => whole.events.get(k).into_iter().for_each(|r| into.events.load(k.clone(), r.clone())),
        Key::Command(k) => {
            whole.commands.get(k).into_iter().for_each(|r| into.commands.load(k.clone(), r.clone()))
        }
        Key::ApiKey(k) => {
            whole.api_keys.get(k).into_iter().for_each(|r| into.api_keys.load(k.clone(), r.clone()))
        }
        Key::Payment(k) => {
            whole.payments.get(k).into_iter().for_each(|r| into.payments.load(k.clone(), r.clone()));
            whole.all_facts_of(k).for_each(|(f, v)| into.facts.load((k.clone(), f.clone()), *v));
        }
        Key::Order(k) => {
            whole.orders.get(k).into_iter().for_each(|r| into.orders.load(k.clone(), r.clone()));
            whole.entitlements_of(k).for_each(|(u, r)| into.entitlements.load((k.clone(), u), r.clone()));
        }
    }
    into.mark_loaded(key.clone());
}

/// Runs a command on a ledger that starts with nothing and is given what it asks for, and nothing more.
fn lazily(whole: &Ledger, command: &Command, now: Timestamp, policy: &Policy) -> (Reply, Changes) {
    let mut given = Keys::new();
    for _ in 0..100 {
        let mut ledger = Ledger::unloaded();
        given.iter().for_each(|key| fetch(whole, key, &mut ledger));
        match ledger.execute(command, now, policy) {
            Reply::Need(keys) => {
                assert!(!keys.is_subset(&given), "asked again for what it was given: {keys:?}");
                given.extend(keys);
            }
            reply => return (reply, ledger.take_changes()),
        }
    }
    panic!("it asked without end");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn given_only_what_it_asks_for_it_decides_the_same(program in any_batches(), busy in any::<bool>()) {
        let policy = if busy { busy_policy() } else { Policy::default() };
        let mut whole = Ledger::whole();
        for (n, command) in (0_i64..).zip(program.iter().flatten()) {
            // Leases end between some commands.
            let now = NOW.plus_ms(n * 2_000);
            let (reply, changes) = lazily(&whole, command, now, &policy);
            prop_assert_eq!(whole.execute(command, now, &policy), reply);
            prop_assert_eq!(whole.take_changes(), changes);
            prop_assert_eq!(invariants::check_settled(&whole, &policy), []);
        }
    }

    #[test]
    fn p2_a_command_that_is_run_again_changes_nothing_but_its_count(program in any_batches(), busy in any::<bool>()) {
        let policy = if busy { busy_policy() } else { Policy::default() };
        let mut ledger = Ledger::whole();
        for (n, command) in (0_i64..).zip(program.iter().flatten()) {
            let now = NOW.plus_ms(n * 2_000);
            let reply = ledger.execute(command, now, &policy);
            ledger.take_changes();
            let again = ledger.execute(command, now, &policy);
            let changes = ledger.take_changes();
            // Duplicates are counted on their event; nothing else moves.
            prop_assert_eq!(changes.orders, []);
            prop_assert_eq!(changes.products, []);
            prop_assert_eq!(changes.facts, []);
            prop_assert_eq!(changes.entitlements, []);
            prop_assert_eq!(changes.tasks, []);
            prop_assert_eq!(changes.cases, []);
            prop_assert_eq!(changes.attempts, []);
            if command.stamp().is_some() {
                prop_assert_eq!(reply, again);
            }
        }
    }
}

#[test]
fn need_takes_everything_back() {
    let mut ledger = Ledger::unloaded();
    let capture = Fact::captured(id("c"), CaptureState::Settled, Some(eur("5")));
    let reply =
        ledger.execute(&receive(vec![about("evt_1", "pi_1", vec![capture])]), NOW, &Policy::default());
    assert!(matches!(reply, Reply::Need(_)), "{reply:?}");
    assert_eq!(ledger, Ledger::unloaded());
    let order = Command::PlaceOrder(place("1001", &eur("5"), &[]));
    assert!(matches!(ledger.execute(&order, NOW, &Policy::default()), Reply::Need(_)));
    assert_eq!(ledger, Ledger::unloaded());
}
