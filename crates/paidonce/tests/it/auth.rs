//! API keys and scopes.

use serde_json::json;

use crate::shop::{Shop, order};
use crate::wire;

#[test]
fn without_a_valid_key_nothing_under_v1_answers() {
    let shop = Shop::open();
    let good = shop.key("admin");
    let other = good.replace("pk_", "pk_x");
    for (what, headers) in [
        ("none", vec![]),
        ("unknown", vec![("authorization", other.as_str())]),
        ("no scheme", vec![("authorization", good.trim_start_matches("Bearer "))]),
        ("basic", vec![("authorization", "Basic cGs6cGs=")]),
        ("two", vec![("authorization", good.as_str()), ("authorization", good.as_str())]),
        ("empty", vec![("authorization", "")]),
    ] {
        for (method, path) in [("GET", "/v1/orders"), ("POST", "/v1/orders"), ("GET", "/v1/orders/x")] {
            let answer = wire::request(shop.server().api(), method, path, &headers, b"{}");
            assert_eq!((answer.status, answer.code().as_str()), (401, "unauthorized"), "{what} {path}");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        }
    }
}

#[test]
fn each_scope_may_do_what_the_ones_before_it_may() {
    let shop = Shop::open();
    let routes = [
        ("GET", "/v1/orders", ""),
        ("GET", "/v1/orders/o", ""),
        ("GET", "/v1/orders/o/explain", ""),
        ("GET", "/v1/events", ""),
        ("GET", "/v1/entitlements", ""),
        ("GET", "/v1/entitlements/check?customer=c&sku=s", ""),
        ("GET", "/v1/cases", ""),
        ("GET", "/v1/cases/x", ""),
        ("GET", "/v1/tasks", ""),
        ("GET", "/v1/products", ""),
        ("GET", "/v1/stock", ""),
        ("POST", "/v1/products", "o"),
        ("POST", "/v1/orders", "o"),
        ("POST", "/v1/orders/o/references", "o"),
        ("POST", "/v1/orders/o/cancel", "o"),
        ("POST", "/v1/orders/o/revive", "o"),
        ("POST", "/v1/orders/o/outside", "o"),
        ("GET", "/v1/tasks/x", ""),
        ("POST", "/v1/tasks/x/retry", "o"),
        ("POST", "/v1/tasks/x/cancel", "o"),
        ("POST", "/v1/entitlements/o/order/revoke", "o"),
        ("POST", "/v1/entitlements/o/order/reinstate", "o"),
        ("POST", "/v1/cases/x/resolve", "o"),
        ("POST", "/v1/events/reprocess", "o"),
    ];
    for scope in ["view", "operate", "admin"] {
        for (method, path, needs) in routes {
            let key = shop.key(scope);
            let headers = [("authorization", key.as_str()), ("content-type", "application/json")];
            let answer = wire::request(shop.server().api(), method, path, &headers, b"{}");
            let forbidden = scope == "view" && needs == "o";
            assert_eq!(answer.status == 403, forbidden, "{scope} {method} {path}: {answer:?}");
            assert_ne!(answer.status, 401);
        }
    }
}

#[test]
fn every_write_without_a_key_is_refused_and_no_get_writes() {
    let shop = Shop::open();
    shop.place("order-1");
    let before = shop.ledger();
    let description: serde_json::Value = serde_json::from_str(&paidonce::http::openapi()).unwrap();
    for (path, methods) in description["paths"].as_object().unwrap() {
        let path = path.replace("{id}", "order-1").replace("{order}", "order-1").replace("{unit}", "order");
        for method in methods.as_object().unwrap().keys().filter(|method| *method != "parameters") {
            let method = method.to_uppercase();
            if method == "GET" {
                shop.get(&path);
            } else {
                let headers = [("content-type", "application/json")];
                let answer = wire::request(shop.server().api(), &method, &path, &headers, b"{}");
                assert_eq!(answer.status, 401, "{method} {path}");
            }
        }
    }
    assert!(shop.ledger() == before);
}

#[test]
fn a_revoked_key_stops_working() {
    let shop = Shop::open();
    // Not used before, so that it is not remembered.
    shop.revoke("view");
    assert_eq!(shop.get("/v1/orders").status, 401);
}

#[test]
fn p16_what_a_key_does_stands_in_the_audit_under_its_name() {
    let shop = Shop::open();
    assert_eq!(shop.post("/v1/orders", &order("order-1")).status, 201);
    assert_eq!(shop.post("/v1/orders/order-1/cancel", &json!({"reason": "out of stock"})).status, 200);
    let ledger = shop.ledger();
    let audits: Vec<_> = ledger.audits.rows().values().filter(|audit| &*audit.by == "operate").collect();
    assert_eq!(audits.len(), 2);
    assert!(audits.iter().any(|audit| audit.reason.as_deref() == Some("out of stock")));
}
