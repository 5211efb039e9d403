//! `/v1/tasks`.

use serde_json::json;

use crate::shop::{Shop, grant_of, paid};

#[test]
fn work_waits_in_plain_view_while_the_worker_is_off() {
    let shop = Shop::with("", "[workers]\ngrant = \"off\"");
    shop.place("order-1");
    shop.deliver("shop", &paid("e", "p", "order-1", "19.90"));
    let tasks = shop.get("/v1/tasks?state=pending&order=order-1").json();
    assert_eq!((&tasks["rows"][0]["unit"], &tasks["rows"][0]["kind"]), (&json!("order"), &json!("grant")));
    let reason = json!({"reason": "asked to"});
    let task = format!("/v1/tasks/{}", grant_of("order-1"));
    let retried = shop.post(&format!("{task}/retry"), &reason);
    assert_eq!((retried.status, &retried.json()["state"]), (200, &json!("pending")));
    assert_eq!(shop.get(&task).json()["task"]["kind"], "grant");
    assert_eq!(shop.post("/v1/tasks/nonsense/retry", &reason).code(), "unknown_task");
    assert_eq!(shop.get("/v1/tasks/nonsense").code(), "unknown_task");
    assert_eq!(shop.get("/v1/tasks?state=nonsense").status, 400);
    assert!(shop.ledger().entitlements.rows().is_empty());
}

#[test]
fn a_stopped_task_stays_stopped_until_it_is_retried() {
    let shop = Shop::with("", "[workers]\ngrant = \"off\"");
    shop.place("order-1");
    shop.deliver("shop", &paid("e", "p", "order-1", "19.90"));
    let reason = json!({"reason": "looking into it"});
    let task = grant_of("order-1");
    let stopped = shop.post(&format!("/v1/tasks/{task}/cancel"), &reason);
    let expected = json!({"task": task, "subject": "order order-1", "kind": "grant", "state": "stopped"});
    assert_eq!((stopped.status, stopped.json()), (200, expected));
    shop.deliver("shop", &paid("e2", "p", "order-1", "19.90"));
    assert_eq!(shop.get("/v1/tasks?state=stopped").json()["rows"][0]["order"], "order-1");
    assert_eq!(shop.get("/v1/tasks?state=pending").json()["rows"], json!([]));
    assert_eq!(shop.post(&format!("/v1/tasks/{task}/retry"), &reason).json()["state"], "pending");
    let row = ("operate".to_owned(), "order order-1 order grant".to_owned(), "looking into it".to_owned());
    assert_eq!(shop.audited("cancel_task"), std::slice::from_ref(&row));
    assert_eq!(shop.audited("retry_task"), [row]);
}

#[test]
fn what_is_done_is_not_stopped() {
    let shop = Shop::open();
    shop.granted("order-1");
    shop.until(|ledger| ledger.tasks.rows().values().all(|task| task.state.as_str() == "done"));
    let refused =
        shop.post(&format!("/v1/tasks/{}/cancel", grant_of("order-1")), &json!({"reason": "too late"}));
    assert_eq!((refused.status, refused.code().as_str()), (409, "task_not_retryable"));
}
