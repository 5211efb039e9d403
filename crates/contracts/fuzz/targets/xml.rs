//! XML of any bytes inside Braintree's payload: always read, never expanded, never deep.
#![no_main]

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use libfuzzer_sys::fuzz_target;
use paidonce_contracts::{Contract, Delivery};

static BRAINTREE: LazyLock<Contract> =
    LazyLock::new(|| Contract::builtin("braintree", None).expect("shipped"));

fuzz_target!(|data: &[u8]| {
    let payload = STANDARD.encode(data).replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
    let body = format!("bt_signature=a%7C00&bt_payload={payload}");
    match BRAINTREE.read_sample(body.as_bytes()) {
        Delivery::Events(notices) => assert_eq!(notices.len(), 1),
        Delivery::Test => panic!("this contract has no test notification"),
    }
});
