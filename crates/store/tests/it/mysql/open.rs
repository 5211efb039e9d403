//! What is looked at before the first command: durability, versions, reach.

use paidonce_store::conformance::skipped;
use paidonce_store::{MysqlOptions, MysqlStore, Store, StoreErrorKind};

use super::server::{self, Database};

fn absent(test: &str) -> bool {
    skipped(test, server::missing().as_deref())
}

#[test]
fn a_database_of_a_newer_version_is_refused() {
    if absent("a_database_of_a_newer_version_is_refused") {
        return;
    }
    let database = Database::default();
    drop(MysqlStore::open(&database.url(), MysqlOptions::default()).unwrap());
    database.execute(&format!("INSERT INTO {}.paidonce_migration (version) VALUES (99)", database.name));
    let error = MysqlStore::open(&database.url(), MysqlOptions::default()).err().unwrap();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    assert!(error.to_string().contains("newer"), "{error}");
}

#[test]
fn eight_processes_open_a_new_database_at_once() {
    if absent("eight_processes_open_a_new_database_at_once") {
        return;
    }
    let database = Database::default();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| MysqlStore::open(&database.url(), MysqlOptions::default()).unwrap());
        }
    });
    let store = MysqlStore::open(&database.url(), MysqlOptions::default()).unwrap();
    assert_eq!(store.counts().unwrap().orders, 0);
}

#[test]
fn what_cannot_be_reached_says_so_and_never_the_password() {
    for url in ["mysql://someone:hunter2@127.0.0.1:1/none", "mysql://someone:hunter2@[bad/none"] {
        let error = MysqlStore::open(url, MysqlOptions::default()).err().unwrap();
        assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
    }
}
