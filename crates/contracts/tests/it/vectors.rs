//! Every vector of the providers, with its verdict and its reason.

use paidonce_contracts::{Contract, Secret, Verifier};
use serde_json::Value;

use crate::support::{delivery, why};

/// Polar is Standard Webhooks with another key.
const POLAR: &str = "provider = 'polar'\n[signature.versions.v1]\nkey = 'utf8'";

struct Vector {
    value: Value,
}

impl Vector {
    fn text(&self, name: &str) -> &str {
        self.value[name].as_str().unwrap_or_default()
    }

    fn headers(&self) -> Vec<(String, String)> {
        let headers = self.value["headers"].as_object().unwrap();
        headers.iter().map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).collect()
    }

    fn verifier(&self, provider: &str) -> Verifier {
        let overlay = if self.text("scheme") == "polar" { POLAR } else { "" };
        let contract = Contract::builtin(provider, Some(&overlay.parse().unwrap())).unwrap();
        Verifier::new(&contract, &[Secret::new(self.text("secret"))]).unwrap()
    }

    fn run(&self, provider: &str) -> String {
        let verifier = self.verifier(provider);
        let headers = self.headers();
        let lines: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        let now = self.value["now"].as_i64().unwrap();
        match verifier.verify(&lines, self.text("body").as_bytes(), now) {
            Ok(_) => "valid".to_owned(),
            Err(refused) => refused.reason().to_owned(),
        }
    }
}

fn vectors(text: &str) -> Vec<Vector> {
    let list: Vec<Value> = serde_json::from_str(text).unwrap();
    list.into_iter().map(|value| Vector { value }).collect()
}

fn check(provider: &str, text: &str, count: usize) {
    let vectors = vectors(text);
    assert_eq!(vectors.len(), count);
    for vector in &vectors {
        let expect = if vector.text("expect") == "valid" { "valid" } else { vector.text("reason") };
        assert_eq!(vector.run(provider), expect, "{}: {}", vector.text("id"), vector.text("description"));
        assert_eq!(vector.value["tolerance_s"].as_i64(), Some(300), "the shipped limit");
    }
}

const STRIPE: &str = include_str!("../../fixtures/stripe/vectors.json");
const STANDARD: &str = include_str!("../../fixtures/standard-webhooks/vectors.json");

#[test]
fn stripe() {
    check("stripe", STRIPE, 23);
}

#[test]
fn standard_webhooks() {
    check("standard-webhooks", STANDARD, 25);
}

/// standard-webhooks-22: one signature proves (id "msg_a.T", body "{}") and (id "msg_a", body "T.{}"). The
/// verifier cannot tell them apart; the reading refuses both, each under the digest of its own bytes, so
/// that neither can take the identity of a real `msg_a`.
#[test]
fn a_moved_boundary_is_unreadable_on_both_sides() {
    let vector = vectors(STANDARD).into_iter().find(|v| v.text("id") == "standard-webhooks-22").unwrap();
    let verifier = vector.verifier("standard-webhooks");
    let read = |headers: &Vec<(String, String)>, body: &str| {
        let lines: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        let verified = verifier.verify(&lines, body.as_bytes(), 1_614_265_330).unwrap();
        match verified.read() {
            paidonce_contracts::Delivery::Events(mut notices) => notices.remove(0),
            paidonce_contracts::Delivery::Test => panic!(),
        }
    };
    let shifted = read(&vector.headers(), vector.text("body"));
    assert_eq!(why(&shifted), "body: not JSON, at byte 11");
    let mut headers = vector.headers();
    headers
        .iter_mut()
        .filter(|(name, _)| name == "webhook-id")
        .for_each(|(_, id)| *id = "msg_a.1614265330".into());
    let original = read(&headers, "{}");
    assert_eq!(why(&original), "the id's header: holds \".\", which separates what is signed");
    for notice in [&shifted, &original] {
        assert_eq!(notice.id.as_str(), format!("sha256:{}", notice.body.digest()));
    }
}

/// The same requests under the names that Svix and Clerk send; a mixture of both is no family.
#[test]
fn svix_headers_are_the_same_headers() {
    let vectors = vectors(STANDARD);
    let mut renamed = 0;
    for vector in vectors.iter().filter(|v| v.text("scheme").is_empty()) {
        let verifier = vector.verifier("standard-webhooks");
        let now = vector.value["now"].as_i64().unwrap();
        let headers: Vec<_> = vector
            .headers()
            .into_iter()
            .map(|(name, value)| (name.replace("webhook-", "Svix-"), value))
            .collect();
        let lines: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        let verdict = verifier.verify(&lines, vector.text("body").as_bytes(), now);
        let expect = if vector.text("expect") == "valid" { "valid" } else { vector.text("reason") };
        assert_eq!(verdict.map_or_else(|refused| refused.reason(), |_| "valid"), expect);
        renamed += 1;
    }
    assert_eq!(renamed, 24);
    let vector = &vectors[0];
    let mut headers = vector.headers();
    headers
        .iter_mut()
        .filter(|(name, _)| name == "webhook-id")
        .for_each(|(name, _)| *name = "svix-id".into());
    let lines: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    let verifier = vector.verifier("standard-webhooks");
    let verdict = verifier.verify(&lines, vector.text("body").as_bytes(), 1_614_265_330);
    assert_eq!(verdict.unwrap_err().reason(), "missing_header");
}

/// B01, stripe-node#341: what was signed is bytes, not a value.
#[test]
fn b01_odd_bytes_are_accepted_and_the_same_value_written_otherwise_is_refused() {
    let verifier = crate::support::stripe();
    let body = br#"{"b":1, "a":"\u00e9\/x", "id":"evt_1", "type":"x"}"#;
    let headers = crate::support::signed(&verifier, "whsec_test_secret", "", body);
    delivery(&verifier, &headers, body);
    let again = serde_json::to_vec(&serde_json::from_slice::<Value>(body).unwrap()).unwrap();
    let refused = crate::support::verify(&verifier, &headers, &again, crate::support::NOW);
    assert_eq!(refused.unwrap_err().reason(), "signature_mismatch");
}
