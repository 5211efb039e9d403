//! `/v1/me/orders/{id}` and `/status/{token}`: what the token of an order opens, and where it must never be found.

use paidonce::config::{Config, SecretRef};
use paidonce::serve::Server;
use serde_json::json;

use crate::shop::{Shop, order, paid};
use crate::wire::{self, Answer};

/// Places an order and answers its token.
fn token_of(shop: &Shop, id: &str) -> String {
    shop.place(id).json()["token"].as_str().unwrap().to_owned()
}

fn ask(shop: &Shop, method: &str, path: &str, token: &str) -> Answer {
    let bearer = format!("Bearer {token}");
    wire::request(shop.public(), method, path, &[("authorization", &bearer)], b"")
}

fn status(shop: &Shop, token: &str) -> String {
    let page = wire::request(shop.public(), "GET", &format!("/status/{token}"), &[], b"");
    assert_eq!(page.status, 200, "{page:?}");
    page.body
}

#[test]
fn a_token_opens_its_own_order_and_nothing_else() {
    let shop = Shop::with("private = \"127.0.0.1:0\"", "");
    let (mine, other) = (token_of(&shop, "order-1"), token_of(&shop, "order-2"));
    assert_ne!(mine, other);
    let shown = ask(&shop, "GET", "/v1/me/orders/order-1", &mine);
    let expected = json!({"id": "order-1", "status": "confirming", "state": "open", "entitlements": []});
    assert_eq!((shown.status, shown.json()), (200, expected));
    assert_eq!(ask(&shop, "GET", "/v1/me/orders/order-2", &mine).code(), "unknown_order");
    assert_eq!(ask(&shop, "POST", "/v1/me/orders/order-2/cancel", &mine).code(), "unknown_order");
    let key = shop.key("admin").replace("Bearer ", "");
    let (name, tag) = mine.split_once('.').unwrap();
    let swapped = format!("{}.{tag}", other.split_once('.').unwrap().0);
    let cut = format!("{name}.{}", &tag[..tag.len() - 1]);
    for wrong in ["", "ot_", &key, &swapped, &cut, &format!("{mine}A")] {
        let refused = ask(&shop, "GET", "/v1/me/orders/order-1", wrong);
        assert_eq!((refused.status, refused.code().as_str()), (401, "unauthorized"), "{wrong}");
    }
    // It is no API key.
    let bearer = format!("Bearer {mine}");
    for path in ["/v1/orders", "/v1/orders/order-1", "/v1/entitlements"] {
        let refused = wire::request(shop.server().api(), "GET", path, &[("authorization", &bearer)], b"");
        assert_eq!(refused.status, 401, "{path}");
    }
}

#[test]
fn a_buyer_cancels_while_no_money_has_come_and_none_is_on_its_way() {
    let shop = Shop::open();
    let token = token_of(&shop, "order-1");
    let cancel = || ask(&shop, "POST", "/v1/me/orders/order-1/cancel", &token);
    let cancelled = cancel();
    assert_eq!(
        (cancelled.status, cancelled.json()),
        (200, json!({"order": "order-1", "state": "cancelled"}))
    );
    assert_eq!(cancel().body, cancelled.body);
    assert_eq!(shop.audited("cancel_order")[0], ("buyer".into(), "order order-1".into(), String::new()));
    for (id, kind) in [("order-2", "payment.pending"), ("order-3", "payment.succeeded")] {
        let token = token_of(&shop, id);
        let event = json!({
            "id": id, "type": kind,
            "payment": {"id": id, "order": id, "amount": "19.90", "currency": "EUR"}
        });
        assert_eq!(shop.deliver("shop", event.to_string().as_bytes()).status, 200);
        let refused = ask(&shop, "POST", &format!("/v1/me/orders/{id}/cancel"), &token);
        assert!(matches!(refused.code().as_str(), "not_unpaid" | "already_granted"), "{kind}: {refused:?}");
        assert_eq!(shop.get(&format!("/v1/orders/{id}")).json()["state"], "open");
    }
}

#[test]
fn the_page_says_how_far_it_is_and_never_that_it_failed() {
    let shop = Shop::with("", "[workers]\ngrant = \"off\"");
    let token = token_of(&shop, "order-1");
    let page = wire::request(shop.public(), "GET", &format!("/status/{token}"), &[], b"");
    assert!(
        page.body.contains("<h1>Confirming your payment</h1>") && page.body.contains("refresh"),
        "{page:?}"
    );
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(
        !page.body.contains("<script") && !page.body.contains("order-1") && !page.body.contains("canary")
    );
    assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
    assert_eq!(page.header("cache-control"), Some("no-store"));
    let failed = json!({"id": "f", "type": "payment.failed", "payment": {"id": "p0", "order": "order-1"}});
    shop.deliver("shop", failed.to_string().as_bytes());
    let waiting = status(&shop, &token);
    assert!(waiting.contains("Confirming") && !waiting.to_lowercase().contains("fail"), "{waiting}");
    shop.deliver("shop", &paid("e1", "p1", "order-1", "9.90"));
    assert!(status(&shop, &token).contains("looking at it"));
    shop.deliver("shop", &paid("e2", "p2", "order-1", "10.00"));
    assert!(status(&shop, &token).contains("<h1>Paid</h1>"));
    let none = wire::request(shop.public(), "GET", "/status/ot_bw.AAAA", &[], b"");
    assert_eq!((none.status, none.header("content-type")), (404, Some("text/html; charset=utf-8")));

    let shop = Shop::open();
    let token = token_of(&shop, "order-1");
    shop.deliver("shop", &paid("e1", "p1", "order-1", "19.90"));
    shop.until(|ledger| !ledger.entitlements.rows().is_empty());
    assert!(status(&shop, &token).contains("<h1>Delivered</h1>"));
    let mine = ask(&shop, "GET", "/v1/me/orders/order-1", &token).json();
    assert_eq!((&mine["status"], &mine["entitlements"][0]["active"]), (&json!("delivered"), &json!(true)));
    assert_eq!(mine["entitlements"][0]["lines"], json!([{"sku": "ebook", "quantity": 1}]));
}

#[test]
fn p14_the_token_is_in_no_file_and_no_figure() {
    let shop = Shop::open();
    let token = token_of(&shop, "order-1");
    status(&shop, &token);
    ask(&shop, "GET", "/v1/me/orders/order-1", &token);
    let tag = token.split_once('.').unwrap().1.to_owned();
    let figures = wire::request(shop.server().api(), "GET", "/metrics", &[], b"").body;
    assert!(figures.contains("/status/{token}") && !figures.contains(&tag), "{figures}");
    assert!(!format!("{:?}", shop.ledger()).contains(&tag));
    for path in ["/v1/orders/order-1", "/v1/orders", "/v1/orders/order-1/explain", "/v1/audit"] {
        assert!(!shop.get(path).body.contains(&tag), "{path}");
    }
    let folder = shop.stop();
    let mut scanned = 0;
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(tag.len()).any(|window| window == tag.as_bytes()));
        scanned += bytes.len();
    }
    assert!(scanned > 10_000, "the store was scanned: {scanned} bytes");
}

fn with_secrets(shop: &Shop, files: &[&str]) -> Config {
    let mut config = shop.config.clone();
    let place = |file: &&str| SecretRef::File(config.file.parent().unwrap().join(file));
    config.server.token_secrets = files.iter().map(place).collect();
    config
}

#[test]
fn rotation_keeps_old_tokens_until_their_secret_is_retired() {
    let shop = Shop::open();
    let folder = shop.config.file.parent().unwrap().to_owned();
    std::fs::write(folder.join("newer"), "b".repeat(64)).unwrap();
    let key = shop.key("operate");
    let body = order("order-1").to_string();
    let place = |server: &Server, key_of_request: &str| {
        let headers = [
            ("authorization", key.as_str()),
            ("content-type", "application/json"),
            ("idempotency-key", key_of_request),
        ];
        wire::request(server.public, "POST", "/v1/orders", &headers, body.as_bytes())
    };
    let page = |server: &Server, token: &str| {
        wire::request(server.public, "GET", &format!("/status/{token}"), &[], b"").status
    };
    let first = place(shop.server(), "checkout-1");
    let token = first.json()["token"].as_str().unwrap().to_owned();
    let rotated = shop.wait(Server::start(&with_secrets(&shop, &["newer", "token"]))).unwrap();
    assert_eq!(place(&rotated, "checkout-1").body, first.body);
    assert_eq!(page(&rotated, &token), 200);
    let retired = shop.wait(Server::start(&with_secrets(&shop, &["newer"]))).unwrap();
    assert_eq!(page(&retired, &token), 404);
    assert_eq!(page(shop.server(), &token), 200);
    // The same order under another key is the same order; its token stays with the request that placed it.
    let other = place(shop.server(), "checkout-2").json();
    assert_eq!((&other["id"], &other["token"]), (&json!("order-1"), &json!(null)));
    shop.wait(rotated.stop());
    shop.wait(retired.stop());
    std::fs::write(folder.join("newer"), "short").unwrap();
    let said = with_secrets(&shop, &["newer"]).tokens().err().unwrap().to_string();
    assert!(said.contains("fewer than 32 bytes") && !said.contains("short"), "{said}");
}
