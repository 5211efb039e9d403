//! P14: what is logged holds ids and outcomes, and none of the canaries that the requests are full of.

use std::io::Write;
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::shop::{SECRET, Shop, order, paid};
use crate::wire;

#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn p14_logs_hold_ids_and_outcomes_and_no_canary() {
    let captured = Captured::default();
    let writer = captured.clone();
    // For the whole process: other tests' lines are captured as well, and must be as clean.
    tracing_subscriber::fmt()
        .with_max_level(tracing::level_filters::LevelFilter::TRACE)
        .with_writer(move || writer.clone())
        .init();
    let shop = Shop::open();
    let mut request = order("order-1");
    request["references"] = json!([{"source": "stripe", "id": "cs_1"}]);
    let placed = shop.post("/v1/orders", &request);
    assert_eq!(placed.status, 201);
    let token = placed.json()["token"].as_str().unwrap().to_owned();
    let bearer = format!("Bearer {token}");
    wire::request(shop.public(), "GET", &format!("/status/{token}"), &[], b"");
    wire::request(shop.public(), "GET", "/v1/me/orders/order-1", &[("authorization", &bearer)], b"");
    let body = paid("evt-logged", "p", "order-1", "19.90");
    shop.deliver("shop", &body);
    shop.deliver("shop", &body);
    shop.deliver("shop", &paid("evt-logged", "p", "order-1", "1.00"));
    shop.deliver("shop", b"canary-body-31 is not JSON");
    let seal = shop.seal("shop", &body);
    wire::request(shop.public(), "POST", "/in/shop", &[(&seal[0].0, "canary-signature")], &body);
    wire::request(shop.public(), "POST", "/in/canary-source", &[(&seal[0].0, &seal[0].1)], &body);
    shop.post_with("/v1/orders", &[], br#"{"customer":"canary-customer-77","canary-member":1}"#);
    shop.get("/v1/orders?customer=canary-customer-77");
    shop.until(|ledger| !ledger.entitlements.rows().is_empty());
    let log = String::from_utf8(captured.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("evt-logged") && log.contains("duplicate"), "{log}");
    let keys = [shop.key("view"), shop.key("operate")].map(|key| key.replace("Bearer ", ""));
    let signature = &seal[0].1;
    let tag = token.split_once('.').unwrap().1;
    for canary in ["canary", SECRET, signature, &keys[0], &keys[1], tag] {
        let line = log.lines().find(|line| line.contains(canary));
        assert_eq!(line, None, "{canary}");
    }
}
