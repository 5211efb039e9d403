//! What a connection may cost: slow, idle, many, and what a stop does to those that are open.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::shop::{Shop, paid};
use crate::wire;

/// How much later than configured a connection may be closed on a busy machine.
const SLACK: Duration = Duration::from_secs(4);

fn closed_within(shop: &Shop, bytes: &[u8], limit: Duration) -> Option<wire::Answer> {
    let start = Instant::now();
    let answer = wire::raw(shop.public(), bytes);
    assert!(start.elapsed() < limit + SLACK, "{:?}", start.elapsed());
    answer
}

#[test]
fn slow_headers_and_slow_bodies_are_cut_off() {
    let shop = Shop::with("header_timeout_s = 1\nbody_timeout_s = 1\nidle_timeout_s = 600", "");
    let second = Duration::from_secs(1);
    assert_eq!(closed_within(&shop, b"", second), None, "a connection that says nothing");
    assert_eq!(closed_within(&shop, b"POST /in/shop HTTP/1.1\r\nhost: sh", second), None, "half a header");
    let half = b"POST /in/shop HTTP/1.1\r\nhost: shop\r\ncontent-length: 10\r\n\r\n{";
    assert_eq!(closed_within(&shop, half, second).unwrap().status, 408, "half a body");
    assert_eq!(shop.get("/healthz").status, 200);
}

#[test]
fn a_second_request_may_wait_for_the_idle_limit_and_must_then_be_quick() {
    let shop = Shop::with("header_timeout_s = 1\nidle_timeout_s = 2", "");
    let ask = b"GET /healthz HTTP/1.1\r\nhost: shop\r\n\r\n";
    let mut idle = wire::connect(shop.public());
    idle.write_all(ask).unwrap();
    assert_eq!(wire::read_one(&mut idle).status, 200);
    let start = Instant::now();
    assert_eq!(wire::read(&mut idle), None);
    // Longer than the limit for headers, which had not begun.
    assert!(start.elapsed() > Duration::from_millis(1_500), "{:?}", start.elapsed());
    assert!(start.elapsed() < Duration::from_secs(2) + SLACK);

    let shop = Shop::with("header_timeout_s = 1\nidle_timeout_s = 600", "");
    let mut slow = wire::connect(shop.public());
    slow.write_all(ask).unwrap();
    assert_eq!(wire::read_one(&mut slow).status, 200);
    slow.write_all(b"GET /healthz HT").unwrap();
    let start = Instant::now();
    assert_eq!(wire::read(&mut slow), None);
    assert!(start.elapsed() < Duration::from_secs(1) + SLACK, "{:?}", start.elapsed());
}

#[test]
fn headers_beyond_any_need_are_refused() {
    let shop = Shop::open();
    let head = format!("GET /healthz HTTP/1.1\r\nhost: shop\r\nx: {}\r\n\r\n", "a".repeat(100_000));
    assert!(wire::raw(shop.public(), head.as_bytes()).is_none_or(|answer| answer.status == 431));
    let many: String = (0..500).map(|n| format!("x-{n}: 1\r\n")).collect();
    let head = format!("GET /healthz HTTP/1.1\r\nhost: shop\r\n{many}\r\n");
    assert!(wire::raw(shop.public(), head.as_bytes()).is_none_or(|answer| answer.status == 431));
}

#[test]
fn one_connection_too_many_waits_until_another_ends() {
    let shop = Shop::with("connections_max = 2\nheader_timeout_s = 600\nidle_timeout_s = 600", "");
    let ask = b"GET /healthz HTTP/1.1\r\nhost: shop\r\n\r\n";
    let mut held: Vec<_> = (0..2).map(|_| wire::connect(shop.public())).collect();
    for stream in &mut held {
        stream.write_all(ask).unwrap();
        assert_eq!(wire::read_one(stream).status, 200);
    }
    let mut third = wire::connect(shop.public());
    third.write_all(ask).unwrap();
    third.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let mut byte = [0];
    assert!(std::io::Read::read(&mut third, &mut byte).is_err(), "it is not served while two are open");
    third.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    held.pop();
    assert_eq!(wire::read_one(&mut third).status, 200);
}

#[test]
fn p1_what_was_answered_before_a_stop_is_there_afterwards() {
    let shop = Shop::open();
    shop.place("order-1");
    assert_eq!(shop.deliver("shop", &paid("e", "p", "order-1", "19.90")).status, 200);
    shop.until(|ledger| !ledger.entitlements.rows().is_empty());
    let before = shop.ledger();
    let mut idle = wire::connect(shop.public());
    idle.write_all(b"GET /healthz HTTP/1.1\r\nhost: shop\r\n\r\n").unwrap();
    assert_eq!(wire::read_one(&mut idle).status, 200);
    let (address, patience, store) =
        (shop.public(), shop.config.server.stop_timeout, shop.config.store.clone());
    let start = Instant::now();
    let folder = shop.stop();
    assert!(start.elapsed() < patience, "an idle connection held up the stop");
    assert!(std::net::TcpStream::connect(address).is_err(), "somebody still listens");
    assert!(store.open().unwrap().snapshot().unwrap() == before);
    drop(folder);
}
