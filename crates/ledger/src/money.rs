//! Exact money: an integer number of minor units and the unit it is counted in. No floats, no conversion.

use std::fmt;

use crate::id::{IdError, Name};

/// The largest amount that is accepted, in minor units: 10^30 (a trillion ether, in wei).
pub const AMOUNT_MAX: i128 = 1_000_000_000_000_000_000_000_000_000_000;

/// The most decimals a unit of money may have. (Amounts would outgrow [`AMOUNT_MAX`] beyond it.)
pub const DECIMALS_MAX: u8 = 30;

/// A unit of money. Amounts in different units never mix: a token on two networks is two units.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub enum MoneyUnit {
    /// An ISO 4217 currency by its upper-case code; the exponent is ISO's.
    Iso {
        /// Three upper-case letters.
        code: [u8; 3],
        /// Decimals of the minor unit: 2 for EUR, 0 for JPY, 3 for KWD.
        exponent: u8,
    },
    /// An asset on a network.
    Asset {
        /// For example `eip155:1`.
        network: Name,
        /// For example `USDC` or a contract address.
        asset: Name,
        /// Decimals of its smallest unit.
        decimals: u8,
    },
}

/// What is wrong with an amount or a unit of money.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MoneyError {
    /// Not an ISO 4217 code with a minor unit.
    UnknownCurrency(String),
    /// A part of an asset's name is no identifier.
    Name(IdError),
    /// A unit has more than [`DECIMALS_MAX`] decimals, or its text is malformed.
    MalformedUnit(String),
    /// Not a plain decimal number.
    Malformed(String),
    /// Below zero.
    Negative,
    /// More decimals than the unit has.
    TooPrecise {
        /// Decimals that the text has.
        given: usize,
        /// Decimals that the unit has.
        allowed: u8,
    },
    /// Above [`AMOUNT_MAX`].
    TooLarge,
}

impl fmt::Display for MoneyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownCurrency(code) => {
                write!(f, "{code:?} is not an ISO 4217 currency with a minor unit")
            }
            Self::Name(error) => write!(f, "network or asset: {error}"),
            Self::MalformedUnit(text) => {
                write!(f, "{text:?} is no unit of money: write EUR, or network/asset/decimals")
            }
            Self::Malformed(text) => write!(f, "{text:?} is not a plain decimal number"),
            Self::Negative => write!(f, "an amount must not be negative"),
            Self::TooPrecise { given, allowed } => {
                write!(f, "the amount has {given} decimals, its unit has {allowed}")
            }
            Self::TooLarge => write!(f, "an amount is at most 10^30 minor units"),
        }
    }
}

impl std::error::Error for MoneyError {}

impl MoneyUnit {
    /// An ISO 4217 currency, in either case, with the exponent that ISO gives it.
    ///
    /// # Errors
    /// [`MoneyError::UnknownCurrency`] if ISO has no such code or gives it no minor unit (XAU, XXX).
    pub fn iso(code: &str) -> Result<Self, MoneyError> {
        let unknown = || MoneyError::UnknownCurrency(code.chars().take(16).collect());
        let upper = code.to_ascii_uppercase();
        let currency = iso_currency::Currency::from_code(&upper).ok_or_else(unknown)?;
        let exponent = currency.exponent().and_then(|e| u8::try_from(e).ok()).ok_or_else(unknown)?;
        let code = upper.as_bytes().try_into().map_err(|_| unknown())?;
        Ok(Self::Iso { code, exponent })
    }

    /// An asset on a network, counted in its smallest unit.
    ///
    /// # Errors
    /// A name that is no identifier or holds `/`, or more than [`DECIMALS_MAX`] decimals.
    pub fn asset(network: &str, asset: &str, decimals: u8) -> Result<Self, MoneyError> {
        if decimals > DECIMALS_MAX || network.contains('/') || asset.contains('/') {
            return Err(MoneyError::MalformedUnit(format!("{network}/{asset}/{decimals}")));
        }
        let name = |text| Name::new(text).map_err(MoneyError::Name);
        Ok(Self::Asset { network: name(network)?, asset: name(asset)?, decimals })
    }

    /// Reads what `Display` writes: `EUR`, or `network/asset/decimals`.
    ///
    /// # Errors
    /// [`MoneyError`] says what is wrong.
    pub fn parse(text: &str) -> Result<Self, MoneyError> {
        let malformed = || MoneyError::MalformedUnit(text.chars().take(64).collect());
        match text.split('/').collect::<Vec<_>>()[..] {
            [code] => Self::iso(code),
            [network, asset, decimals] => {
                Self::asset(network, asset, decimals.parse().map_err(|_| malformed())?)
            }
            _ => Err(malformed()),
        }
    }

    /// How many decimals the unit's minor unit has.
    #[must_use]
    pub fn decimals(&self) -> u8 {
        match self {
            Self::Iso { exponent, .. } => *exponent,
            Self::Asset { decimals, .. } => *decimals,
        }
    }
}

impl fmt::Display for MoneyUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Iso { code, .. } => f.write_str(std::str::from_utf8(code).unwrap_or("???")),
            Self::Asset { network, asset, decimals } => write!(f, "{network}/{asset}/{decimals}"),
        }
    }
}

impl fmt::Debug for MoneyUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl TryFrom<String> for MoneyUnit {
    type Error = MoneyError;
    fn try_from(text: String) -> Result<Self, MoneyError> {
        Self::parse(&text)
    }
}

impl From<MoneyUnit> for String {
    fn from(unit: MoneyUnit) -> Self {
        unit.to_string()
    }
}

/// An amount of money: never negative, at most [`AMOUNT_MAX`]. There is no `+` across units.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Money {
    #[cfg_attr(feature = "serde", serde(with = "decimal"))]
    amount_minor: i128,
    unit: MoneyUnit,
}

impl Money {
    /// `amount_minor` minor units of `unit`.
    ///
    /// # Errors
    /// [`MoneyError::Negative`] or [`MoneyError::TooLarge`].
    pub fn new(amount_minor: i128, unit: MoneyUnit) -> Result<Self, MoneyError> {
        if amount_minor < 0 {
            return Err(MoneyError::Negative);
        }
        if amount_minor > AMOUNT_MAX {
            return Err(MoneyError::TooLarge);
        }
        Ok(Self { amount_minor, unit })
    }

    /// Reads decimal text in major units, exactly: `"599.80"` EUR is 59980 cents.
    ///
    /// # Errors
    /// Signs, exponents, blanks, more decimals than the unit has (trailing zeros included) or too many digits.
    pub fn parse(text: &str, unit: MoneyUnit) -> Result<Self, MoneyError> {
        let malformed = || MoneyError::Malformed(text.chars().take(64).collect());
        if text.starts_with('-') {
            return Err(MoneyError::Negative);
        }
        let (whole, fraction) = match text.split_once('.') {
            Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
            Some(_) => return Err(malformed()),
            None => (text, ""),
        };
        if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
            return Err(malformed());
        }
        let allowed = unit.decimals();
        if fraction.len() > usize::from(allowed) {
            return Err(MoneyError::TooPrecise { given: fraction.len(), allowed });
        }
        let padding = usize::from(allowed) - fraction.len();
        let digits = whole.bytes().chain(fraction.bytes()).chain(std::iter::repeat_n(b'0', padding));
        let mut amount: i128 = 0;
        for digit in digits {
            // AMOUNT_MAX * 10 + 9 fits in an i128, so checking after each digit is enough.
            amount = amount * 10 + i128::from(digit - b'0');
            if amount > AMOUNT_MAX {
                return Err(MoneyError::TooLarge);
            }
        }
        Self::new(amount, unit)
    }

    /// Reads an integer number of minor units, written in decimal digits.
    ///
    /// # Errors
    /// Anything but digits, or more than [`AMOUNT_MAX`].
    pub fn parse_minor(text: &str, unit: MoneyUnit) -> Result<Self, MoneyError> {
        if text.starts_with('-') {
            return Err(MoneyError::Negative);
        }
        if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
            return Err(MoneyError::Malformed(text.chars().take(64).collect()));
        }
        let significant = text.trim_start_matches('0');
        if significant.len() > 31 {
            return Err(MoneyError::TooLarge);
        }
        Self::new(significant.parse().unwrap_or(0), unit)
    }

    /// The amount in minor units.
    #[must_use]
    pub fn amount_minor(&self) -> i128 {
        self.amount_minor
    }

    /// What the amount counts.
    #[must_use]
    pub fn unit(&self) -> &MoneyUnit {
        &self.unit
    }

    /// The amount in major units as exact decimal text, all decimals written: `"599.80"`.
    #[must_use]
    pub fn to_decimal(&self) -> String {
        let decimals = usize::from(self.unit.decimals());
        let digits = format!("{:0width$}", self.amount_minor, width = decimals + 1);
        if decimals == 0 {
            return digits;
        }
        let (whole, fraction) = digits.split_at(digits.len() - decimals);
        format!("{whole}.{fraction}")
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.unit {
            MoneyUnit::Iso { .. } => write!(f, "{} {}", self.to_decimal(), self.unit),
            MoneyUnit::Asset { network, asset, .. } => {
                write!(f, "{} {asset} on {network}", self.to_decimal())
            }
        }
    }
}

impl fmt::Debug for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Amounts as decimal text: wei overflow what most JSON readers call a number.
#[cfg(feature = "serde")]
pub(crate) mod decimal {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(amount: &i128, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(amount)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<i128, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eur() -> MoneyUnit {
        MoneyUnit::iso("EUR").unwrap()
    }

    #[test]
    fn b53_decimal_text_is_read_exactly() {
        for (text, minor) in
            [("599.80", 59_980), ("19.99", 1_999), ("0.29", 29), ("4.35", 435), ("7", 700), ("7.5", 750)]
        {
            assert_eq!(Money::parse(text, eur()).unwrap().amount_minor(), minor, "{text}");
        }
        let satoshi = MoneyUnit::asset("bitcoin", "BTC", 8).unwrap();
        assert_eq!(Money::parse("0.01741", satoshi).unwrap().amount_minor(), 1_741_000);
    }

    #[test]
    fn more_decimals_than_the_unit_has_are_refused() {
        let error = Money::parse("1.005", eur()).unwrap_err();
        assert_eq!(error, MoneyError::TooPrecise { given: 3, allowed: 2 });
        assert!(Money::parse("1.0", MoneyUnit::iso("JPY").unwrap()).is_err());
    }

    #[test]
    fn what_is_not_plain_decimal_text_is_refused() {
        for text in ["", ".5", "5.", "+1", "1e3", " 1", "1 ", "1,5", "0x1", "١"] {
            assert!(matches!(Money::parse(text, eur()), Err(MoneyError::Malformed(_))), "{text:?}");
        }
        assert_eq!(Money::parse("-0.01", eur()), Err(MoneyError::Negative));
    }

    #[test]
    fn b51_exponents_come_from_iso() {
        for (code, exponent) in [("JPY", 0), ("KRW", 0), ("VND", 0), ("eur", 2), ("KWD", 3)] {
            assert_eq!(MoneyUnit::iso(code).unwrap().decimals(), exponent, "{code}");
        }
        assert!(MoneyUnit::iso("EURO").is_err());
        assert!(MoneyUnit::iso("QQQ").is_err());
    }

    #[test]
    fn amounts_reach_ten_to_the_thirty_and_no_further() {
        let wei = MoneyUnit::asset("eip155:1", "ETH", 18).unwrap();
        let most = Money::parse("1000000000000", wei.clone()).unwrap();
        assert_eq!(most.amount_minor(), AMOUNT_MAX);
        assert_eq!(most.to_string(), "1000000000000.000000000000000000 ETH on eip155:1");
        assert_eq!(Money::parse("1000000000000.000000000000000001", wei.clone()), Err(MoneyError::TooLarge));
        assert_eq!(Money::parse_minor(&"9".repeat(60), wei.clone()), Err(MoneyError::TooLarge));
        assert_eq!(Money::parse_minor(&AMOUNT_MAX.to_string(), wei).unwrap(), most);
    }

    #[test]
    fn units_round_trip_as_text() {
        for text in ["EUR", "JPY", "eip155:1/USDC/6"] {
            assert_eq!(MoneyUnit::parse(text).unwrap().to_string(), text);
        }
        assert!(MoneyUnit::parse("eip155:1/USDC/31").is_err());
        assert!(MoneyUnit::parse("a/b").is_err());
    }
}
