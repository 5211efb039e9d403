//! Forms of any bytes, and challenges of any text: refused, never a panic, and nothing free is ever signed.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use paidonce_contracts::{Contract, Secret, Verifier};

static BRAINTREE: LazyLock<Verifier> = LazyLock::new(|| {
    let settings = "[signature.values]\npublic_key = 'pub'".parse().expect("TOML");
    let contract = Contract::builtin("braintree", Some(&settings)).expect("shipped");
    Verifier::new(&contract, &[Secret::new("private")]).expect("a secret")
});

fuzz_target!(|data: &[u8]| {
    assert!(BRAINTREE.verify(&[], data, 0).is_err());
    let _ = BRAINTREE.contract().read_sample(data);
    if let Ok(query) = std::str::from_utf8(data)
        && let Ok(answer) = BRAINTREE.challenge(query)
    {
        assert!(answer.starts_with("pub|") && answer.len() == 44 && query.contains("bt_challenge"));
    }
});
