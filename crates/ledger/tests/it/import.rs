//! Rows of another store: put once, never over others, and never where it was not looked first.

use paidonce_ledger::testing::{about, eur, id, place, receive};
use paidonce_ledger::{
    CaptureState, Command, Fact, Import, Ledger, Order, Policy, Refusal, Reply, Row, Timestamp, invariants,
};

const NOW: Timestamp = Timestamp(1_700_000_000_000);

fn run(ledger: &mut Ledger, command: &Command) -> Reply {
    ledger.execute(command, NOW, &Policy::default())
}

fn ledger() -> Ledger {
    let mut ledger = Ledger::whole();
    run(&mut ledger, &Command::PlaceOrder(place("1001", &eur("10"), &["pi_1"])));
    let capture = Fact::captured(id("pi_1"), CaptureState::Settled, Some(eur("10")));
    run(&mut ledger, &receive(vec![about("evt_1", "pi_1", vec![capture])]));
    ledger.take_changes();
    ledger
}

fn orders(ledger: &Ledger) -> Vec<Row> {
    ledger.orders.rows().iter().map(|(id, order)| Row::Order(id.clone(), order.clone())).collect()
}

#[test]
fn a_row_is_imported_once_and_never_over_another() {
    let (from, mut to) = (ledger(), Ledger::whole());
    let import = Command::Import(Import { rows: orders(&from) });
    assert_eq!(run(&mut to, &import), Reply::Done);
    assert_eq!(to.orders, from.orders);
    to.take_changes();
    assert_eq!(run(&mut to, &import), Reply::Done);
    assert!(to.take_changes().orders.is_empty(), "the second time changed something");
    let mut rows: Vec<_> =
        from.payments.rows().iter().map(|(key, row)| Row::Payment(key.clone(), row.clone())).collect();
    let other = |order: &Order| Order { revision: 99, ..order.clone() };
    rows.extend(from.orders.rows().iter().map(|(id, order)| Row::Order(id.clone(), other(order))));
    assert_eq!(run(&mut to, &Command::Import(Import { rows })), Reply::Refused(Refusal::RowDiffers));
    assert!(to.payments.rows().is_empty(), "a refused import left something");
    assert_eq!(invariants::check(&from), []);
}

#[test]
fn absence_is_not_inferred_from_not_having_asked() {
    let import = Command::Import(Import { rows: orders(&ledger()) });
    let mut unloaded = Ledger::unloaded();
    let Reply::Need(keys) = run(&mut unloaded, &import) else { panic!("it did not ask") };
    assert!(!keys.is_empty() && import.keys().is_superset(&keys));
}
