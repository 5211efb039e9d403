//! `/v1/cases`.

use serde_json::json;

use crate::shop::{Shop, paid};

#[test]
fn a_short_payment_is_a_case_that_can_be_looked_at() {
    let shop = Shop::open();
    shop.place("order-1");
    shop.deliver("shop", &paid("e", "p", "order-1", "10.00"));
    let open = shop.get("/v1/cases?open=true&order=order-1").json();
    let case = &open["rows"][0];
    assert_eq!((&case["reason"], &case["open"]), (&json!("amount_short"), &json!(true)), "{open:#}");
    let handle = case["handle"].as_str().unwrap();
    assert_eq!(shop.get(&format!("/v1/cases/{handle}")).json(), *case);
    assert_eq!(shop.get("/v1/cases/000000000000").code(), "unknown_case");
    // The rest of the money settles it.
    shop.deliver("shop", &paid("e2", "p2", "order-1", "9.90"));
    assert_eq!(shop.get("/v1/cases?open=true").json()["rows"], json!([]));
    assert_eq!(shop.get("/v1/cases").json()["rows"][0]["open"], json!(false));
}
