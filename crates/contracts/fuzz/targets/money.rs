//! Text as money: refused, or exact: what is printed reads back to the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use paidonce_ledger::{Money, MoneyUnit};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for code in ["EUR", "JPY", "BHD"] {
        let unit = MoneyUnit::iso(code).expect("a currency");
        if let Ok(money) = Money::parse(text, unit.clone()) {
            let printed = money.to_string();
            let amount = printed.strip_suffix(code).expect("the unit is last").trim_end();
            assert_eq!(Money::parse(amount, unit.clone()).as_ref(), Ok(&money));
        }
        if let Ok(money) = Money::parse_minor(text, unit.clone()) {
            assert_eq!(Money::parse_minor(&money.amount_minor().to_string(), unit).as_ref(), Ok(&money));
        }
    }
    let _ = MoneyUnit::iso(text);
});
