//! What tools ask, and what each listener shows.

use crate::shop::{SECRET, Shop, paid};
use crate::wire;

#[test]
fn figures_are_shown_and_hold_nothing_private() {
    let shop = Shop::open();
    shop.place("order-1");
    shop.deliver("shop", &paid("e", "p", "order-1", "19.90"));
    wire::request(shop.public(), "POST", "/in/shop", &[], b"{}");
    wire::request(shop.public(), "POST", "/in/anything-at-all", &[], b"{}");
    let text = shop.get("/metrics").body;
    for line in [
        "paidonce_events_total{source=\"shop\",outcome=\"accepted\"} 1",
        "paidonce_refused_total{source=\"shop\",reason=\"missing_signature\"} 1",
        "paidonce_refused_total{source=\"unknown\",reason=\"unknown_source\"} 1",
        "paidonce_rows{kind=\"orders\"} 1",
        "paidonce_store_up 1",
        "paidonce_http_seconds_count{route=\"/in/{source}\",status=\"200\"} 1",
        "paidonce_http_seconds_count{route=\"/in/{source}\",status=\"401\"} 2",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    for canary in ["canary", "anything-at-all", "order-1", SECRET] {
        assert!(!text.contains(canary), "{canary}");
    }
}

#[test]
fn the_description_names_every_route_and_shape() {
    let shop = Shop::open();
    let answer = wire::request(shop.server().api(), "GET", "/openapi.json", &[], b"");
    assert_eq!(answer.body, paidonce::http::openapi());
    let description = answer.json();
    let paths: Vec<_> = description["paths"].as_object().unwrap().keys().cloned().collect();
    for path in [
        "/in/{source}",
        "/v1/orders",
        "/v1/orders/{id}",
        "/v1/orders/{id}/references",
        "/v1/orders/{id}/cancel",
        "/v1/orders/{id}/explain",
        "/v1/orders/{id}/revive",
        "/v1/orders/{id}/outside",
        "/v1/products",
        "/v1/stock",
        "/v1/me/orders/{id}",
        "/v1/me/orders/{id}/cancel",
        "/status/{token}",
        "/v1/events",
        "/v1/events/reprocess",
        "/v1/entitlements",
        "/v1/entitlements/check",
        "/v1/entitlements/{order}/{unit}/revoke",
        "/v1/entitlements/{order}/{unit}/reinstate",
        "/v1/cases",
        "/v1/cases/{handle}",
        "/v1/cases/{handle}/resolve",
        "/v1/tasks",
        "/v1/tasks/{handle}",
        "/v1/tasks/{handle}/retry",
        "/v1/tasks/{handle}/cancel",
        "/healthz",
        "/readyz",
        "/metrics",
    ] {
        assert!(paths.iter().any(|known| known == path), "{path}");
    }
    let schemas = description["components"]["schemas"].as_object().unwrap();
    for schema in
        ["OrderRequest", "OrderShown", "Problem", "Amount", "ResolveRequest", "OutsideRequest", "Reprocessed"]
    {
        assert!(schemas.contains_key(schema), "{schema}");
    }
    assert_eq!(description["components"]["securitySchemes"]["api_key"]["scheme"], "bearer");
}

#[test]
fn the_public_listener_shows_only_what_providers_need() {
    let shop = Shop::with("private = \"127.0.0.1:0\"", "");
    assert_ne!(shop.public(), shop.server().api());
    let key = shop.key("admin");
    for (path, public, private) in [
        ("/healthz", 200, 200),
        ("/readyz", 404, 200),
        ("/metrics", 404, 200),
        ("/openapi.json", 404, 200),
        ("/v1/orders", 404, 200),
        ("/v1/me/orders/o", 401, 401),
        ("/status/x", 404, 404),
        ("/in/shop", 405, 405),
    ] {
        let headers = [("authorization", key.as_str())];
        assert_eq!(wire::request(shop.public(), "GET", path, &headers, b"").status, public, "{path}");
        assert_eq!(wire::request(shop.server().api(), "GET", path, &headers, b"").status, private, "{path}");
    }
    assert_eq!(shop.deliver("shop", &paid("e", "p", "o", "1.00")).status, 200);
}

#[test]
fn no_answer_names_the_server() {
    let shop = Shop::open();
    for path in ["/healthz", "/v1/orders", "/nothing"] {
        let answer = shop.get(path);
        assert_eq!((answer.header("server"), answer.header("x-powered-by")), (None, None));
    }
}
