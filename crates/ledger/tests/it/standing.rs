//! Figures of a standing that no scenario shows.

use paidonce_ledger::testing::{about, eur, id, place, receive};
use paidonce_ledger::{CaptureState, Command, Fact, Ledger, OrderId, Policy, Standing, Timestamp};

/// What is outstanding of 10.00 after this much was captured.
fn outstanding(captured: &str) -> i128 {
    let (mut ledger, policy) = (Ledger::whole(), Policy::default());
    let order: OrderId = id("1001");
    ledger.execute(&Command::PlaceOrder(place("1001", &eur("10"), &["pi_1"])), Timestamp(1), &policy);
    let capture = Fact::captured(id("pi_1"), CaptureState::Settled, Some(eur(captured)));
    ledger.execute(&receive(vec![about("evt_1", "pi_1", vec![capture])]), Timestamp(1), &policy);
    let row = ledger.orders.get(&order).unwrap();
    let payments = ledger.payments_of(row).unwrap();
    Standing::of(&order, row, &payments, &policy).outstanding_minor(row)
}

#[test]
fn outstanding_is_what_is_left_and_never_below_zero() {
    assert_eq!((outstanding("4"), outstanding("10"), outstanding("12")), (600, 0, 0));
}
