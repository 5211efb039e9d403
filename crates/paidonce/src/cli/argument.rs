//! Arguments that are more than a word: money, lines, references, payments, reasons, and where a key is kept.

use paidonce_ledger::{Money, MoneyUnit};

use crate::http::dto::{Amount, LineBody, PaymentNamed, ReferenceRequest, reason as checked_reason};
use crate::output::Failure;

/// Reads `19.90 EUR` or `0.5 eip155:1/USDC/6`.
pub(crate) fn amount(text: &str) -> Result<Amount, String> {
    let (amount, unit) = text
        .split_once(' ')
        .ok_or_else(|| format!("{text:?} is no amount of money: write \"19.90 EUR\", in quotes"))?;
    let unit = MoneyUnit::parse(unit.trim()).map_err(|error| error.to_string())?;
    let money = Money::parse(amount, unit).map_err(|error| error.to_string())?;
    Ok(Amount { amount: money.to_decimal(), unit: money.unit().to_string() })
}

/// Reads `sku=ebook,quantity=2`, or `ebook` for one of it.
pub(crate) fn line(text: &str) -> Result<LineBody, String> {
    let mut line = LineBody { sku: String::new(), quantity: 1 };
    for part in text.split(',') {
        match part.split_once('=') {
            Some(("sku", sku)) => sku.clone_into(&mut line.sku),
            Some(("quantity", quantity)) => {
                line.quantity = quantity.parse().map_err(|_| format!("{quantity:?} is no whole number"))?;
            }
            None => part.clone_into(&mut line.sku),
            Some((name, _)) => return Err(format!("a line has sku and quantity, not {name:?}")),
        }
    }
    if line.sku.is_empty() {
        return Err("a line needs a sku: write sku=ebook,quantity=1".to_owned());
    }
    Ok(line)
}

/// Reads `SOURCE=ID`, or `SOURCE=ID=AMOUNT` with the amount that is expected of it.
pub(crate) fn reference(text: &str) -> Result<ReferenceRequest, String> {
    let (source, rest) = text
        .split_once('=')
        .ok_or_else(|| format!("{text:?} is no reference: write SOURCE=ID, as in stripe=pi_123"))?;
    let (id, expected) = match rest.split_once('=') {
        Some((id, money)) => (id, Some(amount(money)?)),
        None => (rest, None),
    };
    Ok(ReferenceRequest { source: source.to_owned(), id: id.to_owned(), expected })
}

/// Reads `SOURCE=ID`, or `ID` for a payment that was noted as paid outside.
pub(crate) fn payment(text: &str) -> Result<PaymentNamed, String> {
    let (source, id) = match text.split_once('=') {
        Some((source, id)) => (Some(source.to_owned()), id),
        None => (None, text),
    };
    Ok(PaymentNamed { source, id: id.to_owned() })
}

/// Reads a reason: everything that a person does has one (P16).
pub(crate) fn reason(text: &str) -> Result<String, String> {
    checked_reason(text).map(str::to_owned)
}

/// Reads a secret from where the option `--name` says it is. It is never an argument itself: other users could see it.
pub(crate) fn secret_text(name: &str, place: &str) -> Result<String, Failure> {
    let usage = |what: String| Failure::usage(what, format!("write --{name} env:NAME or --{name} file:PATH"));
    match place.split_once(':') {
        Some(("env", name)) => {
            std::env::var(name).map_err(|_| usage(format!("the environment variable {name} is not set")))
        }
        Some(("file", path)) => std::fs::read_to_string(path)
            .map(|text| text.trim_end().to_owned())
            .map_err(|error| usage(format!("{path} cannot be read: {error}"))),
        _ => Err(usage(format!("--{name} names no place"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_an_exact_amount_and_a_unit() {
        let read = amount("19.9 eur").unwrap();
        assert_eq!((read.amount.as_str(), read.unit.as_str()), ("19.90", "EUR"));
        for text in ["19.90", "EUR 19.90", "19.905 EUR", "-1 EUR", "1,5 EUR", "1 XYZ"] {
            assert!(amount(text).is_err(), "{text}");
        }
    }

    #[test]
    fn lines_and_references_are_read() {
        let read = line("sku=ebook,quantity=2").unwrap();
        assert_eq!((read.sku.as_str(), read.quantity), ("ebook", 2));
        assert_eq!(line("ebook").unwrap().quantity, 1);
        assert!(line("quantity=2").is_err());
        assert!(line("sku=a,colour=red").is_err());
        let read = reference("stripe=pi_1=10.00 EUR").unwrap();
        assert_eq!((read.source.as_str(), read.id.as_str()), ("stripe", "pi_1"));
        assert_eq!(read.expected.unwrap().amount, "10.00");
        assert!(reference("pi_1").is_err());
        let read = payment("stripe=pi_1").unwrap();
        assert_eq!((read.source.as_deref(), read.id.as_str()), (Some("stripe"), "pi_1"));
        assert_eq!(payment("receipt-7").unwrap().source, None);
    }

    #[test]
    fn a_reason_says_something() {
        assert_eq!(reason(" asked to ").unwrap(), "asked to");
        for text in ["", " ", "a\nb", &"x".repeat(1_001)] {
            assert!(reason(text).is_err(), "{text:?}");
        }
    }
}
