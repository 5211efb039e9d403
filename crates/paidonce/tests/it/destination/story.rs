//! A merchant's server that tells an order's story to a receiver: what arrives, what is kept of it, what a person sees.

use serde_json::json;

use super::receiver::{Act, Receiver};
use crate::cli::Place;
use crate::shop::{EFFECT_SECRET, Shop, paid};

fn effect(receiver: &Receiver, more: &str) -> String {
    let url = receiver.url();
    format!(
        "[[effect]]\nname = \"till\"\nkind = \"http\"\nurl = \"{url}\"\nsecret = \"file:effect-secret\"\n\
         allow_private = true\n{more}\n"
    )
}

fn shop(receiver: &Receiver, more: &str) -> Shop {
    Shop::with("", &effect(receiver, more))
}

fn handle(shop: &Shop, occasion: &str) -> String {
    let tasks = shop.get("/v1/tasks?effect=till").json();
    let rows = tasks["rows"].as_array().unwrap();
    let found = rows.iter().find(|task| task["occasion"].as_str().unwrap_or_default().starts_with(occasion));
    found.unwrap_or_else(|| panic!("no {occasion}: {tasks:#}"))["handle"].as_str().unwrap().to_owned()
}

fn is_done(shop: &Shop, handle: &str, state: &str) -> bool {
    shop.get(&format!("/v1/tasks/{handle}")).json()["task"]["state"] == state
}

/// Waits for a task to stand so.
fn until(shop: &Shop, handle: &str, state: &str) {
    shop.until(|ledger| {
        ledger.tasks.rows().iter().any(|(key, task)| key.handle() == handle && task.state.as_str() == state)
    });
    assert!(is_done(shop, handle, state));
}

#[test]
fn what_happens_to_an_order_is_told_once_each_and_can_be_looked_up() {
    let receiver = Receiver::saying(200);
    let shop = shop(&receiver, "on = [\"order_paid\", \"entitlement_granted\", \"order_refunded\"]");
    shop.granted("order-1");
    shop.deliver("shop", &paid("e-order-1", "p-order-1", "order-1", "19.90"));
    shop.deliver("shop", &paid("e-again", "p-order-1", "order-1", "19.90"));
    let calls = receiver.wait_for(2);
    for occasion in ["order_paid", "entitlement_granted"] {
        let handle = handle(&shop, occasion);
        until(&shop, &handle, "done");
        let story = shop.get(&format!("/v1/tasks/{handle}")).json();
        assert_eq!(story["tries"][0]["outcome"], "done", "{story:#}");
        assert_eq!(story["tries"][0]["detail"], "200 OK: said");
        assert_eq!(story["may_have_arrived"], false);
        let call = calls.iter().find(|call| call.json()["happening"] == occasion).unwrap();
        assert!(call.is_genuine());
        assert_eq!(
            (call.key(), &json!(call.key())),
            (story["idempotency_key"].as_str().unwrap(), &call.json()["key"])
        );
        let order = &call.json()["order"];
        assert_eq!((&order["id"], &order["total"]["amount"]), (&json!("order-1"), &json!("19.90")));
    }
    assert_eq!(receiver.calls().len(), 2, "nothing is told twice, and nothing that did not happen");
    let metrics = shop.get("/metrics").body;
    for line in [
        "paidonce_effect_attempts_total{effect=\"till\",outcome=\"done\"} 2",
        "paidonce_effect_circuit{effect=\"till\",state=\"closed\"} 1",
        "paidonce_lease_losses_total{effect=\"till\"} 0",
        "paidonce_rows{kind=\"held_tasks\"} 0",
    ] {
        assert!(metrics.lines().any(|said| said == line), "{line}\nis not in\n{metrics}");
    }
}

#[test]
fn a_receiver_that_refuses_makes_a_case_and_a_persons_retry_ends_it() {
    let receiver = Receiver::new(|before, _| Act::Say(if before == 0 { 422 } else { 200 }));
    let shop = shop(&receiver, "on = [\"order_paid\"]");
    shop.granted("order-1");
    receiver.wait_for(1);
    let handle = handle(&shop, "order_paid");
    until(&shop, &handle, "held");
    shop.case("task_failed");
    let retried = shop.post(&format!("/v1/tasks/{handle}/retry"), &json!({"reason": "they mended it"}));
    assert_eq!(retried.status, 200, "{retried:?}");
    let calls = receiver.wait_for(2);
    until(&shop, &handle, "done");
    assert_eq!((calls[0].key(), &calls[0].body), (calls[1].key(), &calls[1].body));
    assert_eq!(shop.get("/v1/cases?open=true").json()["rows"], json!([]));
}

#[test]
fn a_copy_follows_what_becomes_of_the_entitlement() {
    let receiver = Receiver::saying(200);
    let shop = shop(&receiver, "sync = true");
    shop.granted("order-1");
    let first = receiver.wait_for(1).remove(0);
    assert_eq!(first.json()["entitlement"]["active"], true);
    let revoked = shop.post("/v1/entitlements/order-1/order/revoke", &json!({"reason": "stolen card"}));
    assert_eq!(revoked.status, 200);
    let second = receiver.wait_for(2).remove(1);
    assert_eq!(second.json()["entitlement"]["active"], false);
    assert!(second.revision() > first.revision());
    assert_ne!(second.key(), first.key());
}

#[test]
fn a_destination_that_is_gone_waits_in_plain_view() {
    let receiver = Receiver::saying(410);
    let shop = shop(&receiver, "on = [\"order_paid\"]");
    shop.granted("order-1");
    until(&shop, &handle(&shop, "order_paid"), "held");
    shop.granted("order-2");
    let metrics = shop.get("/metrics").body;
    assert!(metrics.contains("paidonce_effect_circuit{effect=\"till\",state=\"gone\"} 1"), "{metrics}");
    assert_eq!(receiver.calls().len(), 1);
    assert_eq!(shop.get("/v1/tasks?effect=till&state=pending").json()["rows"].as_array().unwrap().len(), 1);
}

#[test]
fn paidonce_receive_verifies_and_prints_what_arrives() {
    let place = Place::new("on");
    place.write("effect-secret", EFFECT_SECRET);
    let (mut receiving, address) = place.receive(&["--secret", "file:effect-secret", "--status", "503"]);
    let effect = format!(
        "\n[[effect]]\nname = \"till\"\nkind = \"http\"\nurl = \"http://{address}/\"\nsecret = \"file:effect-secret\"\n\
         allow_private = true\non = [\"order_paid\"]\n"
    );
    place.write("paidonce.toml", &(std::fs::read_to_string(place.path("paidonce.toml")).unwrap() + &effect));
    place.place_order();
    let serving = place.serve();
    place.pay(&serving, &[]);
    let first = receiving.message();
    assert_eq!(
        (&first["verified"], &first["answered"], &first["seen_before"]),
        (&json!("genuine"), &json!(503), &json!(0))
    );
    assert!(first["body"].as_str().unwrap().contains("\"order_paid\""), "{first}");
    let again = receiving.message();
    assert_eq!((&again["key"], &again["seen_before"]), (&first["key"], &json!(1)));
    assert_eq!(again["bytes_differ"], false);
    let forged = crate::wire::request(address, "POST", "/", &[("webhook-id", "x")], b"{}");
    assert_eq!(forged.status, 401);
    assert_ne!(receiving.message()["verified"], "genuine");
}
