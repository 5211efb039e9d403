//! Servers that are killed at random moments under load, and one that sleeps through its lease: what was acknowledged is
//! there, what was paid is granted once, and what one leaves behind another finishes.
//!
//! A few rounds here; `PAIDONCE_KILLS=300 cargo test --release -p paidonce --test it kill:: -- --nocapture` is the long
//! form. Its last figures stand in docs/stores.md.

mod checkout;
#[path = "../../../../store/tests/it/document/moto.rs"]
#[allow(dead_code)]
mod moto;
mod round;
mod site;
mod stores;

use paidonce_store::conformance::skipped;

use round::{Tally, whole};
use site::Site;
use stores::Shared;

const ROUNDS: usize = 2;

fn rounds() -> usize {
    std::env::var("PAIDONCE_KILLS").map_or(ROUNDS, |n| n.parse().expect("PAIDONCE_KILLS: a number"))
}

// What it came to is for whoever runs it.
#[allow(clippy::print_stderr)]
fn rounds_on(name: &str, shared: &Shared, servers: usize) {
    let site = Site::open(shared, servers);
    let mut tally = Tally::default();
    for n in 0..rounds() {
        round::killed(&site, servers, n, &mut tally);
    }
    whole(&site, &tally);
    eprintln!("{name}: {tally:?}");
}

#[test]
fn sqlite_and_its_only_server() {
    rounds_on("sqlite", &Shared::Sqlite, 1);
}

#[test]
fn postgres_and_two_servers() {
    if !skipped("postgres_and_two_servers", Shared::missing("postgres").as_deref()) {
        rounds_on("postgres", &Shared::postgres(), 2);
    }
}

#[test]
fn mariadb_and_two_servers() {
    if !skipped("mariadb_and_two_servers", Shared::missing("mysql").as_deref()) {
        rounds_on("mariadb", &Shared::mysql(), 2);
    }
}

#[test]
fn a_document_on_s3_and_two_servers() {
    if !skipped("a_document_on_s3_and_two_servers", Shared::missing("s3").as_deref()) {
        rounds_on("s3", &Shared::s3(), 2);
    }
}

#[test]
fn a_document_on_nats_and_two_servers() {
    if !skipped("a_document_on_nats_and_two_servers", Shared::missing("nats").as_deref()) {
        rounds_on("nats", &Shared::nats(), 2);
    }
}

/// It may hold a connection, a transaction or a lease when it stops. The other takes over; when it wakes, it changes
/// nothing that is done.
#[allow(clippy::print_stderr)]
fn sleeps_through(name: &str, shared: &Shared) {
    let site = Site::open(shared, 2);
    let mut tally = Tally::default();
    for n in 0..rounds() {
        round::asleep(&site, n, &mut tally);
    }
    whole(&site, &tally);
    eprintln!("{name}, asleep: {tally:?}");
}

#[test]
fn postgres_and_a_server_that_sleeps() {
    if !skipped("postgres_and_a_server_that_sleeps", Shared::missing("postgres").as_deref()) {
        sleeps_through("postgres", &Shared::postgres());
    }
}

#[test]
fn mariadb_and_a_server_that_sleeps() {
    if !skipped("mariadb_and_a_server_that_sleeps", Shared::missing("mysql").as_deref()) {
        sleeps_through("mariadb", &Shared::mysql());
    }
}
