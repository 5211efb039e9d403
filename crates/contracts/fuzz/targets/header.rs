//! Signature headers of any shape: refused, never a panic. No input forges a MAC.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use paidonce_contracts::{Contract, Secret, Verifier};

static VERIFIERS: LazyLock<Vec<(Verifier, &str)>> = LazyLock::new(|| {
    let made = |name, secret| {
        let contract = Contract::builtin(name, None).expect("shipped");
        Verifier::new(&contract, &[Secret::new(secret)]).expect("a secret of its form")
    };
    vec![
        (made("stripe", "whsec_fuzz"), "stripe-signature"),
        (made("standard-webhooks", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), "webhook-signature"),
        (made("nowpayments", "fuzz"), "x-nowpayments-sig"),
    ]
});

fuzz_target!(|data: &[u8]| {
    for (verifier, name) in VERIFIERS.iter() {
        let one = [(*name, data), ("webhook-id", b"msg_1".as_slice()), ("webhook-timestamp", b"1700000000")];
        assert!(verifier.verify(&one, b"{}", 1_700_000_000).is_err());
        // The same bytes as the other headers, and a header that stands there twice.
        let other = [
            (*name, b"v1,AAAA".as_slice()),
            ("webhook-id", data),
            ("webhook-timestamp", data),
            (*name, data),
        ];
        assert!(verifier.verify(&other, b"{}", 1_700_000_000).is_err());
    }
});
