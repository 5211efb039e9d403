//! Every vector of every provider that needs no module of its own: the verdict, its reason, and for what passes the
//! signature although it was tampered with, the layer that stops it.

use std::path::Path;

use paidonce_contracts::{Contract, Delivery, Secret, Verifier};
use paidonce_ledger::Notice;
use serde_json::Value;

use crate::support::{NOW, show, why};

/// The contract of a vector: by its folder, or by its scheme.
const SCHEMES: &[(&str, &str)] = &[("polar", "polar")];

/// Providers whose verification is a Rust module: `code.rs` runs theirs.
const CODE: &[&str] = &["paypal", "braintree", "nowpayments"];

/// Reasons that the vectors call otherwise than this program: ours is told by the same check, earlier or later.
const RENAMED: &[(&str, &str, &str)] = &[
    // A digest of another length is no special case: it does not fit.
    ("paystack-04", "algorithm", "signature_mismatch"),
    // A list without the timestamp, or whose timestamp is no number.
    ("paddle-09", "malformed_header", "no_signature_of_expected_scheme"),
    ("paddle-22", "malformed_header", "malformed_timestamp"),
    // Nothing is compared in time with a signature that does not fit: the reason is the signature's.
    ("paddle-04", "timestamp_too_old", "signature_mismatch"),
];

/// Vectors whose signature fits although somebody tampered, and what stops them.
const ATTACKS: &[(&str, &str)] = &[
    ("adyen-17", "account"),
    ("github-sponsors-03", "unread header"),
    ("lemonsqueezy-03", "unread header"),
    ("opennode-02", "truth"),
    ("razorpay-02", "unread header"),
    ("shopify-09", "truth"),
    ("standard-webhooks-22", "unreadable"),
    ("standard-webhooks-29", "refused"),
];

struct Vector {
    value: Value,
    folder: String,
}

impl Vector {
    fn text(&self, name: &str) -> &str {
        self.value[name].as_str().unwrap_or_default()
    }

    fn contract(&self) -> Contract {
        let scheme = self.text("scheme");
        let by_scheme = SCHEMES.iter().find(|(known, _)| *known == scheme).map(|(_, contract)| *contract);
        let name = by_scheme.unwrap_or(if scheme.is_empty() { &self.folder } else { scheme });
        let value = |name: &str| self.value["context"][name].as_str();
        let overlay = match (name, value("notification_url")) {
            ("square", Some(url)) => format!("signature.values.notification_url = '{url}'"),
            ("shopify", _) => "signature.values.topic = 'orders/paid'".to_owned(),
            _ => String::new(),
        };
        Contract::builtin(name, Some(&overlay.parse().unwrap())).unwrap_or_else(|error| panic!("{error}"))
    }

    fn verifier(&self) -> Verifier {
        let secrets: Vec<Secret> = match &self.value["secret"] {
            Value::Array(secrets) => secrets.iter().map(|one| Secret::new(one.as_str().unwrap())).collect(),
            Value::String(secret) => vec![Secret::new(secret)],
            _ => Vec::new(),
        };
        Verifier::new(&self.contract(), &secrets)
            .unwrap_or_else(|error| panic!("{}: {error}", self.text("id")))
    }

    /// Its header lines, repeated ones repeated.
    fn headers(&self) -> Vec<(&str, &[u8])> {
        let mut lines = Vec::new();
        for (name, value) in self.value["headers"].as_object().unwrap() {
            let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            lines.extend(values.iter().map(|value| (name.as_str(), value.as_str().unwrap().as_bytes())));
        }
        lines
    }

    fn now(&self) -> i64 {
        self.value["now"].as_i64().unwrap_or(NOW)
    }

    /// The verdict, and the notices of what is genuine.
    fn run(&self) -> (String, Vec<Notice>) {
        let verifier = self.verifier();
        match verifier.verify(&self.headers(), self.text("body").as_bytes(), self.now()) {
            Err(refused) => (refused.reason().to_owned(), Vec::new()),
            Ok(verified) => match verified.read() {
                Delivery::Events(notices) => ("valid".to_owned(), notices),
                Delivery::Test => ("valid".to_owned(), Vec::new()),
            },
        }
    }

    fn expected(&self) -> &str {
        if self.text("expect") == "valid" {
            return "valid";
        }
        let renamed =
            RENAMED.iter().find(|(id, from, _)| *id == self.text("id") && *from == self.text("reason"));
        renamed.map_or(self.text("reason"), |(_, _, ours)| *ours)
    }
}

fn all() -> Vec<Vector> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut folders: Vec<_> =
        std::fs::read_dir(fixtures).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let mut vectors = Vec::new();
    for path in folders {
        let folder = path.file_name().unwrap().to_str().unwrap().to_owned();
        if CODE.contains(&folder.as_str()) {
            continue;
        }
        let text = std::fs::read_to_string(path.join("vectors.json")).unwrap();
        let list: Vec<Value> = serde_json::from_str(&text).unwrap();
        vectors.extend(list.into_iter().map(|value| Vector { value, folder: folder.clone() }));
    }
    vectors
}

fn one(id: &str) -> Vector {
    all().into_iter().find(|vector| vector.text("id") == id).unwrap()
}

#[test]
fn every_vector_has_its_verdict_and_reason() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for vector in all() {
        let (verdict, notices) = vector.run();
        if verdict != vector.expected() {
            wrong.push(format!(
                "{}: {verdict}, not {}: {}",
                vector.text("id"),
                vector.expected(),
                vector.text("description")
            ));
        }
        if let Some(items) = vector.value["items"].as_u64().filter(|_| verdict == "valid") {
            assert_eq!(notices.len() as u64, items, "{}", vector.text("id"));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 160, "{count} vectors: some are not found");
}

/// adyen-16: of a batch with one forged item nothing is taken; each item by itself has its own verdict.
#[test]
fn each_item_has_its_own_verdict() {
    let mut batches = 0;
    for vector in all() {
        let Some(expected) = vector.value["item_expect"].as_array().cloned() else { continue };
        batches += 1;
        let envelope: Value = serde_json::from_str(vector.text("body")).unwrap();
        for (item, expect) in envelope["notificationItems"].as_array().unwrap().iter().zip(expected) {
            let mut alone = envelope.clone();
            alone["notificationItems"] = Value::Array(vec![item.clone()]);
            let verifier = vector.verifier();
            let body = alone.to_string();
            let verdict = verifier.verify(&[], body.as_bytes(), NOW).is_ok();
            assert_eq!(verdict, expect == "valid", "{item}");
        }
    }
    assert_eq!(batches, 1);
}

/// What passes the signature although it is an attack, and the layer that holds or refuses it.
#[test]
fn every_attack_is_stopped_by_a_layer_that_has_a_name() {
    let attacks: Vec<Vector> = all().into_iter().filter(|vector| vector.value["attack"] == true).collect();
    let ids: Vec<&str> = attacks.iter().map(|vector| vector.text("id")).collect();
    assert_eq!(ids, ATTACKS.iter().map(|(id, _)| *id).collect::<Vec<_>>());
    for (vector, (id, layer)) in attacks.iter().zip(ATTACKS) {
        let (verdict, notices) = vector.run();
        match *layer {
            // The verifier itself.
            "refused" => assert_ne!(verdict, "valid", "{id}"),
            // The reading: stored, shown, never applied.
            "unreadable" => assert!(notices.iter().all(|notice| !why(notice).is_empty()), "{id}"),
            // The source's check of the account: it is another one than that of the genuine delivery.
            "account" => assert!(
                notices.iter().all(|notice| {
                    notice.account.as_ref().is_none_or(|account| account.as_str() != "TestMerchant")
                }),
                "{id}"
            ),
            // What was tampered with is not read: without it the reading is the same.
            "unread header" => {
                let uncovered = vector.contract().uncovered().to_vec();
                let named = |name: &str| {
                    uncovered.iter().any(|one| one.eq_ignore_ascii_case(&format!("header {name}")))
                };
                let lines = vector.headers().into_iter().filter(|(name, _)| !named(name)).collect::<Vec<_>>();
                assert!(lines.len() < vector.headers().len(), "{id}: nothing was tampered with");
                let verifier = vector.verifier();
                let verified = verifier.verify(&lines, vector.text("body").as_bytes(), vector.now()).unwrap();
                assert_eq!(verified.read(), Delivery::Events(notices), "{id}");
            }
            // The source has to ask the provider: no fact of the event is ever applied.
            "truth" => assert!(vector.contract().refuses_truth_event().is_some(), "{id}"),
            other => panic!("{other} is no layer"),
        }
    }
}

/// btcpay-02: other bytes and another signature, and yet the same event with the same content.
#[test]
fn a_redelivery_is_the_same_event_whatever_changed_around_it() {
    let mut pairs = 0;
    for vector in all().iter().filter(|vector| vector.value["redelivery_of"].is_string()) {
        let (_, again) = vector.run();
        let (_, first) = one(vector.text("redelivery_of")).run();
        assert_eq!((&first[0].id, first[0].content), (&again[0].id, again[0].content));
        assert_ne!(first[0].body, again[0].body);
        pairs += 1;
    }
    assert_eq!(pairs, 1);
}

/// Two calls with the same bytes may be two changes: neither is the other's duplicate. In one second they are one.
#[test]
fn calls_that_have_no_identity_are_never_duplicates() {
    let vector = one("mollie-09");
    assert!(vector.contract().has_no_identity());
    let verifier = vector.verifier();
    let notice = |now| match verifier.verify(&[], vector.text("body").as_bytes(), now).unwrap().read() {
        Delivery::Events(mut notices) => notices.remove(0),
        Delivery::Test => panic!("a test"),
    };
    assert_ne!(notice(NOW).id, notice(NOW + 1).id);
    assert_eq!(show(&notice(NOW)).lines().last(), Some("payment tr_5B8cwPMGnU6qLbRvo7qEZo"));
}
