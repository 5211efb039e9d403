//! Other processes, and connections that break.

use paidonce_store::conformance::skipped;
use paidonce_store::{GrantSql, MysqlOptions, MysqlStore, Store, StoreErrorKind};

use super::server::{self, Database};
use crate::contention;
use crate::grant_sql::{fails_as_the_merchants, grants_with_a_row, is_not_understood, statements, table};
use crate::lost_answer::{Proxy, no_wrong_outcome};

fn open(url: &str) -> Box<dyn Store> {
    Box::new(MysqlStore::open(url, MysqlOptions::default()).unwrap())
}

#[test]
fn four_processes_on_four_hot_orders() {
    let test = "mysql::others::four_processes_on_four_hot_orders";
    if skipped(test, server::missing().as_deref()) || contention::contend(open).is_some() {
        return;
    }
    let database = Database::default();
    contention::four_processes(&*open(&database.url()), test, &database.url());
}

#[test]
fn p2_an_answer_that_is_lost_is_never_a_wrong_outcome() {
    if skipped("lost answers", server::missing().as_deref()) {
        return;
    }
    let (database, url) = (Database::default(), server::url());
    let (before, host) = url.split_once('@').expect("user@host");
    let proxy = Proxy::new(host.to_owned());
    let through = format!("{before}@127.0.0.1:{}/{}", proxy.port, database.name);
    let through = MysqlStore::open(&through, MysqlOptions::default()).unwrap();
    no_wrong_outcome(&*open(&database.url()), &through, &proxy);
}

#[test]
fn p3_a_grant_and_the_merchants_own_row_commit_together() {
    if skipped("grant.sql", server::missing().as_deref()) {
        return;
    }
    let database = Database::default();
    drop(MysqlStore::open(&database.url(), MysqlOptions::default()).unwrap());
    let licence = format!("{}.licence", database.name);
    let options = || MysqlOptions { grant_sql: Some(statements(&licence)), ..MysqlOptions::default() };
    let error = MysqlStore::open(&database.url(), options()).err().unwrap();
    assert_eq!(error.kind(), StoreErrorKind::Usage, "there is no such table yet: {error}");
    database.execute(&table(&licence));
    let store = MysqlStore::open(&database.url(), options()).unwrap();
    let count = || database.count(&licence);
    grants_with_a_row(&store, &licence, |sql| database.execute(sql), count);
}

#[test]
fn what_fails_in_grant_sql_is_the_merchants_to_mend() {
    if skipped("grant.sql", server::missing().as_deref()) {
        return;
    }
    let database = Database::default();
    drop(MysqlStore::open(&database.url(), MysqlOptions::default()).unwrap());
    let licence = format!("{}.licence", database.name);
    database.execute(&format!("CREATE TABLE {licence} (n INT NOT NULL, CHECK (n < 1))"));
    let with = |sql| MysqlOptions { grant_sql: Some(sql), ..MysqlOptions::default() };
    let open = |sql| Box::new(MysqlStore::open(&database.url(), with(sql)).unwrap()) as Box<dyn Store>;
    let (late, wrong) =
        ("SELECT sleep(30), :order", format!("INSERT INTO {licence} VALUES (length(:order))"));
    fails_as_the_merchants(open, &[late, &wrong]);
    let check = |sql: GrantSql| {
        let checked = MysqlStore::check_grant_sql(&database.url(), &sql).unwrap_err();
        let opened = MysqlStore::open(&database.url(), with(sql)).err().unwrap();
        assert_eq!(checked.to_string(), opened.to_string());
        Err(opened)
    };
    is_not_understood(check, &["SELECT 1;\nSELECT :order FROM nowhere"]);
}

#[test]
fn p10_a_deadlock_that_grant_sql_always_raises_is_the_merchants_after_the_last_try() {
    if skipped("grant.sql", server::missing().as_deref()) {
        return;
    }
    let database = Database::default();
    drop(MysqlStore::open(&database.url(), MysqlOptions::default()).unwrap());
    database.execute(&format!(
        "CREATE PROCEDURE {}.refuse(id TEXT)
            SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'on purpose'",
        database.name
    ));
    let with = |sql| MysqlOptions { grant_sql: Some(sql), ..MysqlOptions::default() };
    let open = |sql| Box::new(MysqlStore::open(&database.url(), with(sql)).unwrap()) as Box<dyn Store>;
    fails_as_the_merchants(open, &[&format!("CALL {}.refuse(:order)", database.name)]);
}
