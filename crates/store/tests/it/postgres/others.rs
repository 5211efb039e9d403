//! Other processes, and connections that break.

use paidonce_store::conformance::skipped;
use paidonce_store::{PostgresOptions, PostgresStore, Store, StoreErrorKind};

use super::server::{self, Schema};
use crate::contention;
use crate::grant_sql::{grants_with_a_row, statements, table};
use crate::lost_answer::{Proxy, no_wrong_outcome};

fn open(schema: &str) -> Box<dyn Store> {
    let options = PostgresOptions { schema: schema.to_owned(), ..PostgresOptions::default() };
    Box::new(PostgresStore::open(&server::url(), options).unwrap())
}

#[test]
fn four_processes_on_four_hot_orders() {
    let test = "postgres::others::four_processes_on_four_hot_orders";
    if skipped(test, server::missing().as_deref()) || contention::contend(open).is_some() {
        return;
    }
    let schema = Schema::default();
    contention::four_processes(&*open(&schema.name), test, &schema.name);
}

#[test]
fn p2_an_answer_that_is_lost_is_never_a_wrong_outcome() {
    if skipped("lost answers", server::missing().as_deref()) {
        return;
    }
    let (schema, url) = (Schema::default(), server::url());
    let (before, rest) = url.split_once('@').expect("user@host");
    let (host, rest) = rest.split_once('/').expect("host/database");
    let proxy = Proxy::new(host.to_owned());
    let through = format!("{before}@127.0.0.1:{}/{rest}", proxy.port);
    let through = PostgresStore::open(&through, schema.options()).unwrap();
    no_wrong_outcome(&*open(&schema.name), &through, &proxy);
}

#[test]
fn p3_a_grant_and_the_merchants_own_row_commit_together() {
    if skipped("grant.sql", server::missing().as_deref()) {
        return;
    }
    let schema = Schema::default();
    drop(PostgresStore::open(&server::url(), schema.options()).unwrap());
    let licence = format!("{}.licence", schema.name);
    let options = || PostgresOptions { grant_sql: Some(statements(&licence)), ..schema.options() };
    let error = PostgresStore::open(&server::url(), options()).err().unwrap();
    assert_eq!(error.kind(), StoreErrorKind::Usage, "there is no such table yet: {error}");
    schema.execute(&table(&licence));
    let store = PostgresStore::open(&server::url(), options()).unwrap();
    let count = || schema.count(&licence);
    grants_with_a_row(&store, &licence, |sql| schema.execute(sql), count);
}
