//! Every sample payload, read by its contract: a text file beside it says what it became.
//!
//! `UPDATE_SNAPSHOTS=1` writes the files again; a difference is then for a person to judge. Samples that are no
//! deliveries (answers of an API, objects to be put into an event) are not read here.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use paidonce_contracts::{Contract, Delivery, Secret, Verifier};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::support::{NOW, show};

/// Folder, contract, overlay: whose samples are read by what.
const PROVIDERS: &[(&str, &str, &str)] = &[
    ("adyen", "adyen", ""),
    ("adyen", "adyen-platform", ""),
    ("braintree", "braintree", "signature.values.public_key = 'public'"),
    ("btcpay", "btcpay", ""),
    ("checkout", "checkout", ""),
    ("coinbase-commerce", "coinbase-commerce", ""),
    ("flutterwave", "flutterwave", ""),
    ("flutterwave", "flutterwave-v3", ""),
    ("github-sponsors", "github-sponsors", ""),
    ("gocardless", "gocardless", ""),
    ("lemonsqueezy", "lemonsqueezy", ""),
    ("mollie", "mollie", ""),
    ("mollie", "mollie-classic", ""),
    ("nowpayments", "nowpayments", ""),
    ("paddle", "paddle", ""),
    ("paypal", "paypal", "signature.values.webhook_id = 'hook'"),
    ("paystack", "paystack", ""),
    ("razorpay", "razorpay", ""),
    ("shopify", "shopify", "signature.values.topic = 'orders/paid'"),
    ("square", "square", "signature.values.notification_url = 'https://shop.example/in'"),
    ("standard-webhooks", "standard-webhooks", ""),
    ("stripe", "stripe", ""),
    ("worldpay", "worldpay", ""),
];

/// No deliveries: what an API answers, and objects without an event around them.
const NO_DELIVERIES: &[&str] = &[
    "vectors.json",
    "schemas.json",
    "payment.json",
    "refund.json",
    "refund-list.json",
    "chargeback.json",
    "payment-link.json",
    "webhook-test.json",
    "verify_webhook_signature_request.json",
];

/// Contracts whose deliveries cannot be signed here, or are not signed at all: their samples are read as they are.
const UNSIGNED: &[&str] = &["braintree", "mollie-classic", "nowpayments", "paypal"];

const HEX_KEY: &str = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056";

fn secret(contract: &str) -> &'static str {
    match contract {
        "adyen" | "adyen-platform" => HEX_KEY,
        "standard-webhooks" => "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "worldpay" => "key1=secret",
        _ => "secret",
    }
}

/// The contract's headers over `body`; Adyen's signature goes into the body, Worldpay's has a key id.
fn sign(contract: &Contract, body: &mut Vec<u8>) -> Vec<(String, String)> {
    match contract.provider().as_str() {
        "adyen" => {
            let mut envelope: Value = serde_json::from_slice(body).unwrap();
            envelope["notificationItems"].as_array_mut().unwrap().iter_mut().for_each(sign_item);
            *body = envelope.to_string().into_bytes();
            Vec::new()
        }
        "worldpay" => {
            let mut mac = Hmac::<Sha256>::new_from_slice(b"secret").unwrap();
            mac.update(body);
            let value = format!("key0/SHA256/00,key1/SHA256/{}", hex::encode(mac.finalize().into_bytes()));
            vec![("Event-Signature".to_owned(), value)]
        }
        "flutterwave-v3" => vec![("verif-hash".to_owned(), "secret".to_owned())],
        name => contract.sign(&Secret::new(secret(name)), "msg_1", body, NOW).unwrap(),
    }
}

fn sign_item(item: &mut Value) {
    let item = &mut item["NotificationRequestItem"];
    let text =
        |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned).replace("null", "");
    let signed = [
        &item["pspReference"],
        &item["originalReference"],
        &item["merchantAccountCode"],
        &item["merchantReference"],
        &item["amount"]["value"],
        &item["amount"]["currency"],
        &item["eventCode"],
        &item["success"],
    ]
    .map(text)
    .join(":");
    let mut mac = Hmac::<Sha256>::new_from_slice(&hex::decode(HEX_KEY).unwrap()).unwrap();
    mac.update(signed.as_bytes());
    item["additionalData"]["hmacSignature"] = json!(STANDARD.encode(mac.finalize().into_bytes()));
}

/// The body that a sample file stands for. Paddle's samples are the `data` of an event that the file's name tells.
fn body(folder: &str, name: &str, bytes: Vec<u8>) -> Vec<u8> {
    if folder == "braintree" {
        let pairs = [("bt_signature", "public|00".to_owned()), ("bt_payload", STANDARD.encode(&bytes))];
        return form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish().into_bytes();
    }
    let Some(kind) = name.strip_prefix("data_").filter(|_| folder == "paddle") else { return bytes };
    let kind = kind.trim_end_matches(".json").replacen('_', ".", 1);
    let data: Value = serde_json::from_slice(&bytes).unwrap();
    json!({ "event_id": "evt_1", "event_type": kind, "data": data, "notification_id": "ntf_1" })
        .to_string()
        .into_bytes()
}

fn read(contract: &Contract, mut body: Vec<u8>) -> String {
    if UNSIGNED.contains(&contract.provider().as_str()) {
        return shown(contract.read_sample(&body));
    }
    let headers = sign(contract, &mut body);
    let lines: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    let secrets = [Secret::new(secret(contract.provider().as_str()))];
    let verifier = Verifier::new(contract, &secrets).unwrap();
    let verified = verifier.verify(&lines, &body, NOW).unwrap_or_else(|refused| panic!("{refused}"));
    shown(verified.read())
}

fn shown(delivery: Delivery) -> String {
    match delivery {
        Delivery::Test => "a test notification\n".to_owned(),
        Delivery::Events(notices) => notices.iter().fold(String::new(), |mut text, notice| {
            writeln!(text, "{}", show(notice)).unwrap();
            text
        }),
    }
}

fn samples(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(folder);
    let mut files: Vec<_> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        let delivery = !["api_", "object_"].iter().any(|prefix| name.starts_with(prefix));
        let kind = [".json", ".xml", "_body.txt"].iter().any(|ending| name.ends_with(ending));
        kind && delivery && !NO_DELIVERIES.contains(&name) || folder == "adyen" && name == "chargeback.json"
    });
    files.sort();
    files
}

/// The contract of a sample: some folders hold those of two.
fn whose<'a>(folder: &'a str, file: &str) -> &'a str {
    match folder {
        "flutterwave" if file.contains("_v3_") => "flutterwave-v3",
        "adyen" if file.starts_with("platform_") || file.starts_with("tokenization") => "adyen-platform",
        "mollie" if file.ends_with(".txt") => "mollie-classic",
        other => other,
    }
}

#[test]
fn every_sample_reads_to_what_its_snapshot_says() {
    let snapshots = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    let update = std::env::var_os("UPDATE_SNAPSHOTS").is_some();
    let (mut differing, mut count) = (Vec::new(), 0);
    for (folder, name, overlay) in PROVIDERS {
        let contract = crate::support::contract(name, overlay);
        for path in samples(folder) {
            let file = path.file_name().unwrap().to_str().unwrap();
            if whose(folder, file) != *name {
                continue;
            }
            let text = read(&contract, body(folder, file, std::fs::read(&path).unwrap()));
            let snapshot = snapshots.join(folder).join(Path::new(file).with_extension("txt"));
            count += 1;
            if update {
                std::fs::create_dir_all(snapshot.parent().unwrap()).unwrap();
                std::fs::write(&snapshot, &text).unwrap();
            } else if std::fs::read_to_string(&snapshot).unwrap_or_default() != text {
                differing.push(format!("{folder}/{file}:\n{text}"));
            }
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    assert!(count >= 105, "{count} samples: some are not found");
}
