//! What holds for everything that a person does: a reason, a scope, an audit row, and a retry that is answered alike.

use paidonce_ledger::{Command, OrderId, TaskKey, Unit};
use serde_json::{Value, json};

use crate::shop::{Shop, grant_of, paid};
use crate::wire;

/// A command: its path, its body, and its row in the audit.
struct Asked {
    path: String,
    body: Value,
    action: &'static str,
    subject: String,
}

fn asked(path: &str, more: Value, action: &'static str, subject: &str) -> Asked {
    let mut body = more;
    body["reason"] = json!("as asked");
    Asked { path: format!("/v1/{path}"), body, action, subject: subject.to_owned() }
}

/// A shop in which every command has something to do. Nothing is granted but here, so that nothing moves by itself.
fn shop() -> Shop {
    let shop = Shop::with("", "[workers]\ngrant = \"off\"");
    for order in ["granted", "revoked", "due"] {
        shop.place(order);
        shop.deliver("shop", &paid(&format!("e-{order}"), &format!("p-{order}"), order, "19.90"));
    }
    for order in ["granted", "revoked"] {
        let task = TaskKey::grant(OrderId::new(order).unwrap(), Unit::Order);
        shop.command(Command::Grant(task));
    }
    for order in ["cancelled", "open", "short"] {
        shop.place(order);
    }
    shop.deliver("shop", &paid("e-short", "p-short", "short", "10.00"));
    for path in ["entitlements/revoked/order/revoke", "orders/cancelled/cancel"] {
        assert_eq!(shop.post(&format!("/v1/{path}"), &json!({"reason": "before"})).status, 200);
    }
    shop
}

fn commands(shop: &Shop) -> Vec<Asked> {
    let case = shop.case("amount_short");
    let (resolve, about) = (format!("cases/{case}/resolve"), format!("case {case} amount_short order short"));
    let decision = |word: &str| json!({"decision": word});
    let moved =
        |what: &str, id: &str| json!({"what": what, "id": id, "money": {"amount": "5.00", "unit": "EUR"}});
    let mut refund = moved("refunded", "cash-1");
    refund["payment"] = json!({"source": "shop", "id": "p-short"});
    let task = |verb: &str| format!("tasks/{}/{verb}", grant_of("due"));
    let (none, receipt) = (|| json!({}), "order open receipt-1 5.00 EUR");
    vec![
        asked(&resolve, decision("note"), "resolve_case", &about),
        asked(&resolve, decision("accept"), "resolve_case", &about),
        asked(&task("cancel"), none(), "cancel_task", "order due order grant"),
        asked(&task("retry"), none(), "retry_task", "order due order grant"),
        asked("entitlements/granted/order/revoke", none(), "revoke_entitlement", "order granted order"),
        asked("entitlements/revoked/order/reinstate", none(), "reinstate_entitlement", "order revoked order"),
        asked("orders/cancelled/revive", none(), "revive_order", "order cancelled"),
        asked("orders/open/outside", moved("paid", "receipt-1"), "mark_paid_outside", receipt),
        asked("orders/open/outside", moved("paid_reversed", "receipt-1"), "reverse_paid_outside", receipt),
        asked("orders/short/outside", refund, "mark_refunded_outside", "order short cash-1 5.00 EUR"),
        asked("orders/open/cancel", none(), "cancel_order", "order open"),
    ]
}

#[test]
fn p16_without_a_reason_or_the_scope_nothing_is_done() {
    let shop = shop();
    let commands = commands(&shop);
    let before = shop.ledger();
    for Asked { path, body, .. } in &commands {
        for reason in [Value::Null, json!(""), json!(" \t"), json!("two\nlines"), json!("x".repeat(1_001))] {
            let mut wrong = body.clone();
            match reason {
                Value::Null => drop(wrong.as_object_mut().unwrap().remove("reason")),
                reason => wrong["reason"] = reason,
            }
            let refused = shop.post(path, &wrong);
            assert_eq!((refused.status, refused.code().as_str()), (400, "invalid_request"), "{path} {wrong}");
            assert!(refused.detail().contains("reason"), "{refused:?}");
        }
        let key = shop.key("view");
        let headers = [("authorization", key.as_str()), ("content-type", "application/json")];
        let refused = wire::request(shop.server().api(), "POST", path, &headers, body.to_string().as_bytes());
        assert_eq!((refused.status, refused.code().as_str()), (403, "forbidden"), "{path}");
    }
    assert!(shop.ledger() == before);
}

#[test]
fn p16_each_command_is_done_once_and_stands_in_the_audit_with_name_and_reason() {
    let shop = shop();
    let commands = commands(&shop);
    for (number, Asked { path, body, action, subject }) in commands.iter().enumerate() {
        let earlier = shop.audited(action).len();
        let key = format!("key-{number}");
        let post = || shop.post_with(path, &[("idempotency-key", &key)], body.to_string().as_bytes());
        let first = post();
        assert_eq!(first.status, 200, "{path} {body}: {first:?}");
        let (after, again) = (shop.ledger(), post());
        assert_eq!((again.status, &again.body), (first.status, &first.body), "{path}");
        assert!(shop.ledger() == after, "{path}");
        let audited = shop.audited(action);
        assert_eq!(audited.len(), earlier + 1, "{path}");
        let row = ("operate".to_owned(), subject.clone(), "as asked".to_owned());
        assert!(audited.contains(&row), "{audited:?} has no {row:?}");
    }
}

#[test]
fn what_is_not_there_is_not_found() {
    let shop = Shop::open();
    shop.place("order-1");
    let before = shop.ledger();
    let money = json!({"amount": "5.00", "unit": "EUR"});
    let paid = json!({"what": "paid", "id": "r", "money": money, "reason": "x"});
    let reversed = json!({"what": "paid_reversed", "id": "r", "money": money, "reason": "x"});
    let refunded = json!({"what": "refunded", "id": "r", "money": money, "reason": "x",
        "payment": {"source": "shop", "id": "nobody"}});
    let why = json!({"reason": "x"});
    for (path, body, code) in [
        ("cases/000000000000/resolve", &json!({"decision": "accept", "reason": "x"}), "unknown_case"),
        ("entitlements/order-1/order/revoke", &why, "not_granted"),
        ("entitlements/other/order/reinstate", &why, "not_granted"),
        ("entitlements/order-1/nonsense/revoke", &why, "not_granted"),
        ("orders/other/revive", &why, "unknown_order"),
        ("orders/other/outside", &paid, "unknown_order"),
        ("orders/order-1/outside", &reversed, "unknown_payment"),
        ("orders/order-1/outside", &refunded, "unknown_payment"),
        (&format!("tasks/{}/cancel", grant_of("order-1")), &why, "unknown_task"),
        ("tasks/nonsense/cancel", &why, "unknown_task"),
        ("events/reprocess", &json!({"event": "nobody"}), "unknown_event"),
    ] {
        let answer = shop.post(&format!("/v1/{path}"), body);
        assert_eq!((answer.status, answer.code().as_str()), (404, code), "{path} {body}");
    }
    // A refusal leaves its command's record, so that a retry is refused alike, and nothing else.
    let mut after = shop.ledger();
    after.commands = before.commands.clone();
    assert!(after == before);
}
