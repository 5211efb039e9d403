//! Money in JSON: decimal text and the unit it counts. A JSON number is refused, because most readers make a float
//! of it.

use std::fmt;

use paidonce_ledger::{Money, MoneyError, MoneyUnit};
use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An amount of money.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Amount {
    /// Decimal text in major units.
    #[serde(deserialize_with = "decimal_text")]
    #[schema(example = "19.90")]
    pub amount: String,
    /// An ISO 4217 code, or network/asset/decimals.
    #[schema(example = "EUR")]
    pub unit: String,
}

impl Amount {
    /// Writes money.
    #[must_use]
    pub fn of(money: &Money) -> Self {
        Self { amount: money.to_decimal(), unit: money.unit().to_string() }
    }

    /// Writes a figure that was added up, which may be larger than any one amount.
    #[must_use]
    pub fn of_minor(minor: i128, unit: &MoneyUnit) -> Self {
        Self { amount: decimal(minor, unit), unit: unit.to_string() }
    }

    /// Reads money.
    ///
    /// # Errors
    /// Which member is wrong, `amount` or `unit`, and why.
    pub fn money(&self) -> Result<Money, (&'static str, MoneyError)> {
        let unit = MoneyUnit::parse(&self.unit).map_err(|error| ("unit", error))?;
        Money::parse(&self.amount, unit).map_err(|error| ("amount", error))
    }
}

/// A figure in major units as exact decimal text.
#[must_use]
pub fn decimal(minor: i128, unit: &MoneyUnit) -> String {
    let decimals = usize::from(unit.decimals());
    let digits = format!("{:0width$}", minor.unsigned_abs(), width = decimals + 1);
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    let sign = if minor < 0 { "-" } else { "" };
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

fn decimal_text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    struct Text;
    impl Visitor<'_> for Text {
        type Value = String;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a decimal text in quotes, such as \"19.90\" (never a JSON number)")
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
            Ok(text.to_owned())
        }
    }
    from.deserialize_str(Text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_exactly() {
        let eur = MoneyUnit::iso("EUR").unwrap();
        assert_eq!(decimal(1_990, &eur), "19.90");
        assert_eq!(decimal(-5, &eur), "-0.05");
        assert_eq!(decimal(7, &MoneyUnit::iso("JPY").unwrap()), "7");
    }
}
