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

#[test]
fn a_note_leaves_a_case_open_and_a_decision_ends_it() {
    let shop = Shop::open();
    shop.place("order-1");
    shop.deliver("shop", &paid("e", "p", "order-1", "10.00"));
    let handle = shop.case("amount_short");
    let path = format!("/v1/cases/{handle}/resolve");
    let noted = shop.post(&path, &json!({"decision": "note", "reason": "asked the customer"}));
    assert_eq!(noted.json(), json!({"case": handle, "decision": "note", "open": true}));
    assert_eq!(shop.get(&format!("/v1/cases/{handle}")).json()["open"], true);
    let accepted = shop.post(&path, &json!({"decision": "accept", "reason": "goodwill"}));
    assert_eq!(accepted.json(), json!({"case": handle, "decision": "accept", "open": false}));
    let case = shop.get(&format!("/v1/cases/{handle}")).json();
    assert_eq!((&case["open"], &case["resolution"]["by"]), (&json!(false), &json!("operate")));
    assert_eq!(case["resolution"]["note"], "accepted: goodwill");
    let ended = shop.post(&path, &json!({"decision": "reject", "reason": "no"}));
    assert_eq!((ended.status, ended.code().as_str()), (409, "case_ended"));
}

#[test]
fn a_payment_is_bound_to_an_order_by_a_person_and_granted() {
    let shop = Shop::open();
    shop.place("order-1");
    shop.deliver("hold", &paid("e", "p", "nobody", "19.90"));
    let path = format!("/v1/cases/{}/resolve", shop.case("unbound"));
    let bind = |order: serde_json::Value| {
        shop.post(
            &path,
            &json!({"decision": "bind", "order": order, "reason": "the customer sent a receipt"}),
        )
    };
    assert_eq!((bind(json!("other")).status, bind(json!("other")).code().as_str()), (404, "unknown_order"));
    assert_eq!(bind(json!("")).status, 400);
    let missing = shop.post(&path, &json!({"decision": "bind", "reason": "x"}));
    assert_eq!((missing.status, &missing.json()["mistakes"][0]["member"]), (400, &json!("order")));
    let surplus = json!({"decision": "accept", "order": "order-1", "reason": "x"});
    assert_eq!(shop.post(&path, &surplus).status, 400);
    assert_eq!(bind(json!("order-1")).json()["order"], "order-1");
    shop.until(|ledger| !ledger.entitlements.rows().is_empty());
    assert_eq!(shop.get("/v1/orders/order-1").json()["standing"], "paid");
}

#[test]
fn only_a_payment_is_bound() {
    let shop = Shop::open();
    shop.place("order-1");
    shop.deliver("shop", &paid("e", "p", "order-1", "10.00"));
    let path = format!("/v1/cases/{}/resolve", shop.case("amount_short"));
    let refused = shop.post(&path, &json!({"decision": "bind", "order": "order-1", "reason": "x"}));
    assert_eq!((refused.status, refused.code().as_str()), (409, "not_a_payment"));
}
