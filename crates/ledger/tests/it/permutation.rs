//! P5: any order and any repetition of the same facts gives the same facts, standing and entitlements at rest.

use paidonce_ledger::testing::{account, busy_policy, eur, id, permuted, place, product, receive};
use paidonce_ledger::{
    AfterGrant, AfterGrants, Command, Disputes, Entitlement, Facts, Late, Ledger, Notice, OrderId,
    OrderStock, PaymentKey, Policy, RefundBlocks, Standing, Timestamp, Unit, invariants,
};
use proptest::prelude::*;

/// What must not depend on the order of arrival.
#[derive(Debug, PartialEq)]
struct Rest {
    facts: Vec<Facts>,
    standing: Standing,
    stock: Option<OrderStock>,
    entitlements: Vec<(Unit, Entitlement)>,
    open_cases: Vec<String>,
}

const NOW: Timestamp = Timestamp(1_000);

fn run(notices: &[Notice], policy: &Policy) -> Rest {
    let mut ledger = Ledger::whole();
    // The order holds a piece: what becomes of it follows from the facts as well.
    ledger.execute(&product("set", "ebook", &eur("50"), Some(1)), NOW, policy);
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
        stock: order.stock.clone(),
        entitlements: ledger.entitlements_of(&id).map(entitlement).collect(),
        open_cases,
    }
}

/// The merchant's choices, all of them.
fn any_policy() -> impl Strategy<Value = Policy> {
    let after = || prop_oneof![Just(AfterGrant::Keep), Just(AfterGrant::Revoke), Just(AfterGrant::Review)];
    let after = (after(), after(), after());
    let flags = (prop::bool::ANY, prop::bool::ANY, prop::bool::ANY, prop::bool::ANY);
    (flags, after, prop_oneof![2 => Just(0_i128), 1 => Just(2_500)]).prop_map(
        |((any, ignore, revive, refund_restocks), (refund, dispute, reversal), tolerance)| Policy {
            tolerance_minor: [(account(), tolerance)].into(),
            refund_blocks: if any { RefundBlocks::Any } else { RefundBlocks::Full },
            disputes: if ignore { Disputes::Ignore } else { Disputes::Hold },
            late: if revive { Late::Revive } else { Late::Hold },
            refund_restocks,
            after_grant: AfterGrants { refund, dispute, reversal },
            ..busy_policy()
        },
    )
}

/// Cases in the short form; `PAIDONCE_PERMUTATIONS` asks for more.
fn cases(short: u32) -> u32 {
    std::env::var("PAIDONCE_PERMUTATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(short)
}

/// Runs the cases on two threads.
fn agree(cases: u32, least: usize, most: usize) {
    let granted: usize = std::thread::scope(|scope| {
        let half = || scope.spawn(|| agree_on_a_thread(cases.div_ceil(2), least, most));
        let halves = [half(), half()];
        halves.map(|half| half.join().unwrap()).iter().sum()
    });
    assert!(granted > 0, "no case granted anything: the test would be vacuous");
}

/// Answers how many entitlements there were.
fn agree_on_a_thread(cases: u32, least: usize, most: usize) -> usize {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let granted = std::cell::Cell::new(0_usize);
    runner
        .run(&(permuted(least, most), any_policy()), |((events, permuted), policy)| {
            let (one, other) = (run(&events, &policy), run(&permuted, &policy));
            granted.set(granted.get() + one.entitlements.len());
            prop_assert_eq!(one, other);
            Ok(())
        })
        .unwrap();
    granted.get()
}

#[test]
fn p5_few_facts_in_any_order_agree() {
    agree(cases(500), 1, 5);
}

#[test]
fn p5_eight_facts_and_more_of_three_payments_in_any_order_agree() {
    agree(cases(2_000), 8, 12);
}
