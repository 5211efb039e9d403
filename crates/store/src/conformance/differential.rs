//! P15: random programs of commands give equal replies and equal final rows on a store and on the ledger itself.

use std::cell::Cell;

use paidonce_ledger::testing::any_batches;
use paidonce_ledger::{Command, Ledger, Policy, Reply, invariants};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::{Harness, NOW};

/// Programs in the suite's short form. `PAIDONCE_DIFFERENTIAL_CASES` asks for more.
const CASES: u32 = 60;

pub(super) fn differential(harness: &dyn Harness) {
    let cases =
        std::env::var("PAIDONCE_DIFFERENTIAL_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(CASES);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let granted = Cell::new(0_usize);
    let run = TestRunner::new(config).run(&any_batches(), |program| {
        let (store, policy) = (harness.fresh(), Policy::default());
        let mut oracle = Ledger::whole();
        for batch in &program {
            let replies = store.commit(batch, NOW, &policy).expect("the store works");
            let expected: Vec<Reply> =
                batch.iter().map(|command| oracle.execute(command, NOW, &policy)).collect();
            prop_assert_eq!(replies, expected);
        }
        // Programs seldom name a task that is due: at the end all of them are granted.
        let grants: Vec<_> = oracle.tasks.rows().keys().cloned().map(Command::Grant).collect();
        let replies = store.commit(&grants, NOW, &policy).expect("the store works");
        let expected: Vec<Reply> = grants.iter().map(|grant| oracle.execute(grant, NOW, &policy)).collect();
        prop_assert_eq!(replies, expected);
        let stored = store.snapshot().expect("the store can be read");
        prop_assert_eq!(invariants::check_settled(&stored, &policy), []);
        granted.set(granted.get() + stored.entitlements.rows().len());
        prop_assert_eq!(stored, oracle);
        Ok(())
    });
    run.expect("the store tells itself from the ledger");
    // Non-vacuity: programs in which nothing is ever granted would prove little.
    assert!(granted.get() > 0, "no program granted anything");
}
