//! SQLite, on a file in a folder of its own. Commits are broken by triggers that a second connection makes.

use std::path::PathBuf;
use std::sync::Mutex;

use paidonce_store::conformance::{Break, Broken, Harness};
use paidonce_store::{GrantSql, SqliteOptions, SqliteStore, Store, StoreErrorKind};
use rusqlite::Connection;
use tempfile::TempDir;

#[derive(Default)]
struct Sqlite {
    folder: Mutex<Option<TempDir>>,
}

impl Sqlite {
    fn path(&self) -> PathBuf {
        self.folder.lock().unwrap().as_ref().unwrap().path().join("paidonce.db")
    }
}

struct Trigger(PathBuf);

impl Broken for Trigger {}
impl Drop for Trigger {
    fn drop(&mut self) {
        Connection::open(&self.0).unwrap().execute_batch("DROP TRIGGER breaks").unwrap();
    }
}

impl Harness for Sqlite {
    fn fresh(&self) -> Box<dyn Store> {
        *self.folder.lock().unwrap() = Some(TempDir::new().unwrap());
        Box::new(SqliteStore::open(self.path(), SqliteOptions::default()).unwrap())
    }

    fn second(&self) -> Option<Box<dyn Store>> {
        Some(Box::new(SqliteStore::open(self.path(), SqliteOptions::default()).unwrap()))
    }

    fn break_at<'a>(&'a self, _store: &'a dyn Store, at: Break) -> Box<dyn Broken + 'a> {
        let table = match at {
            Break::Task => "task",
            Break::Entitlement => "entitlement",
            Break::Event => "event",
        };
        let sql = format!(
            "CREATE TRIGGER breaks AFTER INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'broken on purpose'); END"
        );
        Connection::open(self.path()).unwrap().execute_batch(&sql).unwrap();
        Box::new(Trigger(self.path()))
    }
}

paidonce_store::conformance_tests!(Sqlite::default());

#[test]
fn p1_the_file_is_wal_and_full() {
    let sqlite = Sqlite::default();
    let _store = sqlite.fresh();
    let connection = Connection::open(sqlite.path()).unwrap();
    let mode: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    let page: i64 = connection.query_row("PRAGMA page_size", [], |row| row.get(0)).unwrap();
    assert_eq!((mode.as_str(), page), ("wal", 8192));
}

#[test]
fn a_database_of_another_program_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("other.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    let error = SqliteStore::open(&path, SqliteOptions::default()).err().unwrap();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    assert!(error.to_string().contains("another program"), "{error}");
}

#[test]
fn a_file_of_a_newer_version_is_refused() {
    let sqlite = Sqlite::default();
    drop(sqlite.fresh());
    Connection::open(sqlite.path()).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
    let error = SqliteStore::open(sqlite.path(), SqliteOptions::default()).err().unwrap();
    assert!(error.to_string().contains("newer"), "{error}");
}

#[test]
fn what_is_no_database_or_has_no_folder_is_refused_with_what_to_do() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("text.db");
    std::fs::write(&path, "this is not a database, and long enough to be looked at as one ........").unwrap();
    let error = SqliteStore::open(&path, SqliteOptions::default()).err().unwrap();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{error}");
    let error =
        SqliteStore::open(folder.path().join("no/such/folder.db"), SqliteOptions::default()).err().unwrap();
    assert!(error.to_string().contains("does its folder exist"), "{error}");
}

#[test]
fn s1_a_full_disk_is_an_error_that_leaves_nothing_and_passes() {
    use paidonce_ledger::testing::{eur, place};
    use paidonce_ledger::{Command, Policy, Timestamp};
    let sqlite = Sqlite::default();
    let store = SqliteStore::open(
        {
            drop(sqlite.fresh());
            sqlite.path()
        },
        SqliteOptions { pages_max: Some(60), ..SqliteOptions::default() },
    )
    .unwrap();
    let order = |n: u32| {
        let mut order = place(&format!("o_{n}"), &eur("1"), &[]);
        order.lines = vec![order.lines[0].clone(); 100];
        Command::PlaceOrder(order)
    };
    let mut stored = 0;
    let error = (0..10_000)
        .find_map(|n| match store.commit(&[order(n)], Timestamp(1), &Policy::default()) {
            Ok(_) => {
                stored += 1;
                None
            }
            Err(error) => Some(error),
        })
        .expect("sixty pages are full at some point");
    assert_eq!(error.kind(), StoreErrorKind::Full, "{error}");
    assert_eq!(store.counts().unwrap().orders, stored);
    // Room again, as another process sees it: the same order goes in.
    let roomy = SqliteStore::open(sqlite.path(), SqliteOptions::default()).unwrap();
    let next = u32::try_from(stored).unwrap();
    roomy.commit(&[order(next)], Timestamp(1), &Policy::default()).unwrap();
    assert_eq!(roomy.counts().unwrap().orders, stored + 1);
}

#[test]
fn p2_an_event_and_the_applications_row_commit_together_in_a_transaction_begun_immediate() {
    use paidonce_ledger::testing::{eur, place};
    use paidonce_ledger::{Command, Policy, Timestamp};
    use paidonce_store::{Joined, SqliteTables};
    use rusqlite::TransactionBehavior;
    let folder = TempDir::new().unwrap();
    let mut connection =
        SqliteTables.connect(folder.path().join("paidonce.db"), &SqliteOptions::default()).unwrap();
    connection.execute_batch("CREATE TABLE licence (customer TEXT)").unwrap();
    let (order, policy) = (Command::PlaceOrder(place("1001", &eur("1"), &[])), Policy::default());
    let refused = SqliteTables.execute_in(&connection.transaction().unwrap(), &order, Timestamp(1), &policy);
    assert_eq!(refused.unwrap_err().kind(), StoreErrorKind::Usage);
    for commits in [false, true] {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
        transaction.execute("INSERT INTO licence VALUES ('alice')", []).unwrap();
        let joined = SqliteTables.execute_in(&transaction, &order, Timestamp(1), &policy).unwrap();
        assert!(matches!(joined, Joined::Done(_)), "{joined:?}");
        if commits {
            transaction.commit().unwrap();
        }
    }
    let count = |table: &str| -> i64 {
        connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    };
    assert_eq!((count("orders"), count("licence")), (1, 1));
}

#[test]
fn p3_a_grant_and_the_merchants_own_row_commit_together() {
    use crate::grant_sql::{grants_with_a_row, statements, table};
    let sqlite = Sqlite::default();
    drop(sqlite.fresh());
    let options = || SqliteOptions { grant_sql: Some(statements("licence")), ..SqliteOptions::default() };
    let error = SqliteStore::open(sqlite.path(), options()).err().unwrap();
    assert_eq!(error.kind(), StoreErrorKind::Usage, "there is no such table yet: {error}");
    let beside = Connection::open(sqlite.path()).unwrap();
    beside.execute_batch(&table("licence")).unwrap();
    let store = SqliteStore::open(sqlite.path(), options()).unwrap();
    let count = || beside.query_row("SELECT count(*) FROM licence", [], |row| row.get(0)).unwrap();
    grants_with_a_row(&store, "licence", |sql| beside.execute_batch(sql).unwrap(), count);
}

#[test]
fn what_fails_in_grant_sql_is_the_merchants_to_mend() {
    use crate::grant_sql::{fails_as_the_merchants, is_not_understood};
    let sqlite = Sqlite::default();
    drop(sqlite.fresh());
    let tables = "CREATE TABLE parent (id TEXT PRIMARY KEY);
        CREATE TABLE child (id TEXT REFERENCES parent DEFERRABLE INITIALLY DEFERRED, n INT CHECK (n < 1))";
    Connection::open(sqlite.path()).unwrap().execute_batch(tables).unwrap();
    let with = |sql| SqliteOptions { grant_sql: Some(sql), ..SqliteOptions::default() };
    let open = |sql| Box::new(SqliteStore::open(sqlite.path(), with(sql)).unwrap()) as Box<dyn Store>;
    let endless =
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i), :order FROM n";
    // The second is checked only at COMMIT.
    let at_commit = "INSERT INTO child (id) VALUES (:order)";
    fails_as_the_merchants(open, &[endless, at_commit, "INSERT INTO child (n) VALUES (length(:order))"]);
    let check = |sql: GrantSql| {
        let checked = SqliteStore::check_grant_sql(sqlite.path(), &sql).unwrap_err();
        let opened = SqliteStore::open(sqlite.path(), with(sql)).err().unwrap();
        assert_eq!(checked.to_string(), opened.to_string());
        Err(opened)
    };
    is_not_understood(check, &["SELECT 1;\nSELECT :order FROM nowhere"]);
}
