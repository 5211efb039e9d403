//! `/v1/tasks`.

use serde_json::json;

use crate::shop::{Shop, paid};

#[test]
fn work_waits_in_plain_view_while_the_worker_is_off() {
    let shop = Shop::with("", "[workers]\ngrant = \"off\"");
    shop.place("order-1");
    shop.deliver("shop", &paid("e", "p", "order-1", "19.90"));
    let tasks = shop.get("/v1/tasks?state=pending&order=order-1").json();
    assert_eq!((&tasks["rows"][0]["unit"], &tasks["rows"][0]["kind"]), (&json!("order"), &json!("grant")));
    let reason = json!({"reason": "asked to"});
    let retried = shop.post("/v1/tasks/order-1/order/grant/retry", &reason);
    assert_eq!((retried.status, &retried.json()["state"]), (200, &json!("pending")));
    assert_eq!(shop.post("/v1/tasks/order-1/line:9/grant/retry", &reason).code(), "unknown_task");
    assert_eq!(shop.post("/v1/tasks/order-1/nonsense/grant/retry", &reason).code(), "unknown_task");
    assert_eq!(shop.get("/v1/tasks?state=nonsense").status, 400);
    assert!(shop.ledger().entitlements.rows().is_empty());
}
