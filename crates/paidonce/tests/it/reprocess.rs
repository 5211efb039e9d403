//! `/v1/events/reprocess`. How it looks after a contract was mended in its file is in `cli/reprocess.rs`.

use std::sync::Arc;

use paidonce_ledger::{Body, Command, EventId, Notice, Reading, Receive, Reply};
use serde_json::{Value, json};

use crate::shop::{Shop, paid};

/// Stores an event as an older contract left it.
fn left(shop: &Shop, id: &str, body: Vec<u8>, reading: Reading) {
    let source = shop.sources.get("shop").unwrap();
    let body = Body::new(body);
    let (id, content) = (EventId::new(id).unwrap(), body.digest());
    let notice = Notice { id, kind: Arc::from("old"), account: None, mode: None, reading, content, body };
    let (name, account) = (source.name.clone(), source.account.clone());
    let command = Receive { source: name, account, notices: vec![notice], trace: None };
    assert!(matches!(shop.command(Command::Receive(command)), Reply::Received(_)));
}

fn unreadable(shop: &Shop, id: &str, body: Vec<u8>) {
    left(shop, id, body, Reading::Unreadable("payment.id: absent".to_owned()));
}

fn again(shop: &Shop, request: Value) -> Value {
    let answer = shop.post("/v1/events/reprocess", &request);
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

#[test]
fn a_dry_run_tells_what_applying_then_does() {
    let shop = Shop::open();
    shop.place("order-1");
    unreadable(&shop, "e1", paid("e1", "p1", "order-1", "19.90"));
    let (before, case) = (shop.ledger(), shop.case("unreadable"));
    let dry = again(&shop, json!({}));
    assert!(shop.ledger() == before, "a dry run changes nothing");
    assert_eq!((&dry["applied"], &dry["looked_at"]), (&json!(false), &json!(1)));
    let row = &dry["rows"][0];
    assert_eq!((&row["id"], &row["kind"]), (&json!("e1"), &json!("payment.succeeded")), "{dry:#}");
    assert_eq!((&row["before"], &row["becomes"]), (&json!("unreadable"), &json!("accepted")));
    assert_eq!((&row["order"], &row["changes"]), (&json!("order-1"), &json!(true)));
    assert_eq!(row["standing"], json!({"before": "unpaid", "after": "paid"}));
    assert_eq!((&row["tasks"][0]["kind"], &row["tasks"][0]["state"]), (&json!("grant"), &json!("pending")));
    assert_eq!((&row["cases"][0]["handle"], &row["cases"][0]["open"]), (&json!(case), &json!(false)));
    let applied = again(&shop, json!({"apply": true, "reason": "the contract is mended"}));
    assert_eq!(applied["applied"], true);
    assert_eq!(
        (&applied["rows"][0]["becomes"], &applied["rows"][0]["standing"]),
        (&row["becomes"], &row["standing"])
    );
    shop.until(|ledger| !ledger.entitlements.rows().is_empty());
    assert_eq!(shop.get("/v1/orders/order-1").json()["standing"], "paid");
    assert_eq!(shop.get("/v1/events?id=e1").json()["rows"][0]["outcome"], "applied");
    let account = &shop.sources.get("shop").unwrap().account;
    let audited = ("operate".to_owned(), format!("event {account} e1"), "the contract is mended".to_owned());
    assert_eq!(shop.audited("reprocess"), [audited]);
    let after = shop.ledger();
    assert_eq!(again(&shop, json!({"apply": true, "reason": "again"}))["rows"], json!([]));
    assert!(shop.ledger() == after, "a second time changes nothing");
}

#[test]
fn what_stays_unreadable_is_told_and_leaves_no_trace() {
    let shop = Shop::open();
    shop.deliver("shop", b"no json");
    shop.deliver("shop", br#"{"id":"e","type":"payment.succeeded"}"#);
    let before = shop.ledger();
    let applied = again(&shop, json!({"apply": true, "reason": "try"}));
    for row in applied["rows"].as_array().unwrap() {
        assert_eq!((&row["becomes"], &row["changes"]), (&json!("unreadable"), &json!(false)), "{row:#}");
        assert!(row["detail"].is_string(), "{row:#}");
    }
    assert_eq!(applied["rows"].as_array().unwrap().len(), 2);
    assert!(shop.ledger() == before, "no audit row either");
}

#[test]
fn ignored_events_are_read_again_if_asked_for_and_told_if_they_change() {
    let shop = Shop::open();
    shop.deliver("shop", br#"{"id":"weather","type":"weather.changed"}"#);
    left(&shop, "e1", paid("e1", "p1", "nobody", "19.90"), Reading::Ignored);
    assert_eq!(again(&shop, json!({}))["looked_at"], 0);
    let mut looked_at = 0;
    let (mut after, mut rows) = (Value::Null, Vec::new());
    loop {
        let mut request = json!({"ignored": true, "limit": 1});
        if !after.is_null() {
            request["after"] = after;
        }
        let page = again(&shop, request);
        looked_at += page["looked_at"].as_u64().unwrap();
        rows.extend(page["rows"].as_array().unwrap().clone());
        after = page["next"].clone();
        if after.is_null() {
            break;
        }
    }
    assert_eq!((looked_at, rows.len()), (2, 1), "{rows:#?}");
    assert_eq!((&rows[0]["id"], &rows[0]["becomes"]), (&json!("e1"), &json!("unbound")));
    // Whoever names one means it.
    let one = again(&shop, json!({"event": "e1", "apply": true, "reason": "learnt"}));
    assert_eq!(one["rows"][0]["becomes"], "unbound");
    assert_eq!(shop.get("/v1/events?id=e1").json()["rows"][0]["outcome"], "applied");
    assert_eq!(shop.get("/v1/events?id=weather").json()["rows"][0]["outcome"], "ignored");
}

/// P6: as if it came now. A live event on a test source moves nothing, however it was stored.
#[test]
fn p6_what_is_not_for_this_source_is_not_applied() {
    let shop = Shop::open();
    let stripe = shop.sources.get("stripe").unwrap();
    let body = br#"{"id":"e1","type":"payment_intent.succeeded","livemode":true,"data":{"object":
        {"id":"pi_1","amount_received":1990,"currency":"eur"}}}"#;
    let body = Body::new(&body[..]);
    let (id, content) = (EventId::new("e1").unwrap(), body.digest());
    let reading = Reading::Unreadable("livemode: absent".to_owned());
    let notice = Notice { id, kind: Arc::from("old"), account: None, mode: None, reading, content, body };
    let (source, account) = (stripe.name.clone(), stripe.account.clone());
    shop.command(Command::Receive(Receive { source, account, notices: vec![notice], trace: None }));
    let before = shop.ledger();
    let applied = again(&shop, json!({"apply": true, "reason": "try"}));
    let row = &applied["rows"][0];
    assert_eq!((&row["becomes"], &row["changes"]), (&json!("unreadable"), &json!(false)));
    assert_eq!(row["detail"], "it is a live event; source stripe is for test");
    assert!(shop.ledger() == before);
}

#[test]
fn what_is_wrong_with_a_request_is_told_by_member() {
    let shop = Shop::open();
    for (request, member) in [
        (json!({"apply": true}), "reason"),
        (json!({"apply": true, "reason": " "}), "reason"),
        (json!({"reason": ""}), "reason"),
        (json!({"source": "nobody"}), "source"),
        (json!({"event": ""}), "event"),
        (json!({"limit": 0}), "limit"),
        (json!({"limit": 501}), "limit"),
        (json!({"after": "nonsense"}), "after"),
    ] {
        let refused = shop.post("/v1/events/reprocess", &request);
        assert_eq!((refused.status, refused.code().as_str()), (400, "invalid_request"), "{request}");
        assert_eq!(refused.json()["mistakes"][0]["member"], member, "{request}");
    }
}
