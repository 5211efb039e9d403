//! `POST /in/{source}`: what each delivery is answered, and what it leaves behind.

use serde_json::json;

use crate::shop::{Shop, paid};
use crate::wire;

#[test]
fn a_payment_is_committed_answered_and_granted_once() {
    let shop = Shop::open();
    shop.place("order-1");
    let body = paid("evt-1", "pay-1", "order-1", "19.90");
    let first = shop.deliver("shop", &body);
    assert_eq!(first.status, 200, "{first:?}");
    assert_eq!(first.json(), json!({"events": [{"id": "evt-1", "outcome": "accepted", "order": "order-1"}]}));
    let again = shop.deliver("shop", &body);
    assert_eq!((again.status, &again.json()["events"][0]["outcome"]), (200, &json!("duplicate")));
    let ledger = shop.until(|ledger| ledger.entitlements.rows().len() == 1);
    assert_eq!(ledger.events.rows().values().next().unwrap().duplicates, 1);
    let check = shop.get("/v1/entitlements/check?customer=canary-customer-77&sku=ebook").json();
    assert_eq!(check["entitled"], true);
}

#[test]
fn every_outcome_has_its_status() {
    let shop = Shop::open();
    shop.place("order-1");
    let outcome = |source: &str, body: &[u8]| {
        let answer = shop.deliver(source, body);
        let word = answer.json()["events"][0]["outcome"].as_str().map(str::to_owned);
        (answer.status, word.unwrap_or_else(|| answer.code()))
    };
    let named = |status: u16, word: &str| (status, word.to_owned());
    assert_eq!(outcome("shop", &paid("e1", "p1", "nobody", "19.90")), named(200, "unbound"));
    assert_eq!(outcome("shop", &paid("e1", "p1", "nobody", "1.00")), named(200, "conflict"));
    assert_eq!(outcome("strict", &paid("e1", "p1", "nobody", "19.90")), named(200, "unbound"));
    assert_eq!(outcome("strict", &paid("e1", "p1", "nobody", "1.00")), named(409, "payload_conflict"));
    assert_eq!(outcome("hold", &paid("e1", "p1", "nobody", "19.90")), named(200, "unbound"));
    assert_eq!(outcome("shop", br#"{"id":"e2","type":"weather.changed"}"#), named(200, "ignored"));
    assert_eq!(outcome("shop", br#"{"id":"e3","type":"payment.succeeded"}"#), named(200, "unreadable"));
    let before = shop.ledger();
    assert_eq!(outcome("reject", &paid("e1", "p1", "nobody", "19.90")), named(422, "no_order"));
    assert!(shop.ledger() == before, "what is rejected leaves nothing behind");
}

#[test]
fn a_test_notification_is_answered_and_changes_nothing() {
    let shop = Shop::open();
    let before = shop.ledger();
    let answer = shop.deliver("shop", br#"{"test":true,"id":"evt-t","type":"ping"}"#);
    assert_eq!((answer.status, answer.json()), (200, json!({"events": []})));
    assert!(shop.ledger() == before);
}

#[test]
fn p6_forged_unsigned_and_unknown_are_answered_byte_for_byte_alike() {
    let shop = Shop::open();
    let before = shop.ledger();
    let body = paid("evt-1", "pay-1", "order-1", "19.90");
    let seal = shop.seal("shop", &body);
    let (name, value) = (seal[0].0.as_str(), seal[0].1.as_str());
    let stripe = shop.seal("stripe", &body);
    let forged = "0".repeat(value.len());
    let post = |path: &str, headers: &[(&str, &str)], body: &[u8]| {
        let mut answer = wire::request(shop.public(), "POST", path, headers, body);
        answer.headers.retain(|(name, _)| name != "date");
        answer
    };
    let answers = [
        post("/in/shop", &[(name, &forged)], &body),
        post("/in/shop", &[(name, value)], b"other bytes"),
        post("/in/shop", &[], &body),
        post("/in/shop", &[(name, "")], &body),
        post("/in/nobody", &[(name, value)], &body),
        post("/in/nobody", &[(&stripe[0].0, &stripe[0].1)], &body),
        post("/in/nobody", &[], &body),
        post("/in/%FF", &[], &body),
        post("/in/stripe", &[], &body),
        // Genuine elsewhere, and for many names, so that every source's verifier is the decoy of one.
        post("/in/nobody-1", &[(name, value)], &body),
        post("/in/nobody-2", &[(name, value)], &body),
        post("/in/nobody-3", &[(name, value)], &body),
        post("/in/nobody-4", &[(name, value)], &body),
    ];
    assert_eq!((answers[0].status, answers[0].code().as_str()), (401, "not_genuine"));
    for answer in &answers {
        assert_eq!(answer, &answers[0]);
    }
    assert!(shop.ledger() == before, "what is not genuine leaves nothing behind");
}

#[test]
fn a_stripe_delivery_is_read_and_an_old_one_refused() {
    let shop = Shop::open();
    let placed = shop.place("order-1").json();
    let body = json!({
        "id": "evt_1", "object": "event", "type": "payment_intent.succeeded", "livemode": false,
        "data": {"object": {"id": "pi_1", "object": "payment_intent", "amount_received": 1990, "currency": "eur",
            "metadata": {"paidonce": placed["hint"]}}}
    })
    .to_string();
    let answer = shop.deliver("stripe", body.as_bytes());
    assert_eq!(answer.json()["events"][0], json!({"id": "evt_1", "outcome": "accepted", "order": "order-1"}));
    let old = paidonce::clock::SystemClock::now_unix_s() - 3_600;
    let seal = shop.sources.get("stripe").unwrap().sign("evt", body.as_bytes(), old).unwrap();
    let headers = [(seal[0].0.as_str(), seal[0].1.as_str())];
    assert_eq!(wire::request(shop.public(), "POST", "/in/stripe", &headers, body.as_bytes()).status, 401);
}

#[test]
fn the_trace_context_is_kept_and_a_malformed_one_is_none() {
    let shop = Shop::open();
    let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for (id, trace, kept) in [("e1", good, true), ("e2", "00-zz-b7ad6b7169203331-01", false)] {
        let body = paid(id, "pay-1", "order-1", "19.90");
        let seal = shop.seal("shop", &body);
        let headers = [(seal[0].0.as_str(), seal[0].1.as_str()), ("traceparent", trace)];
        assert_eq!(wire::request(shop.public(), "POST", "/in/shop", &headers, &body).status, 200);
        let ledger = shop.ledger();
        let event = ledger.events.rows().iter().find(|(key, _)| key.id.as_str() == id).unwrap().1;
        assert_eq!(event.trace.is_some(), kept, "{trace}");
    }
}

#[test]
fn p2_p3_twenty_at_once_are_one_event_and_one_entitlement() {
    let shop = Shop::open();
    shop.place("order-1");
    let body = paid("evt-1", "pay-1", "order-1", "19.90");
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..20).map(|_| scope.spawn(|| shop_free_deliver(&shop, &body))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(outcomes.iter().all(|(status, _)| *status == 200));
    assert_eq!(outcomes.iter().filter(|(_, outcome)| outcome == "accepted").count(), 1);
    let ledger = shop.until(|ledger| !ledger.entitlements.rows().is_empty());
    assert_eq!((ledger.events.rows().len(), ledger.entitlements.rows().len()), (1, 1));
}

fn shop_free_deliver(shop: &Shop, body: &[u8]) -> (u16, String) {
    let answer = shop.deliver("shop", body);
    (answer.status, answer.json()["events"][0]["outcome"].as_str().unwrap().to_owned())
}
