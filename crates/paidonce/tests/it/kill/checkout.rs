//! Checkout over two servers on one store: every copy of a request has one answer, and the last pieces are sold once.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use paidonce_ledger::{Ledger, Product, invariants};
use paidonce_store::Page;
use paidonce_store::conformance::skipped;
use serde_json::{Value, json};

use super::site::Site;
use super::stores::Shared;
use crate::shop::paid;

/// Copies of one checkout, at once.
const COPIES: usize = 50;

/// Buyers, and pieces for half of them. Each request is sent three times.
const BUYERS: usize = 200;
const PIECES: u64 = 100;

/// Who sends at the same time.
const SENDERS: usize = 12;

fn tickets(id: Option<&str>) -> Value {
    let mut order =
        json!({"lines": [{"sku": "ticket", "quantity": 1}], "total": {"amount": "19.90", "unit": "EUR"}});
    if let Some(id) = id {
        order["id"] = json!(id);
    }
    order
}

fn open(shared: &Shared) -> Site {
    let site = Site::open(shared, 2);
    let product = json!({"sku": "ticket", "prices": [{"amount": "19.90", "unit": "EUR"}], "stock": PIECES});
    assert_eq!(site.post(0, "/v1/products", "catalogue", &product).status, 200);
    site
}

fn product(site: &Site) -> Product {
    site.store.products(&Page::first(1)).unwrap().rows.remove(0).1
}

fn sound(site: &Site) -> Ledger {
    let ledger = site.store.snapshot().unwrap();
    assert_eq!(invariants::check_settled(&ledger, &site.config.policy()), []);
    ledger
}

/// Fifty copies over both servers, and one whose server is killed after its commit: P12.
fn copies(name: &str, shared: Option<Shared>) {
    let Some(shared) = shared else { return };
    let site = open(&shared);
    let send = |n: usize| {
        let answer = site.post(n % 2, "/v1/orders", "cart-1", &tickets(None));
        (answer.status, answer.body)
    };
    let send = &send;
    let answers: BTreeSet<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..COPIES).map(|n| scope.spawn(move || send(n))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(answers.len(), 1, "{name}: {answers:#?}");
    let (status, body) = answers.into_iter().next().unwrap();
    let token = serde_json::from_str::<Value>(&body).unwrap()["token"].as_str().unwrap().to_owned();
    assert_eq!(status, 201);
    assert_eq!(sound(&site).orders.rows().len(), 1);
    assert_eq!((product(&site).reserved, product(&site).free()), (1, Some(PIECES - 1)));
    let other = site.post(1, "/v1/orders", "cart-1", &tickets(Some("another")));
    assert_eq!(other.status, 422, "{name}: {other:?}");

    // Committed, and its server killed before anybody has read the answer.
    let mut unread = site.send(0, "/v1/orders", "cart-2", &tickets(None));
    let until = Instant::now() + Duration::from_secs(20);
    while product(&site).reserved < 2 {
        assert!(Instant::now() < until, "{name}: it was not committed");
    }
    site.kill(0);
    // A reset, or what was on its way: nobody looks.
    let _ = unread.read_to_end(&mut Vec::new());
    let elsewhere = site.post(1, "/v1/orders", "cart-2", &tickets(None));
    site.start(0);
    let again = site.post(0, "/v1/orders", "cart-2", &tickets(None));
    assert_eq!((elsewhere.status, &elsewhere.body), (201, &again.body), "{name}");
    assert_eq!(site.post(0, "/v1/orders", "cart-1", &tickets(None)).body, body, "{name}: across a restart");
    for server in [0, 1] {
        assert_eq!(site.get(server, &format!("/status/{token}")).status, 200, "{name}");
    }
    assert_eq!(sound(&site).orders.rows().len(), 2);
    assert_eq!(product(&site).reserved, 2);
}

/// Two hundred buyers for a hundred pieces, each request three times, over both servers; then what was reserved is paid,
/// cancelled, and bought by others: P13.
// What it came to is for whoever runs it.
#[allow(clippy::print_stderr)]
fn rush(name: &str, shared: Option<Shared>) {
    let Some(shared) = shared else { return };
    let site = open(&shared);
    let (next, began) = (AtomicUsize::new(0), Instant::now());
    let buy = |n: usize| {
        let (buyer, server) = (n % BUYERS, n % 2);
        let id = format!("o-{buyer}");
        let answer = site.post(server, "/v1/orders", &format!("cart-{buyer}"), &tickets(Some(&id)));
        (buyer, answer.status, answer.body)
    };
    let sender = || {
        let mut answers = Vec::new();
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            if n >= 3 * BUYERS {
                return answers;
            }
            answers.push(buy(n));
            let row = product(&site);
            assert!(row.reserved + row.sold <= PIECES, "{name}: {row:?}");
        }
    };
    let sender = &sender;
    let answers: BTreeSet<_> = std::thread::scope(|scope| {
        let senders: Vec<_> = (0..SENDERS).map(|_| scope.spawn(sender)).collect();
        senders.into_iter().flat_map(|sender| sender.join().unwrap()).collect()
    });
    let took = began.elapsed();
    assert_eq!(answers.len(), BUYERS, "{name}: every buyer has one answer");
    let placed: Vec<_> = answers.iter().filter(|(_, status, _)| *status == 201).map(|(n, ..)| *n).collect();
    let refused = answers.iter().filter(|(_, _, body)| body.contains("out_of_stock")).count();
    assert_eq!((placed.len(), refused), (100, 100), "{name}");
    let row = product(&site);
    assert_eq!((row.reserved, row.sold, row.free()), (PIECES, 0, Some(0)), "{name}");

    for (n, buyer) in placed.iter().enumerate().take(20) {
        let order = format!("o-{buyer}");
        if n % 2 == 0 {
            site.deliver(n, &paid(&format!("e-{buyer}"), &format!("p-{buyer}"), &order, "19.90"));
        } else {
            let why = json!({"reason": "changed their mind"});
            let path = format!("/v1/orders/{order}/cancel");
            assert_eq!(site.post(n % 2, &path, &format!("cancel-{buyer}"), &why).status, 200);
        }
    }
    let row = product(&site);
    assert_eq!((row.reserved, row.sold, row.free()), (80, 10, Some(10)), "{name}");
    // What was refused stays refused under its key; under another it is another request.
    let late = (0..BUYERS).find(|buyer| !placed.contains(buyer)).unwrap();
    let id = format!("o-{late}");
    assert_eq!(site.post(0, "/v1/orders", &format!("cart-{late}"), &tickets(Some(&id))).status, 409);
    assert_eq!(site.post(1, "/v1/orders", &format!("again-{late}"), &tickets(Some(&id))).status, 201);
    assert_eq!(product(&site).free(), Some(9));
    sound(&site);
    eprintln!("{name}: {} requests in {took:?}, 100 orders, 100 refusals", 3 * BUYERS);
}

fn there(test: &str, kind: &str, open: fn() -> Shared) -> Option<Shared> {
    (!skipped(test, Shared::missing(kind).as_deref())).then(open)
}

#[test]
fn p12_copies_on_sqlite() {
    copies("sqlite", Some(Shared::Sqlite));
}

#[test]
fn p12_copies_on_postgres() {
    copies("postgres", there("p12_copies_on_postgres", "postgres", Shared::postgres));
}

#[test]
fn p12_copies_on_mariadb() {
    copies("mariadb", there("p12_copies_on_mariadb", "mysql", Shared::mysql));
}

#[test]
fn p12_copies_on_s3() {
    copies("s3", there("p12_copies_on_s3", "s3", Shared::s3));
}

#[test]
fn p12_copies_on_nats() {
    copies("nats", there("p12_copies_on_nats", "nats", Shared::nats));
}

#[test]
fn p13_a_rush_on_sqlite() {
    rush("sqlite", Some(Shared::Sqlite));
}

#[test]
fn p13_a_rush_on_postgres() {
    rush("postgres", there("p13_a_rush_on_postgres", "postgres", Shared::postgres));
}

#[test]
fn p13_a_rush_on_mariadb() {
    rush("mariadb", there("p13_a_rush_on_mariadb", "mysql", Shared::mysql));
}

#[test]
fn p13_a_rush_on_s3() {
    rush("s3", there("p13_a_rush_on_s3", "s3", Shared::s3));
}

#[test]
fn p13_a_rush_on_nats() {
    rush("nats", there("p13_a_rush_on_nats", "nats", Shared::nats));
}
