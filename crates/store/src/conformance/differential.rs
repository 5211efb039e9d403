//! P15: random programs of commands give equal replies and equal final rows on a store and on the ledger itself.

use std::cell::Cell;

use paidonce_ledger::testing::{any_batches, busy_policy, id};
use paidonce_ledger::{
    Body, Claim, Command, Key, Ledger, Outcome, Policy, Prepare, Reply, Settle, Task, TaskKey, invariants,
};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::{Harness, NOW};

/// Programs in the suite's short form. `PAIDONCE_DIFFERENTIAL_CASES` asks for more.
const CASES: u32 = 60;

fn claim_all(ledger: &Ledger) -> Vec<Command> {
    let claim = |task: &TaskKey| Claim { task: task.clone(), owner: id("last"), lease_ms: 60_000 };
    ledger.tasks.rows().keys().map(|task| Command::Claim(claim(task))).collect()
}

fn prepare_all(ledger: &Ledger) -> Vec<Command> {
    let prepare = |(key, task): (&TaskKey, &Task)| {
        let (version, revision, body) = (task.version, task.order_revision, Body::new(b"news".to_vec()));
        Command::Prepare(Prepare { task: key.clone(), version, revision, body })
    };
    ledger.tasks.rows().iter().filter(|(key, _)| key.effect().is_some()).map(prepare).collect()
}

/// One outcome after another, over the tasks that somebody has.
fn settle_all(ledger: &Ledger) -> Vec<Command> {
    let outcomes = [Outcome::Done, Outcome::Uncertain, Outcome::Retry(None), Outcome::Refused];
    let leased = ledger.tasks.rows().iter().filter(|(_, task)| task.lease.is_some());
    let settle = |((key, task), outcome): ((&TaskKey, &Task), Outcome)| {
        let detail = "status 500".into();
        Command::Settle(Settle { task: key.clone(), version: task.version, outcome, took_ms: 3, detail })
    };
    leased.zip(outcomes.into_iter().cycle()).map(settle).collect()
}

pub(super) fn differential(harness: &dyn Harness) {
    let cases =
        std::env::var("PAIDONCE_DIFFERENTIAL_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(CASES);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let [granted, claimed, dropped] = [(); 3].map(|()| Cell::new(0_usize));
    let run = TestRunner::new(config).run(&(any_batches(), any::<bool>()), |(program, busy)| {
        let (store, policy) = (harness.fresh(), if busy { busy_policy() } else { Policy::default() });
        let mut oracle = Ledger::whole();
        let mut now = NOW;
        for batch in &program {
            // Some leases end between batches.
            now = now.plus_ms(7_000);
            let replies = store.commit(batch, now, &policy).expect("the store works");
            let expected: Vec<Reply> =
                batch.iter().map(|command| oracle.execute(command, now, &policy)).collect();
            prop_assert_eq!(replies, expected);
        }
        // Programs seldom name a task that is due, or a version that holds: at the end each task is tried once.
        for step in [claim_all, prepare_all, settle_all] {
            let batch = step(&oracle);
            let replies = store.commit(&batch, now, &policy).expect("the store works");
            let expected: Vec<Reply> =
                batch.iter().map(|command| oracle.execute(command, now, &policy)).collect();
            claimed.set(claimed.get() + expected.iter().filter(|r| matches!(r, Reply::Claimed(_))).count());
            prop_assert_eq!(replies, expected);
        }
        // And all of them are granted.
        let grants: Vec<_> = oracle.tasks.rows().keys().cloned().map(Command::Grant).collect();
        let replies = store.commit(&grants, now, &policy).expect("the store works");
        let expected: Vec<Reply> = grants.iter().map(|grant| oracle.execute(grant, now, &policy)).collect();
        prop_assert_eq!(replies, expected);
        // And what may be dropped is dropped.
        now = now.plus_ms(60_000);
        let sweeps: Vec<_> =
            oracle.events.rows().keys().cloned().map(Key::Event).map(Command::Sweep).collect();
        let replies = store.commit(&sweeps, now, &policy).expect("the store works");
        let expected: Vec<Reply> = sweeps.iter().map(|sweep| oracle.execute(sweep, now, &policy)).collect();
        prop_assert_eq!(replies, expected);
        let stored = store.snapshot().expect("the store can be read");
        for (event, expected) in stored.events.rows().values().zip(oracle.events.rows().values()) {
            // Bodies are equal by their digests.
            prop_assert_eq!(event.body.bytes(), expected.body.bytes());
            dropped.set(dropped.get() + usize::from(event.dropped_at.is_some()));
        }
        prop_assert_eq!(invariants::check_settled(&stored, &policy), []);
        granted.set(granted.get() + stored.entitlements.rows().len());
        prop_assert_eq!(stored, oracle);
        Ok(())
    });
    run.expect("the store tells itself from the ledger");
    // Non-vacuity: programs in which nothing is ever granted would prove little.
    assert!(granted.get() > 0, "no program granted anything");
    assert!(claimed.get() > 0, "no program claimed anything");
    assert!(dropped.get() > 0, "no program dropped a body");
}
