//! Other processes, and connections that break.

use paidonce_store::conformance::{NOW, skipped};
use paidonce_store::{Due, GrantSql, PostgresOptions, PostgresStore, Store, StoreErrorKind};

use super::server::{self, Schema};
use crate::contention;
use crate::grant_sql::{
    self, fails_as_the_merchants, grants_with_a_row, is_not_understood, statements, table,
};
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

#[test]
fn what_fails_in_grant_sql_is_the_merchants_to_mend() {
    if skipped("grant.sql", server::missing().as_deref()) {
        return;
    }
    let schema = Schema::default();
    drop(PostgresStore::open(&server::url(), schema.options()).unwrap());
    let name = &schema.name;
    schema.execute(&format!(
        "CREATE TABLE {name}.parent (id TEXT PRIMARY KEY);
        CREATE TABLE {name}.child (id TEXT REFERENCES {name}.parent DEFERRABLE INITIALLY DEFERRED, n INT CHECK (n < 1))"
    ));
    let with = |sql| PostgresOptions { grant_sql: Some(sql), ..schema.options() };
    let open = |sql| Box::new(PostgresStore::open(&server::url(), with(sql)).unwrap()) as Box<dyn Store>;
    fails_as_the_merchants(
        open,
        &[
            "SELECT pg_sleep(30), :order",
            // Checked only at COMMIT, unless it is asked for earlier.
            &format!("INSERT INTO {name}.child (id) VALUES (:order)"),
            &format!("INSERT INTO {name}.child (n) VALUES (length(:order))"),
        ],
    );
    let check = |sql: GrantSql| {
        let checked = PostgresStore::check_grant_sql(&server::url(), &sql).unwrap_err();
        let opened = PostgresStore::open(&server::url(), with(sql)).err().unwrap();
        assert_eq!(checked.to_string(), opened.to_string());
        Err(opened)
    };
    // The last is right but for the type: parameters are texts.
    is_not_understood(
        check,
        &[
            "SELECT 1;\nSELECT :order FROM nowhere",
            &format!("SELECT 1;\nINSERT INTO {name}.child (n) VALUES (:quantity)"),
        ],
    );
}

#[test]
fn p10_a_deadlock_that_grant_sql_always_raises_is_the_merchants_after_the_last_try() {
    if skipped("grant.sql", server::missing().as_deref()) {
        return;
    }
    let schema = Schema::default();
    drop(PostgresStore::open(&server::url(), schema.options()).unwrap());
    let name = &schema.name;
    for (n, code) in ["40P01", "40001"].into_iter().enumerate() {
        // A sequence is not rolled back, so it counts every try.
        schema.execute(&format!(
            "CREATE SEQUENCE {name}.tries_{n};
            CREATE FUNCTION {name}.refuse_{n}(id TEXT) RETURNS INT LANGUAGE plpgsql AS $$ BEGIN
                PERFORM nextval('{name}.tries_{n}');
                RAISE EXCEPTION 'on purpose' USING ERRCODE = '{code}';
            END $$"
        ));
        let with = |sql| PostgresOptions { grant_sql: Some(sql), ..schema.options() };
        let open = |sql| Box::new(PostgresStore::open(&server::url(), with(sql)).unwrap()) as Box<dyn Store>;
        schema.clear();
        fails_as_the_merchants(open, &[&format!("SELECT {name}.refuse_{n}(:order)")]);
        let tries = schema.count(&format!("{name}.tries_{n} WHERE last_value = 8"));
        assert_eq!(tries, 1, "{code}: tried at once as often as a conflict of ours is");
    }
}

#[test]
fn p10_a_commit_of_one_engine_wakes_another_on_the_same_database() {
    if skipped("hints", server::missing().as_deref()) {
        return;
    }
    let (schema, (sender, heard)) = (Schema::default(), std::sync::mpsc::channel());
    let (one, two) = (open(&schema.name), open(&schema.name));
    let wake = move || {
        // Who does not wait any more needs no hint.
        let _ = sender.send(());
    };
    two.on_work(std::sync::Arc::new(wake));
    // It says so itself once it listens.
    let wait = || heard.recv_timeout(std::time::Duration::from_secs(60)).expect("a hint");
    wait();
    one.on_work(std::sync::Arc::new(|| ()));
    grant_sql::paid(&*one, 1);
    wait();
    assert_eq!(two.due(&Due::Grants, NOW, 10).unwrap().len(), 1);
    // Whoever stops listening stops nobody.
    drop(two);
    grant_sql::paid(&*one, 2);
    assert_eq!(one.due(&Due::Grants, NOW, 10).unwrap().len(), 2);
}
