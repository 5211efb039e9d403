//! P5: any order and any repetition of the same facts gives the same facts, standing and entitlements at rest.

use paidonce_ledger::testing::{account, eur, id, permuted, place, receive};
use paidonce_ledger::{
    Command, Entitlement, Facts, Ledger, Notice, OrderId, PaymentKey, Policy, RefundBlocks, Standing,
    Timestamp, Unit, invariants,
};
use proptest::prelude::*;

/// What must not depend on the order of arrival.
#[derive(Debug, PartialEq)]
struct Rest {
    facts: Vec<Facts>,
    standing: Standing,
    entitlements: Vec<(Unit, Entitlement)>,
    open_cases: Vec<String>,
}

const NOW: Timestamp = Timestamp(1_000);

fn run(notices: &[Notice], policy: &Policy) -> Rest {
    let mut ledger = Ledger::whole();
    let order = place("1001", &eur("50"), &["pi_0", "pi_1", "pi_2"]);
    ledger.execute(&Command::PlaceOrder(order), NOW, policy);
    for notice in notices {
        ledger.execute(&receive(vec![notice.clone()]), NOW, policy);
        assert_eq!(invariants::check_settled(&ledger, policy), []);
    }
    let due: Vec<_> = ledger.tasks.rows().keys().cloned().collect();
    for task in due {
        ledger.execute(&Command::Grant(task), NOW, policy);
        assert_eq!(invariants::check_settled(&ledger, policy), []);
    }
    rest(&ledger, policy)
}

fn rest(ledger: &Ledger, policy: &Policy) -> Rest {
    let id: OrderId = id("1001");
    let order = ledger.orders.get(&id).unwrap();
    let payment = |n: u8| PaymentKey { account: account(), id: self::id(&format!("pi_{n}")) };
    let facts: Vec<_> = (0..3).map(|n| ledger.facts_of(&payment(n))).collect();
    let bound: Vec<_> = order.payments.iter().map(|key| (key.clone(), ledger.facts_of(key))).collect();
    let entitlement =
        |(unit, row): (Unit, &Entitlement)| (unit, Entitlement { order_revision: 0, ..row.clone() });
    let mut open_cases: Vec<_> = ledger
        .cases
        .rows()
        .iter()
        .filter(|(_, case)| case.resolution.is_none())
        .map(|(key, case)| format!("{} {}: {}", key.subject, key.reason, case.detail))
        .collect();
    open_cases.sort();
    Rest {
        facts,
        standing: Standing::of(&id, order, &bound, policy),
        entitlements: ledger.entitlements_of(&id).map(entitlement).collect(),
        open_cases,
    }
}

fn agree(cases: u32, least: usize, most: usize, policy: &Policy) {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    runner
        .run(&permuted(least, most), |(events, permuted)| {
            prop_assert_eq!(run(&events, policy), run(&permuted, policy));
            Ok(())
        })
        .unwrap();
}

#[test]
fn p5_permutations_and_repetitions_agree() {
    agree(3_000, 1, 10, &Policy::default());
}

#[test]
fn p5_permutations_agree_where_any_refund_blocks() {
    agree(1_000, 4, 10, &Policy { refund_blocks: RefundBlocks::Any, ..Policy::default() });
}
