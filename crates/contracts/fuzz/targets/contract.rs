//! Contract files of any text: a contract, or a mistake with its line; also as the settings over a shipped one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use paidonce_contracts::Contract;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Contract::parse(text, "fuzz.toml", None) {
        Ok(contract) => {
            let _ = contract.read_sample(br#"{"id":"1","type":"paid"}"#);
        }
        Err(error) => {
            let lines = text.lines().count() + 1;
            assert!(error.line().is_none_or(|line| (1..=lines).contains(&line)), "{error}");
        }
    }
    if let Ok(settings) = text.parse::<toml::Table>() {
        let _ = Contract::builtin("stripe", Some(&settings));
    }
});
