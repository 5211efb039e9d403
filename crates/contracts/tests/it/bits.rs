//! Every single bit of what is signed, flipped in turn: none is accepted.

use paidonce_contracts::Verifier;

use crate::support::{Headers, NOW, signed, source, stripe, verify};

const BODY: &[u8] = br#"{"id":"evt_1","type":"payment.succeeded","amount":1999}"#;

fn flip(bytes: &mut [u8], bit: usize) {
    bytes[bit / 8] ^= 1 << (bit % 8);
}

/// Flips every bit of the body, then of every header value; counts the flips.
fn attack(verifier: &Verifier, headers: &Headers) -> usize {
    let lines = |headers: &Vec<(String, Vec<u8>)>, body: &[u8]| {
        let lines: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect();
        verifier.verify(&lines, body, NOW).is_ok()
    };
    let genuine: Vec<_> = headers.iter().map(|(n, v)| (n.clone(), v.clone().into_bytes())).collect();
    assert!(lines(&genuine, BODY));
    let mut flips = 0;
    for bit in 0..BODY.len() * 8 {
        let mut body = BODY.to_vec();
        flip(&mut body, bit);
        assert!(!lines(&genuine, &body), "bit {bit} of the body");
        flips += 1;
    }
    for header in 0..genuine.len() {
        for bit in 0..genuine[header].1.len() * 8 {
            let mut forged = genuine.clone();
            flip(&mut forged[header].1, bit);
            assert!(!lines(&forged, BODY), "bit {bit} of {}", genuine[header].0);
            flips += 1;
        }
    }
    flips
}

#[test]
fn stripe_body_timestamp_and_signature() {
    let headers = signed(&stripe(), "whsec_test_secret", "", BODY);
    assert!(attack(&stripe(), &headers) > 1_000);
}

#[test]
fn standard_webhooks_body_id_timestamp_and_signature() {
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let verifier = source("standard-webhooks", "", &[secret]);
    let headers = signed(&verifier, secret, "msg_1", BODY);
    assert!(attack(&verifier, &headers) > 900);
}

#[test]
fn generic_body_and_signature() {
    let verifier = source("generic-hmac", "", &["secret"]);
    let headers = signed(&verifier, "secret", "", BODY);
    assert!(attack(&verifier, &headers) > 800);
}

/// Both mac sizes that the shipped contracts do not use.
#[test]
fn sha1_and_sha512() {
    for mac in ["hmac-sha1", "hmac-sha512"] {
        let verifier =
            source("generic-hmac", &format!("[signature]\nmac = '{mac}'\nencoding = 'base64'"), &["secret"]);
        let headers = signed(&verifier, "secret", "", BODY);
        assert!(attack(&verifier, &headers) > 600);
        assert!(verify(&source("generic-hmac", "", &["secret"]), &headers, BODY, NOW).is_err());
    }
}
