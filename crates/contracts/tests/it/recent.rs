//! Lists of recent events: the requests for their pages, and that what is listed is the same event as what was delivered.

use paidonce_contracts::{Contract, LookupRefused, Secret};
use paidonce_ledger::Mode;
use serde_json::{Value, json};

use crate::support::{contract, notices, source};

const SINCE: i64 = 1_700_000_000;

fn key() -> Secret {
    Secret::new("key")
}

#[test]
fn a_page_is_asked_for_since_a_moment_and_after_another() {
    let stripe = contract("stripe", "");
    let recent = stripe.recent().unwrap();
    let first = recent.request(SINCE, None, Mode::Test, &key()).unwrap();
    assert_eq!(first.url, "https://api.stripe.com/v1/events?limit=100&created%5Bgte%5D=1700000000");
    assert!(first.headers.contains(&("authorization".to_owned(), "Bearer key".to_owned())));
    let second = recent.request(SINCE, Some("evt_1&x=y"), Mode::Test, &key()).unwrap();
    assert_eq!(second.url, format!("{}&starting_after=evt_1%26x%3Dy", first.url));
    let gocardless = contract("gocardless", "");
    let request = gocardless.recent().unwrap().request(SINCE, None, Mode::Test, &key()).unwrap();
    let url =
        "https://api-sandbox.gocardless.com/events?limit=250&created_at%5Bgte%5D=2023-11-14T22%3A13%3A20Z";
    assert_eq!(request.url, url);
    assert!(request.headers.iter().any(|(name, _)| name == "GoCardless-Version"));
}

/// What was delivered and is then listed is one event with one content: a duplicate, and no conflict.
#[test]
fn a_listed_event_is_the_delivered_one() {
    let event = json!({
        "id": "evt_1", "object": "event", "type": "payment_intent.succeeded", "livemode": false, "pending_webhooks": 2,
        "data": {"object": {"id": "pi_1", "object": "payment_intent", "amount_received": 1990, "currency": "eur"}}
    });
    let verifier = source("stripe", "", &["whsec_x"]);
    let delivered = notices(&verifier, "whsec_x", event.to_string().as_bytes()).remove(0);
    let mut listed = event.clone();
    listed["pending_webhooks"] = 0.into();
    let stripe = contract("stripe", "");
    let recent = stripe.recent().unwrap();
    let page = |more: bool| json!({"object": "list", "data": [listed], "has_more": more}).to_string();
    let read = recent.read(200, page(true).as_bytes()).unwrap();
    assert_eq!(read.next.as_deref(), Some("evt_1"));
    let found = &read.events[0];
    assert_eq!(
        (&found.id, found.content, &found.reading),
        (&delivered.id, delivered.content, &delivered.reading)
    );
    assert_eq!(recent.read(200, page(false).as_bytes()).unwrap().next, None);
    assert!(recent.read(429, b"").unwrap_err().retryable());
    assert_eq!(recent.read(401, b"").unwrap_err(), LookupRefused::Unauthorized(401));
    assert!(matches!(recent.read(200, b"{}"), Err(LookupRefused::Unreadable(_))));
}

/// The sample of the provider's own API description.
#[test]
fn gocardlesss_list() {
    let sample: Value =
        serde_json::from_str(include_str!("../../fixtures/gocardless/api_events.json")).unwrap();
    let body = &sample["list"]["body"];
    let gocardless = contract("gocardless", "");
    let page = gocardless.recent().unwrap().read(200, body.to_string().as_bytes()).unwrap();
    assert_eq!(page.events.len(), body["events"].as_array().unwrap().len());
    assert_eq!(page.next.as_deref(), body["meta"]["cursors"]["after"].as_str());
    assert!(page.next.is_some());
}

#[test]
fn a_list_that_would_make_conflicts_is_refused() {
    let recent = "[recent]\nurl = 'https://api.example.com/events'\nauth = 'bearer'\nitems = 'data'\n";
    let with = |name: &str, more: &str| {
        let settings: toml::Table = format!("{recent}{more}").parse().unwrap();
        Contract::builtin(name, Some(&settings)).map(|_| ()).map_err(|error| error.to_string())
    };
    assert!(with("lemonsqueezy", "").unwrap_err().contains("read.same_content"));
    assert!(with("standard-webhooks", "").unwrap_err().contains("have to be members"));
    assert!(with("paddle", "").is_ok());
    assert!(with("paddle", "next = { parameter = 'after' }").unwrap_err().contains("write member"));
}
