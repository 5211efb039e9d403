//! Bodies of any bytes, genuinely signed: always read, and read the same twice.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use paidonce_contracts::{Contract, Secret, Verifier};

static STRIPE: LazyLock<(Verifier, Secret)> = LazyLock::new(|| {
    let secret = Secret::new("whsec_fuzz");
    let contract = Contract::builtin("stripe", None).expect("shipped");
    (Verifier::new(&contract, std::slice::from_ref(&secret)).expect("a secret"), secret)
});

static OTHERS: LazyLock<Vec<Contract>> = LazyLock::new(|| {
    ["paypal", "nowpayments", "standard-webhooks"]
        .map(|name| Contract::builtin(name, None).expect("shipped"))
        .into()
});

fuzz_target!(|data: &[u8]| {
    let (verifier, secret) = &*STRIPE;
    let signed = verifier.contract().sign(secret, "", data, 1_700_000_000).expect("signs anything");
    let headers: Vec<(&str, &[u8])> = signed.iter().map(|(n, v)| (n.as_str(), v.as_bytes())).collect();
    let verified = verifier.verify(&headers, data, 1_700_000_000).expect("it is genuine");
    assert_eq!(verified.read(), verified.read());
    for contract in OTHERS.iter() {
        assert_eq!(contract.read_sample(data), contract.read_sample(data));
    }
    let nowpayments = Verifier::new(&OTHERS[1], std::slice::from_ref(secret)).expect("a secret");
    assert!(nowpayments.verify(&[("x-nowpayments-sig", b"00".as_slice())], data, 0).is_err());
});
