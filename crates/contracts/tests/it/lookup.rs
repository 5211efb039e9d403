//! Lookups: the request that is made of a payment, and the facts that an answer becomes.

use paidonce_contracts::{Answer, Asked, Contract, Lookup, LookupRefused, Secret, Snapshot};
use paidonce_ledger::{Mode, PaymentId};

use crate::support::show_fact;

const URL: &str = "https://api.mollie.com/v2/payments/{payment}?embed=refunds,chargebacks";

const PAYMENT: &str = include_str!("../../fixtures/mollie/payment.json");
const CHARGEBACK: &str = include_str!("../../fixtures/mollie/chargeback.json");
const REFUNDS: &str = include_str!("../../fixtures/mollie/refund-list.json");

fn mollie() -> Contract {
    Contract::builtin("mollie-classic", None).unwrap()
}

fn id(text: &str) -> PaymentId {
    PaymentId::new(text).unwrap()
}

fn asked(payment: &PaymentId) -> Asked<'_> {
    Asked { payment, reference: None, event: None }
}

fn found(lookup: Lookup<'_>, payment: &str, mode: Mode, body: &str) -> Snapshot {
    match lookup.read(&id(payment), mode, 200, body.as_bytes()).unwrap() {
        Answer::Found(snapshot) => snapshot,
        Answer::NotFound => panic!("not found"),
    }
}

fn facts(snapshot: &Snapshot) -> Vec<String> {
    snapshot.facts.iter().map(show_fact).collect()
}

#[test]
fn an_address_is_the_contracts_whatever_the_id_is() {
    let stripe = Contract::builtin("stripe", None).unwrap();
    let lookup = stripe.lookup().unwrap();
    let key = Secret::new("sk_test_1");
    let request = lookup.request(&asked(&id("pi_1/../x?y#z@evil.example")), Mode::Live, &key).unwrap();
    let path = "https://api.stripe.com/v1/payment_intents/pi_1%2F..%2Fx%3Fy%23z%40evil.example?";
    assert!(request.url.starts_with(path), "{}", request.url);
    assert!(request.headers.contains(&("authorization".to_owned(), "Bearer sk_test_1".to_owned())));
    assert!(!format!("{request:?}").contains("sk_test_1"));
    for climbing in [".", ".."] {
        assert!(lookup.request(&asked(&id(climbing)), Mode::Live, &key).is_err());
    }
}

#[test]
fn hosts_are_fixed_and_placeholders_known() {
    for url in [
        "http://api.mollie.com/{payment}",
        "https://{payment}/x",
        "https://api.mollie.com:1/{payment}",
        "https://a@b.example/{payment}",
        "https://api.mollie.com/{secret}{payment}",
        "https://api.mollie.com/payments",
        "https://localhost/{payment}",
    ] {
        let text = Contract::builtin_text("mollie-classic").unwrap();
        assert!(text.contains(URL));
        let error = Contract::parse(&text.replace(URL, url), "mollie.toml", None).unwrap_err().to_string();
        assert!(error.contains("lookup.url"), "{url}: {error}");
    }
}

#[test]
fn mollies_payment_and_its_refunds() {
    let contract = mollie();
    let lookup = contract.lookup().unwrap();
    let open = PAYMENT.replace("{{ RESOURCE_ID }}", "tr_1");
    let snapshot = found(lookup, "tr_1", Mode::Test, &open);
    assert_eq!(facts(&snapshot), ["pending 20.00 EUR"]);
    assert_eq!(snapshot.hints[0].as_str(), "1234");
    assert!(!snapshot.complete);
    let refunds: serde_json::Value = serde_json::from_str(REFUNDS).unwrap();
    let mut paid: serde_json::Value = serde_json::from_str(&open).unwrap();
    paid["status"] = "paid".into();
    paid["_embedded"] = refunds["_embedded"].clone();
    let part = found(lookup, "tr_1", Mode::Test, &paid.to_string());
    assert!(!part.complete, "nothing is said of chargebacks");
    let chargeback: serde_json::Value =
        serde_json::from_str(&CHARGEBACK.replace("{{ RESOURCE_ID }}", "chb_1")).unwrap();
    paid["_embedded"]["chargebacks"] = serde_json::json!([chargeback]);
    let snapshot = found(lookup, "tr_1", Mode::Test, &paid.to_string());
    assert_eq!(
        facts(&snapshot),
        [
            "captured tr_1 Settled 20.00 EUR",
            "refunded re_4qqhO89gsT Pending 5.95 EUR",
            "disputed chb_1 stage 1 Open 43.38 USD",
        ]
    );
    assert!(snapshot.complete);
}

#[test]
fn what_is_no_answer_about_this_payment_is_refused() {
    let contract = mollie();
    let lookup = contract.lookup().unwrap();
    let body = PAYMENT.replace("{{ RESOURCE_ID }}", "tr_1");
    let read =
        |payment: &str, mode, status, body: &str| lookup.read(&id(payment), mode, status, body.as_bytes());
    assert_eq!(read("tr_2", Mode::Test, 200, &body), Err(LookupRefused::AnotherPayment));
    assert_eq!(read("tr_1", Mode::Live, 200, &body), Err(LookupRefused::AnotherMode));
    let other = body.replace("\"open\"", "\"novel\"");
    assert_eq!(read("tr_1", Mode::Test, 200, &other), Err(LookupRefused::UnknownStatus));
    assert_eq!(read("tr_1", Mode::Test, 404, ""), Ok(Answer::NotFound));
    assert_eq!(read("tr_1", Mode::Test, 401, ""), Err(LookupRefused::Unauthorized(401)));
    assert!(read("tr_1", Mode::Test, 503, "").unwrap_err().retryable());
    assert!(!read("tr_1", Mode::Test, 302, "").unwrap_err().retryable());
    assert!(matches!(read("tr_1", Mode::Test, 200, "{"), Err(LookupRefused::Unreadable(_))));
    let unreadable = body.replace("20.00", "20,00");
    assert!(matches!(read("tr_1", Mode::Test, 200, &unreadable), Err(LookupRefused::Unreadable(_))));
}

#[test]
fn stripes_intent_with_its_charge() {
    let stripe = Contract::builtin("stripe", None).unwrap();
    let lookup = stripe.lookup().unwrap();
    let sample: serde_json::Value =
        serde_json::from_str(include_str!("../../fixtures/stripe/object_payment_intent.json")).unwrap();
    let payment = sample["id"].as_str().unwrap().to_owned();
    let snapshot = found(lookup, &payment, Mode::Test, &sample.to_string());
    assert!(snapshot.facts.is_empty() && !snapshot.complete);
    let mut paid = sample.clone();
    paid["status"] = "succeeded".into();
    paid["amount_received"] = 1099.into();
    paid["latest_charge"] = serde_json::json!({"id": "ch_1", "amount_refunded": 99, "refunds": {"has_more": false,
        "data": [{"id": "re_1", "amount": 99, "currency": "usd", "status": "succeeded"}]}});
    let snapshot = found(lookup, &payment, Mode::Test, &paid.to_string());
    let expect = [
        &*format!("captured {payment} Settled 10.99 USD"),
        "total_refunded 0.99 USD",
        "refunded re_1 Succeeded 0.99 USD",
    ];
    assert_eq!(facts(&snapshot), expect);
    assert_eq!(snapshot.references[0].as_str(), "ch_1");
    assert!(snapshot.complete);
}

#[test]
fn paypal_wants_a_token_first() {
    let paypal = Contract::builtin("paypal", None).unwrap();
    let lookup = paypal.lookup().unwrap();
    let request = lookup.token_request(Mode::Test, &Secret::new("id:secret")).unwrap().unwrap();
    assert_eq!((request.method, &*request.url), ("POST", "https://api-m.sandbox.paypal.com/v1/oauth2/token"));
    assert!(request.headers.contains(&("authorization".to_owned(), "Basic aWQ6c2VjcmV0".to_owned())));
    assert!(lookup.token_request(Mode::Test, &Secret::new("no-colon")).is_err());
    let token = lookup.read_token(200, br#"{"access_token":"A21","expires_in":32400}"#).unwrap();
    assert_eq!(token.expires_in_s, 32_400);
    let request = lookup.request(&asked(&id("8AC")), Mode::Live, &token.key).unwrap();
    assert_eq!(request.url, "https://api-m.paypal.com/v2/payments/captures/8AC");
    assert!(request.headers.contains(&("authorization".to_owned(), "Bearer A21".to_owned())));
    let body = r#"{"id":"8AC","status":"REFUNDED","amount":{"value":"20.00","currency_code":"USD"}}"#;
    let snapshot = found(lookup, "8AC", Mode::Live, body);
    assert_eq!(facts(&snapshot), ["captured 8AC Settled 20.00 USD", "total_refunded 20.00 USD"]);
}
