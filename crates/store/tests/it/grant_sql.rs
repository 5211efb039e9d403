//! `grant.sql` on every SQL store: the merchant's row and the entitlement commit together, or neither does.

use paidonce_ledger::testing::{about, eur, id, place, receive};
use paidonce_ledger::{CaptureState, Command, Fact, Granted, Policy, Reply};
use paidonce_store::conformance::NOW;
use paidonce_store::{GrantSql, Store, StoreErrorKind};

/// Writes one row for each line, and one for the grant.
pub(crate) fn statements(licence: &str) -> GrantSql {
    let sql = format!(
        "INSERT INTO {licence} (entitlement, sku, customer) VALUES (:entitlement, :sku, :customer);
        INSERT INTO {licence} (entitlement, sku, customer) VALUES (:order, 'it''s :sku', :unit);"
    );
    GrantSql::parse(&sql).unwrap()
}

/// The table that [`statements`] write to: no sku may be there twice for one entitlement.
pub(crate) fn table(licence: &str) -> String {
    format!(
        "CREATE TABLE {licence} (entitlement VARCHAR(200) NOT NULL, sku VARCHAR(100) NOT NULL, customer VARCHAR(100),
        PRIMARY KEY (entitlement, sku))"
    )
}

/// `execute` runs SQL beside the store; `count` counts the licence table's rows.
pub(crate) fn grants_with_a_row(
    store: &dyn Store,
    licence: &str,
    execute: impl Fn(&str),
    count: impl Fn() -> i64,
) {
    let policy = Policy::default();
    let commit = |command: Command| store.commit(&[command], NOW, &policy);
    commit(Command::PlaceOrder(place("1001", &eur("10"), &["pi_1"]))).unwrap();
    let capture = Fact::captured(id("pi_1"), CaptureState::Settled, Some(eur("10")));
    commit(receive(vec![about("evt_1", "pi_1", vec![capture])])).unwrap();
    let task = store.due(&paidonce_store::Due::Grants, NOW, 1).unwrap().remove(0);
    let grant = Command::Grant(task);
    assert!(store.alone(&grant) && !store.alone(&receive(vec![])));

    // The merchant's own constraint refuses the second statement: the first is gone as well, and so is the grant.
    execute(&format!("INSERT INTO {licence} (entitlement, sku) VALUES ('1001', 'it''s :sku')"));
    let error = commit(grant.clone()).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Merchant, "{error}");
    assert_eq!((store.counts().unwrap().entitlements, count()), (0, 1));
    assert_eq!(store.due(&paidonce_store::Due::Grants, NOW, 1).unwrap().len(), 1, "it is still due");

    // Mended: granted, and a second grant runs nothing.
    execute(&format!("DELETE FROM {licence}"));
    assert_eq!(commit(grant.clone()).unwrap(), [Reply::Granted(Granted::Now)]);
    assert_eq!(commit(grant).unwrap(), [Reply::Granted(Granted::Before)]);
    assert_eq!((store.counts().unwrap().entitlements, count()), (1, 2));
}
