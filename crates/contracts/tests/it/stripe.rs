//! Stripe: its samples, wrapped into events, as the facts that they mean.

use paidonce_contracts::Verifier;
use paidonce_ledger::{Notice, Reading};
use serde_json::{Value, json};

use crate::support::{check, notice, show, source, stripe, why};

const SECRET: &str = "whsec_test_secret";

fn sample(name: &str) -> Value {
    let text = match name {
        "session" => include_str!("../../fixtures/stripe/object_checkout_session.json"),
        "intent" => include_str!("../../fixtures/stripe/object_payment_intent.json"),
        "charge" => include_str!("../../fixtures/stripe/object_charge.json"),
        "refund" => include_str!("../../fixtures/stripe/object_refund.json"),
        _ => include_str!("../../fixtures/stripe/object_dispute.json"),
    };
    serde_json::from_str(text).unwrap()
}

/// A sample with some members changed, in an event's envelope.
fn event(kind: &str, object: &str, changes: Value) -> Value {
    let mut object = sample(object);
    for (name, value) in changes.as_object().unwrap() {
        object[name] = value.clone();
    }
    json!({"id": "evt_1", "object": "event", "api_version": "2024-06-20", "created": 1_700_000_000,
           "data": {"object": object}, "livemode": false, "pending_webhooks": 1,
           "request": {"id": null, "idempotency_key": null}, "type": kind})
}

fn read_by(verifier: &Verifier, event: &Value) -> Notice {
    notice(verifier, SECRET, serde_json::to_vec_pretty(event).unwrap())
}

fn read(kind: &str, object: &str, changes: Value) -> Notice {
    read_by(&stripe(), &event(kind, object, changes))
}

const INTENT: &str = "pi_1PgafyB7WZ01zgkWSjxsAJo3";
const SESSION: &str = "cs_test_a1YS1URlnyQCN5fUUduORoQ7Pw41PJqDWkIVQCpJPqkfIhd6tVY8XB1OLY";

#[test]
fn a_paid_session_is_a_capture_of_its_intent() {
    let changes = json!({"payment_status": "paid", "amount_total": 1999, "currency": "eur",
                         "client_reference_id": "order-7", "metadata": {"order_id": "order-7", "paidonce": "po_x"}});
    check(
        &read("checkout.session.completed", "session", changes),
        &format!(
            "evt_1 checkout.session.completed (test)
         payment {INTENT}
         reference {SESSION}
         hint order-7
         hint po_x
         captured {INTENT} Settled 19.99 EUR"
        ),
    );
}

/// K10, B47: completed is not paid; the later event is.
#[test]
fn b47_an_unpaid_session_is_pending_until_its_own_event() {
    let money = json!({"amount_total": 1999, "currency": "eur"});
    check(
        &read("checkout.session.completed", "session", money.clone()),
        &format!(
            "evt_1 checkout.session.completed (test)
         payment {INTENT}
         reference {SESSION}
         pending 19.99 EUR"
        ),
    );
    let succeeded = read("checkout.session.async_payment_succeeded", "session", money.clone());
    assert!(show(&succeeded).ends_with(&format!("captured {INTENT} Settled 19.99 EUR")));
    let failed = read("checkout.session.async_payment_failed", "session", money);
    assert!(show(&failed).ends_with("attempt_failed by evt_1"));
}

#[test]
fn a_session_of_nothing_is_its_own_payment() {
    let changes = json!({"payment_status": "no_payment_required", "payment_intent": null, "amount_total": 0, "currency": "eur"});
    check(
        &read("checkout.session.completed", "session", changes),
        &format!(
            "evt_1 checkout.session.completed (test)
         payment {SESSION}
         captured {SESSION} Settled 0.00 EUR"
        ),
    );
}

#[test]
fn setups_and_subscriptions_are_ignored() {
    for mode in ["setup", "subscription"] {
        for status in ["paid", "unpaid", "no_payment_required"] {
            let changes = json!({"mode": mode, "payment_status": status, "payment_intent": null});
            assert_eq!(read("checkout.session.completed", "session", changes).reading, Reading::Ignored);
        }
    }
    // Before sessions had a mode, all of them were payments.
    let old = json!({"mode": null, "payment_status": "paid", "amount_total": 5, "currency": "eur"});
    assert!(matches!(read("checkout.session.completed", "session", old).reading, Reading::Facts(_)));
}

#[test]
fn intents_are_captured_failed_pending_or_ended() {
    let changes = json!({"amount_received": 1099, "latest_charge": {"id": "ch_1", "object": "charge"},
                         "invoice": "in_1", "metadata": {"order_id": "order-7"}});
    check(
        &read("payment_intent.succeeded", "intent", changes),
        &format!(
            "evt_1 payment_intent.succeeded (test)
         payment {INTENT}
         reference ch_1
         reference in_1
         hint order-7
         captured {INTENT} Settled 10.99 USD"
        ),
    );
    for (kind, fact) in [
        ("payment_intent.processing", "pending 10.99 USD"),
        ("payment_intent.payment_failed", "attempt_failed by evt_1"),
        ("payment_intent.canceled", "ended_cancelled"),
    ] {
        check(&read(kind, "intent", json!({})), &format!("evt_1 {kind} (test)\npayment {INTENT}\n{fact}"));
    }
}

/// A session and its intent are one capture: same payment, same fact, same key.
#[test]
fn a_session_and_its_intent_say_the_same_fact() {
    let facts = |notice: Notice| match notice.reading {
        Reading::Facts(claims) => (claims.payment, claims.facts),
        other => panic!("{other:?}"),
    };
    let session = json!({"payment_status": "paid", "amount_total": 1099, "currency": "usd", "payment_intent": {"id": INTENT}});
    assert_eq!(
        facts(read("checkout.session.completed", "session", session)),
        facts(read("payment_intent.succeeded", "intent", json!({"amount_received": 1099})))
    );
}

#[test]
fn refunds_are_told_one_by_one_and_in_total() {
    let charge = "ch_1PgafuB7WZ01zgkWXYmPNZs8";
    let listed = json!([{"id": "re_1", "amount": 30, "currency": "usd", "status": "succeeded"},
                        {"id": "re_2", "amount": 20, "currency": "usd", "status": "pending"}]);
    let changes = json!({"payment_intent": INTENT, "amount_refunded": 50, "refunds": {"data": listed}});
    check(
        &read("charge.refunded", "charge", changes),
        &format!(
            "evt_1 charge.refunded (test)
         payment {INTENT}
         reference {charge}
         total_refunded 0.50 USD
         refunded re_1 Succeeded 0.30 USD
         refunded re_2 Pending 0.20 USD"
        ),
    );
    check(
        &read("charge.refunded", "charge", json!({"amount_refunded": 50, "refunds": null})),
        &format!(
            "evt_1 charge.refunded (test)
         payment {charge}
         total_refunded 0.50 USD"
        ),
    );
    for (status, state) in [
        ("pending", "Pending"),
        ("requires_action", "Pending"),
        ("succeeded", "Succeeded"),
        ("failed", "Failed"),
        ("canceled", "Failed"),
    ] {
        for kind in ["refund.created", "refund.updated", "refund.failed", "charge.refund.updated"] {
            check(
                &read(kind, "refund", json!({"status": status, "payment_intent": INTENT})),
                &format!(
                    "evt_1 {kind} (test)
                 payment {INTENT}
                 reference {charge}
                 refunded re_1Pgc72B7WZ01zgkWqPvrRrPE {state} 1.00 USD"
                ),
            );
        }
    }
    let unknown = read("refund.updated", "refund", json!({"status": "reversed"}));
    assert_eq!(why(&unknown), "data.object.status: not a value that the contract knows");
}

#[test]
fn disputes_warn_open_and_are_decided() {
    for (status, state) in [
        ("warning_needs_response", "Warning"),
        ("warning_under_review", "Warning"),
        ("needs_response", "Open"),
        ("under_review", "Open"),
        ("warning_closed", "Closed"),
        ("prevented", "Closed"),
        ("won", "Won"),
        ("lost", "Lost"),
    ] {
        check(
            &read("charge.dispute.closed", "dispute", json!({"status": status, "payment_intent": INTENT})),
            &format!(
                "evt_1 charge.dispute.closed (test)
             payment {INTENT}
             reference ch_1PgafuB7WZ01zgkWXYmPNZs8
             disputed dp_1Pgc71B7WZ01zgkWMevJiAUx stage 1 {state} 10.00 USD"
            ),
        );
    }
}

#[test]
fn samples_of_other_types_are_kept_and_ignored() {
    let connect = include_bytes!("../../fixtures/stripe/event_account_updated_connect.json");
    check(
        &notice(&stripe(), SECRET, connect),
        "evt_1Itt6eB9wPxT0ovY3LLhi5bw account.updated of acct_1IuHosQveW0ONQsd (test)\nignored",
    );
    let signed = include_bytes!("../../fixtures/stripe/event_invoiceitem_connect_signed.json");
    check(&notice(&stripe(), SECRET, signed), "evt_123 customer.created of acct_123 (test)\nignored");
    let thin = include_bytes!("../../fixtures/stripe/event_v2_thin.json");
    check(
        &notice(&stripe(), SECRET, thin),
        "evt_234 v1.billing.meter.error_report_triggered (live)\nignored",
    );
    // A thin event of a type that matters has nothing inside: ignored, not unreadable.
    let mut event = event("payment_intent.succeeded", "intent", json!({}));
    event["object"] = json!("v2.core.event");
    event["data"] = Value::Null;
    assert_eq!(read_by(&stripe(), &event).reading, Reading::Ignored);
}

/// B51: yen are yen. B53: no float anywhere.
#[test]
fn b51_b53_amounts_are_the_providers_digits() {
    for (currency, amount, money) in [
        ("jpy", 10_000, "10000 JPY"),
        ("jpy", 1050, "1050 JPY"),
        ("krw", 500, "500 KRW"),
        ("vnd", 7, "7 VND"),
        ("eur", 59_980, "599.80 EUR"),
        ("kwd", 5_120, "5.120 KWD"),
        // Stripe's minor unit is not ISO's.
        ("isk", 500, "5 ISK"),
        ("ugx", 500, "5 UGX"),
        ("mga", 5, "5.00 MGA"),
    ] {
        let changes = json!({"amount_received": amount, "currency": currency});
        assert!(show(&read("payment_intent.succeeded", "intent", changes)).ends_with(money), "{money}");
    }
    let fraction =
        read("payment_intent.succeeded", "intent", json!({"amount_received": 550, "currency": "isk"}));
    assert_eq!(why(&fraction), "data.object.amount_received: more decimals than its unit has");
}

/// B80: versions, unknown types, unknown members and changed shapes of what is not needed.
#[test]
fn b80_only_what_is_needed_has_to_have_its_form() {
    let paid = json!({"amount_received": 1099});
    let expected = read("payment_intent.succeeded", "intent", paid.clone()).reading;
    for (name, value) in [
        ("request", json!("req_1")),
        ("request", Value::Null),
        ("api_version", Value::Null),
        ("api_version", json!("2099-01-01.zebra")),
        ("new", json!({"deep": [1, {"x": null}]})),
    ] {
        let mut event = event("payment_intent.succeeded", "intent", paid.clone());
        event[name] = value;
        event["data"]["object"]["status"] = json!("a_new_word");
        assert_eq!(read_by(&stripe(), &event).reading, expected);
    }
    assert_eq!(read("payment_intent.sung_about", "intent", paid).reading, Reading::Ignored);
}

/// B81: every known place is tried; absence of what a type must have is loud.
#[test]
fn b81_a_moved_or_missing_member_is_never_an_ignore() {
    let old = read("refund.updated", "refund", json!({}));
    let new = read("refund.updated", "refund", json!({"payment_intent": INTENT}));
    assert!(show(&old).contains("payment ch_1PgafuB7WZ01zgkWXYmPNZs8"));
    assert!(show(&new).contains(&format!("payment {INTENT}")));
    let neither = read("refund.updated", "refund", json!({"charge": null}));
    assert_eq!(why(&neither), "data.object.payment_intent or data.object.charge: absent");
    assert_eq!(neither.id.as_str(), "evt_1", "its identity is readable");
    let status = read("checkout.session.completed", "session", json!({"payment_status": null}));
    assert_eq!(
        why(&status),
        "data.object.mode, data.object.payment_status: absent, or not a value that the contract knows"
    );
}

/// K05: the only identity is the signed body's; a header of any name is not read.
#[test]
fn k05_headers_are_no_identity() {
    let verifier = stripe();
    let body = serde_json::to_vec(&event("payment_intent.succeeded", "intent", json!({}))).unwrap();
    let mut headers = crate::support::signed(&verifier, SECRET, "", &body);
    let ids = ["evt_2", "evt_3"].map(|id| {
        headers.retain(|(name, _)| name != "Stripe-Event-Id");
        headers.push(("Stripe-Event-Id".into(), id.into()));
        match crate::support::delivery(&verifier, &headers, &body) {
            paidonce_contracts::Delivery::Events(notices) => notices[0].id.clone(),
            paidonce_contracts::Delivery::Test => panic!(),
        }
    });
    assert_eq!(ids.map(|id| id.to_string()), ["evt_1", "evt_1"]);
}

/// Two attempts of one event differ in `pending_webhooks` and perhaps in how they are written, and in nothing else.
#[test]
fn redelivered_content_is_the_same_but_for_one_member() {
    let mut event = event("payment_intent.succeeded", "intent", json!({"amount_received": 1}));
    let first = read_by(&stripe(), &event);
    event["pending_webhooks"] = json!(0);
    let again = notice(&stripe(), SECRET, serde_json::to_vec(&event).unwrap());
    assert_eq!(first.content, again.content);
    assert_ne!(first.body.digest(), again.body.digest());
    event["data"]["object"]["pending_webhooks"] = json!(0);
    assert_ne!(first.content, read_by(&stripe(), &event).content);
    event["data"]["object"]["amount_received"] = json!(2);
    assert_ne!(first.content, read_by(&stripe(), &event).content);
}

/// A captured amount that is not said is not zero and not unreadable: it owes a lookup.
#[test]
fn a_capture_without_an_amount_is_a_fact_without_money() {
    for changes in [json!({"amount_received": null}), json!({"amount_received": 5, "currency": null})] {
        let notice = read("payment_intent.succeeded", "intent", changes);
        assert!(show(&notice).ends_with(&format!("captured {INTENT} Settled")), "{}", show(&notice));
    }
}

/// `conflict_status` and the future limit are the source's to state.
#[test]
fn a_source_may_add_a_type_and_change_another() {
    let overlay = "
        [[event]]
        type = 'invoice.paid'
        payment = 'data.object.id'
        facts = [{ kind = 'captured', state = 'settled', amount = 'data.object.amount_paid' }]
        [[event]]
        type = 'payment_intent.canceled'
        ignore = true";
    let verifier = source("stripe", overlay, &[SECRET]);
    let invoice = json!({"id": "evt_9", "type": "invoice.paid", "livemode": true,
                         "data": {"object": {"id": "in_1", "amount_paid": 700, "currency": "eur"}}});
    check(
        &read_by(&verifier, &invoice),
        "evt_9 invoice.paid (live)\npayment in_1\ncaptured in_1 Settled 7.00 EUR",
    );
    let canceled = event("payment_intent.canceled", "intent", json!({}));
    assert_eq!(read_by(&verifier, &canceled).reading, Reading::Ignored);
    let failed = event("payment_intent.payment_failed", "intent", json!({}));
    assert!(matches!(read_by(&verifier, &failed).reading, Reading::Facts(_)));
}
