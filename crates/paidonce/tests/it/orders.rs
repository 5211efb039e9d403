//! `/v1/orders`.

use serde_json::json;

use crate::shop::{Shop, order, paid};
use crate::wire;

#[test]
fn a_retry_is_answered_byte_for_byte_alike() {
    let shop = Shop::open();
    let place = |key: &str| {
        shop.post_with("/v1/orders", &[("idempotency-key", key)], order("order-1").to_string().as_bytes())
    };
    let first = place("checkout-1");
    let placed = first.json();
    assert_eq!(placed["total"], json!({"amount": "19.90", "unit": "EUR"}));
    assert!(placed["hint"].as_str().unwrap().starts_with("po_"));
    // Also after the order has moved on: the answer depends on the request and the stored reply alone.
    shop.deliver("shop", &paid("e", "p", "order-1", "19.90"));
    let again = place("checkout-1");
    assert_eq!((again.status, again.body), (first.status, first.body));
    let mut other = order("order-1");
    other["total"]["amount"] = json!("20.00");
    let conflict = shop.post("/v1/orders", &other);
    assert_eq!((conflict.status, conflict.code().as_str()), (409, "order_exists"));
}

#[test]
fn an_idempotency_key_gives_one_order_and_refuses_another_request() {
    let shop = Shop::open();
    let request = json!({"lines": [{"sku": "ebook"}], "total": {"amount": "5", "unit": "EUR"}});
    let post = |key: &str, body: &serde_json::Value| {
        shop.post_with("/v1/orders", &[("idempotency-key", key)], body.to_string().as_bytes())
    };
    let first = post("checkout-7", &request);
    assert_eq!(first.status, 201, "{first:?}");
    assert!(first.json()["id"].as_str().unwrap().starts_with("ord_"));
    assert_eq!(post("checkout-7", &request).body, first.body);
    assert_ne!(post("checkout-8", &request).json()["id"], first.json()["id"]);
    let mut other = request.clone();
    other["total"]["amount"] = json!("6");
    let reused = post("checkout-7", &other);
    assert_eq!((reused.status, reused.code().as_str()), (422, "idempotency_key_reused"));
    assert_eq!(shop.ledger().orders.rows().len(), 2);
    for key in ["", "with blank", "ü", &"x".repeat(256)] {
        assert_eq!(post(key, &request).status, 400, "{key:?}");
    }
}

#[test]
fn an_order_needs_a_key_and_each_account_has_keys_of_its_own() {
    let shop = Shop::open();
    let place = |scope: &str, keys: &[&str]| {
        let key = shop.key(scope);
        let mut headers = vec![("authorization", key.as_str()), ("content-type", "application/json")];
        headers.extend(keys.iter().map(|key| ("idempotency-key", *key)));
        let body = br#"{"lines": [{"sku": "ebook"}], "total": {"amount": "5", "unit": "EUR"}}"#;
        wire::request(shop.server().api(), "POST", "/v1/orders", &headers, body)
    };
    let missing = place("operate", &[]);
    assert_eq!((missing.status, missing.code().as_str()), (400, "idempotency_key_missing"));
    assert_eq!(place("operate", &["a", "a"]).status, 400);
    assert!(shop.ledger().orders.rows().is_empty());
    let (mine, theirs) = (place("operate", &["a"]), place("admin", &["a"]));
    assert_eq!((mine.status, theirs.status), (201, 201));
    assert_ne!(mine.json()["id"], theirs.json()["id"]);
    assert_ne!(mine.json()["token"], theirs.json()["token"]);
    // Quotes belong to the key: it is compared byte for byte.
    for key in ["A", "\"a\"", &"k".repeat(255)] {
        let answer = place("operate", &[key]);
        assert_eq!(answer.status, 201, "{key}");
        assert_eq!(place("operate", &[key]).body, answer.body, "{key}");
    }
    assert_eq!(shop.ledger().orders.rows().len(), 5);
}

#[test]
fn a_refusal_is_kept_under_its_key_and_a_mistake_is_not() {
    let shop = Shop::open();
    shop.place("order-1");
    let send = |path: &str, key: &str, body: &serde_json::Value| {
        let answer = shop.post_with(path, &[("idempotency-key", key)], body.to_string().as_bytes());
        (answer.status, answer.body)
    };
    let (path, why) = ("/v1/orders/order-2/cancel", json!({"reason": "x"}));
    let refused = send(path, "k", &why);
    assert_eq!(refused.0, 404);
    shop.place("order-2");
    assert_eq!(send(path, "k", &why), refused, "what was refused stays refused under its key");
    assert_eq!(send(path, "l", &why).0, 200);
    assert_eq!(send("/v1/orders/order-1/cancel", "l", &why).0, 422);
    assert_eq!(send("/v1/orders/order-1/cancel", "m", &json!({"reason": ""})).0, 400);
    assert_eq!(send("/v1/orders/order-1/cancel", "m", &why).0, 200);
    let reference = json!({"source": "stripe", "id": "cs_1"});
    let registered = send("/v1/orders/order-1/references", "r", &reference);
    assert_eq!(registered.0, 201);
    assert_eq!(send("/v1/orders/order-1/references", "r", &reference), registered);
    let other = json!({"source": "stripe", "id": "cs_2"});
    assert_eq!(send("/v1/orders/order-1/references", "r", &other).0, 422);
}

#[test]
fn twenty_twins_of_one_request_are_one_order() {
    let shop = Shop::open();
    let body = json!({"lines": [{"sku": "ebook"}], "total": {"amount": "5", "unit": "EUR"}}).to_string();
    let bodies: Vec<_> = std::thread::scope(|scope| {
        let send = || shop.post_with("/v1/orders", &[("idempotency-key", "twin")], body.as_bytes()).body;
        let threads: Vec<_> = (0..20).map(|_| scope.spawn(send)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(bodies.iter().all(|body| *body == bodies[0]));
    assert_eq!(shop.ledger().orders.rows().len(), 1);
}

#[test]
fn an_order_is_shown_with_everything_that_hangs_on_it() {
    let shop = Shop::open();
    let mut request = order("a/b ü");
    request["references"] =
        json!([{"source": "stripe", "id": "cs_1", "expected": {"amount": "19.90", "unit": "EUR"}}]);
    assert_eq!(shop.post("/v1/orders", &request).status, 201);
    shop.deliver("shop", &paid("e1", "p1", "a/b ü", "19.90"));
    shop.until(|ledger| !ledger.entitlements.rows().is_empty());
    let shown = shop.get("/v1/orders/a%2Fb%20%C3%BC").json();
    assert_eq!(shown["standing"], "paid", "{shown:#}");
    assert_eq!((&shown["captured"], &shown["outstanding"]), (&json!("19.90"), &json!("0.00")));
    assert_eq!(shown["payments"][0]["facts"][0]["words"], "captured 19.90 EUR, settled");
    assert_eq!(shown["references"][0]["id"], "cs_1");
    assert_eq!(shown["tasks"][0]["state"], "done");
    assert_eq!(shown["entitlements"][0]["active"], true);
    let story = shop.get("/v1/orders/a%2Fb%20%C3%BC/explain").json();
    assert!(story["timeline"].as_array().unwrap().len() >= 4, "{story:#}");
    assert!(story["sentence"].as_str().unwrap().contains("ranted"), "{story:#}");
    assert_eq!(shop.get("/v1/orders/other").code(), "unknown_order");
    let long = format!("/v1/orders/{}", "x".repeat(300));
    assert_eq!(shop.get(&long).code(), "unknown_order");
}

#[test]
fn orders_are_listed_in_pages() {
    let shop = Shop::open();
    for n in 0..5 {
        shop.place(&format!("order-{n}"));
    }
    let (mut after, mut seen) = (String::new(), Vec::new());
    loop {
        let page = shop.get(&format!("/v1/orders?limit=2&customer=canary-customer-77{after}")).json();
        seen.extend(
            page["rows"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()),
        );
        match page["next"].as_str() {
            Some(next) => after = format!("&after={}", next.replace('~', "%7E")),
            None => break,
        }
    }
    seen.sort();
    assert_eq!(seen, ["order-0", "order-1", "order-2", "order-3", "order-4"]);
    assert_eq!(shop.get("/v1/orders?customer=nobody").json()["rows"], json!([]));
}

#[test]
fn a_reference_belongs_to_one_order() {
    let shop = Shop::open();
    shop.place("order-1");
    shop.place("order-2");
    let reference = json!({"source": "stripe", "id": "cs_1"});
    let registered = shop.post("/v1/orders/order-1/references", &reference);
    assert_eq!((registered.status, &registered.json()["order"]), (201, &json!("order-1")));
    assert_eq!(shop.post("/v1/orders/order-1/references", &reference).status, 201);
    let taken = shop.post("/v1/orders/order-2/references", &reference);
    assert_eq!((taken.status, taken.code().as_str()), (409, "reference_taken"));
    let expecting = json!({"source": "stripe", "id": "cs_1", "expected": {"amount": "1.00", "unit": "EUR"}});
    let differs = shop.post("/v1/orders/order-1/references", &expecting);
    assert_eq!((differs.status, differs.code().as_str()), (409, "reference_differs"));
    assert_eq!(shop.post("/v1/orders/other/references", &reference).code(), "unknown_order");
    let unknown = shop.post("/v1/orders/order-1/references", &json!({"source": "nobody", "id": "x"}));
    assert_eq!((unknown.status, unknown.code().as_str()), (400, "invalid_request"));
}

#[test]
fn an_order_is_cancelled_with_a_reason_and_not_after_a_grant() {
    let shop = Shop::open();
    shop.place("order-1");
    for body in [json!({}), json!({"reason": " "}), json!({"reason": "a\nb"}), json!({"reason": 1})] {
        assert_eq!(shop.post("/v1/orders/order-1/cancel", &body).status, 400, "{body}");
    }
    let cancelled = shop.post("/v1/orders/order-1/cancel", &json!({"reason": "changed their mind"}));
    assert_eq!(cancelled.json(), json!({"order": "order-1", "state": "cancelled"}));
    assert_eq!(shop.get("/v1/orders/order-1").json()["state"], "cancelled");
    shop.place("order-2");
    shop.deliver("shop", &paid("e", "p", "order-2", "19.90"));
    shop.until(|ledger| !ledger.entitlements.rows().is_empty());
    let refused = shop.post("/v1/orders/order-2/cancel", &json!({"reason": "too late"}));
    assert_eq!((refused.status, refused.code().as_str()), (409, "already_granted"));
    assert_eq!(shop.post("/v1/orders/other/cancel", &json!({"reason": "x"})).code(), "unknown_order");
}

#[test]
fn an_order_of_nothing_is_granted_when_placed() {
    let shop = Shop::open();
    let body = json!({"lines": [{"sku": "free"}], "total": {"amount": "0", "unit": "EUR"}, "fulfil": "line"});
    assert_eq!(shop.post("/v1/orders", &body).status, 201);
    let ledger = shop.until(|ledger| !ledger.entitlements.rows().is_empty());
    assert_eq!(ledger.entitlements.rows().len(), 1);
}

#[test]
fn a_closed_order_is_revived_and_granted() {
    let shop = Shop::open();
    shop.place("order-1");
    assert_eq!(shop.post("/v1/orders/order-1/cancel", &json!({"reason": "no answer"})).status, 200);
    shop.deliver("shop", &paid("e", "p", "order-1", "19.90"));
    let shown = shop.get("/v1/orders/order-1").json();
    assert_eq!((&shown["standing"], &shown["revived"]), (&json!("late"), &json!(false)));
    let revived = shop.post("/v1/orders/order-1/revive", &json!({"reason": "they paid after all"}));
    assert_eq!((revived.status, revived.json()), (200, json!({"order": "order-1", "state": "open"})));
    shop.until(|ledger| !ledger.entitlements.rows().is_empty());
    assert_eq!(shop.get("/v1/orders/order-1").json()["standing"], "paid");
}

#[test]
fn an_order_that_late_money_revives_says_so() {
    let shop = Shop::with("", "[policy]\nlate = \"revive\"");
    shop.place("order-1");
    assert_eq!(shop.post("/v1/orders/order-1/cancel", &json!({"reason": "no answer"})).status, 200);
    shop.deliver("shop", &paid("e", "p", "order-1", "19.90"));
    let shown = shop.get("/v1/orders/order-1").json();
    assert_eq!((&shown["state"], &shown["revived"]), (&json!("cancelled"), &json!(true)));
    assert!(shown["why"][0].as_str().unwrap().contains("revived"), "{shown:#}");
}

#[test]
fn a_lookup_that_is_owed_is_shown_with_what_settles_it() {
    let shop = Shop::open();
    shop.place("order-1");
    shop.deliver("shop", &paid("e", "p", "order-1", "19.90"));
    let body = br#"{"id":"e2","type":"payment.refunded","payment":{"id":"p"},"refund":{"id":"r"}}"#;
    shop.deliver("shop", body);
    let shown = shop.get("/v1/orders/order-1").json();
    assert_eq!(shown["payments"][0]["owes"], json!(["a refund's amount"]));
    let why = shown["why"].to_string();
    assert!(why.contains("settled by a lookup, or an event that says the amount"), "{why}");
}
