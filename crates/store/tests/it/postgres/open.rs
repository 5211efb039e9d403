//! What is looked at before the first command: durability, versions, reach.

use paidonce_store::conformance::skipped;
use paidonce_store::{PostgresOptions, PostgresStore, Store, StoreErrorKind};

use super::server::{self, Schema};

fn absent(test: &str) -> bool {
    skipped(test, server::missing().as_deref())
}

#[test]
fn p1_a_server_that_could_lose_commits_is_refused_unless_that_is_accepted() {
    if absent("p1_a_server_that_could_lose_commits_is_refused_unless_that_is_accepted") {
        return;
    }
    let schema = Schema::default();
    let between = if server::url().contains('?') { '&' } else { '?' };
    let url = format!("{}{between}options=-c%20synchronous_commit%3Doff", server::url());
    let error = PostgresStore::open(&url, schema.options()).err().unwrap();
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    assert!(error.to_string().contains("synchronous_commit = off"), "{error}");
    let options = PostgresOptions { accept_lost_commits: true, ..schema.options() };
    assert!(PostgresStore::open(&url, options).is_ok());
}

#[test]
fn a_schema_of_a_newer_version_is_refused() {
    if absent("a_schema_of_a_newer_version_is_refused") {
        return;
    }
    let schema = Schema::default();
    drop(PostgresStore::open(&server::url(), schema.options()).unwrap());
    schema.execute(&format!("INSERT INTO {}.migration (version) VALUES (99)", schema.name));
    let error = PostgresStore::open(&server::url(), schema.options()).err().unwrap();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    assert!(error.to_string().contains("newer"), "{error}");
}

#[test]
fn eight_processes_open_a_new_schema_at_once() {
    if absent("eight_processes_open_a_new_schema_at_once") {
        return;
    }
    let schema = Schema::default();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| PostgresStore::open(&server::url(), schema.options()).unwrap());
        }
    });
    let store = PostgresStore::open(&server::url(), schema.options()).unwrap();
    assert_eq!(store.counts().unwrap().orders, 0);
}

#[test]
fn what_cannot_be_reached_says_so_and_never_the_password() {
    for url in ["postgres://someone:hunter2@127.0.0.1:1/none", "postgres://someone:hunter2@[bad/none"] {
        let error = PostgresStore::open(url, PostgresOptions::default()).err().unwrap();
        assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
    }
}
