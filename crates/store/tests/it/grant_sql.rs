//! `grant.sql` on every SQL store: the merchant's row and the entitlement commit together, or neither does.

use paidonce_ledger::testing::{about, eur, id, place, receive};
use paidonce_ledger::{CaptureState, Command, Fact, Granted, Policy, Reply, TaskKey, Unit};
use paidonce_store::conformance::NOW;
use paidonce_store::{GrantSql, Store, StoreError, StoreErrorKind};

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

/// Pays for an order and answers its grant.
pub(crate) fn paid(store: &dyn Store, n: usize) -> Command {
    let (policy, order, payment) = (Policy::default(), format!("o_{n}"), format!("pi_{n}"));
    let capture = Fact::captured(id(&payment), CaptureState::Settled, Some(eur("10")));
    let placed = Command::PlaceOrder(place(&order, &eur("10"), &[&payment]));
    let received = receive(vec![about(&format!("evt_{n}"), &payment, vec![capture])]);
    store.commit(&[placed, received], NOW, &policy).unwrap();
    Command::Grant(TaskKey::grant(id(&order), Unit::Order))
}

/// `open` gives a store whose statements are these; each of them fails at the first grant, and is the merchant's to
/// mend: nothing is granted, and it is not tried again and again as a conflict of ours would be.
pub(crate) fn fails_as_the_merchants(open: impl Fn(GrantSql) -> Box<dyn Store>, statements: &[&str]) {
    for (n, sql) in statements.iter().enumerate() {
        let store = open(GrantSql::parse(sql).unwrap().within(1_000));
        let grant = paid(&*store, n);
        let error = store.commit(&[grant], NOW, &Policy::default()).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Merchant, "{sql}: {error}");
        assert_eq!(store.counts().unwrap().entitlements, 0, "{sql}");
        // The connection is as it was: what has no statements goes on.
        paid(&*store, n + 100);
    }
}

/// `open` refuses each of these, and says where the mistake is.
pub(crate) fn is_not_understood(open: impl Fn(GrantSql) -> Result<(), StoreError>, statements: &[&str]) {
    for sql in statements {
        let error = open(GrantSql::parse(sql).unwrap()).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Usage, "{sql}: {error}");
        assert!(error.to_string().starts_with("grant.sql, line 2: the database does not"), "{sql}: {error}");
    }
}
