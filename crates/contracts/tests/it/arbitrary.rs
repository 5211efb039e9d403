//! Whatever comes: an answer, never a panic, and nothing accepted that was not signed.

use paidonce_contracts::{Delivery, Verifier};
use proptest::prelude::*;

use crate::support::{NOW, delivery, signed, source, stripe, verify};

const SVIX: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn standard() -> Verifier {
    source("standard-webhooks", "", &[SVIX])
}

/// Header values, often with the pieces that the grammars look for.
fn value() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "t=",
        "v1=",
        "v1,",
        "v1a,",
        ",",
        " ",
        "=",
        "1700000000",
        "00ff",
        "AAAA",
        "é",
        "-",
    ]);
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat().into_bytes()),
    ]
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "stripe-signature",
        "Webhook-Id",
        "webhook-timestamp",
        "webhook-signature",
        "svix-id",
        "svix-signature",
    ])
    .prop_map(str::to_owned)
}

/// JSON-like bodies around the members that the contracts read.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"id\":\"evt_1\"",
        "\"type\":\"charge.refunded\"",
        "\"data\":{\"object\":{",
        "\"payment_intent\":",
        "\"amount_refunded\":",
        "\"currency\":\"eur\"",
        "\"refunds\":{\"data\":[",
        "null",
        "-1",
        "1e400",
        "\"x\"",
        "}}",
        "]}",
        "\u{feff}",
        "\\",
        "\"",
    ]);
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat().into_bytes()),
    ]
}

proptest! {
    #[test]
    fn unsigned_requests_are_refused(
        headers in prop::collection::vec((name(), value()), 0..5),
        body in body(),
        now in any::<i64>(),
    ) {
        let lines: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect();
        for verifier in [stripe(), standard()] {
            prop_assert!(verifier.verify(&lines, &body, now).is_err());
        }
    }

    #[test]
    fn signed_requests_are_verified_and_read(body in body(), id in "[ -~]{0,12}") {
        let stripe = stripe();
        let headers = signed(&stripe, "whsec_test_secret", "", &body);
        prop_assert!(matches!(delivery(&stripe, &headers, &body), Delivery::Events(notices) if notices.len() == 1));
        let standard = standard();
        let headers = signed(&standard, SVIX, &id, &body);
        // An id of nothing is no header.
        if !id.is_empty() {
            prop_assert!(matches!(delivery(&standard, &headers, &body), Delivery::Events(notices) if notices.len() == 1));
        }
        let mut other = body.clone();
        other.push(b' ');
        prop_assert!(verify(&standard, &headers, &other, NOW).is_err());
    }
}
