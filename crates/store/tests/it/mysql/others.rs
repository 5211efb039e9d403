//! Other processes, and connections that break.

use paidonce_store::conformance::skipped;
use paidonce_store::{MysqlOptions, MysqlStore, Store};

use super::server::{self, Database};
use crate::contention;
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
