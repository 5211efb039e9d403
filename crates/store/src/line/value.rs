//! Values as JSON: digests as hexadecimal, amounts as text, bodies as text or base64. Nothing is ever a float.

/// A digest as 64 hexadecimal digits.
pub(super) mod digest {
    use paidonce_ledger::Digest;
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    pub(in crate::line) fn serialize<S: Serializer>(digest: &Digest, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(digest)
    }

    pub(in crate::line) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Digest, D::Error> {
        let text = String::deserialize(from)?;
        Digest::from_hex(&text).ok_or_else(|| D::Error::custom("a digest has 64 hexadecimal digits"))
    }
}

/// An i128 as text: JSON's numbers are not exact beyond 2^53 for most readers.
pub(super) mod amount {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    pub(in crate::line) fn serialize<S: Serializer>(amount: &i128, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(amount)
    }

    pub(in crate::line) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<i128, D::Error> {
        String::deserialize(from)?
            .parse()
            .map_err(|_| D::Error::custom("an amount is a whole number as text"))
    }
}

/// Money as `{"amount_minor":"1000","unit":"EUR"}`.
pub(super) mod money {
    use paidonce_ledger::{Money, MoneyUnit};
    use serde::de::{Deserializer, Error};
    use serde::ser::Serializer;
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Shape {
        #[serde(with = "super::amount")]
        amount_minor: i128,
        unit: MoneyUnit,
    }

    pub(in crate::line) fn serialize<S: Serializer>(money: &Money, to: S) -> Result<S::Ok, S::Error> {
        Shape { amount_minor: money.amount_minor(), unit: money.unit().clone() }.serialize(to)
    }

    pub(in crate::line) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Money, D::Error> {
        let Shape { amount_minor, unit } = Shape::deserialize(from)?;
        Money::new(amount_minor, unit).map_err(D::Error::custom)
    }
}

/// A body with its digest: as text if it is UTF-8, else as base64, else only the digest, if its bytes are not here.
pub(super) mod body {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use paidonce_ledger::{Body, Digest};
    use serde::de::{Deserializer, Error};
    use serde::ser::Serializer;
    use serde::{Deserialize, Serialize};

    #[derive(Serialize)]
    struct Written<'a> {
        #[serde(with = "super::digest")]
        digest: Digest,
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        base64: Option<String>,
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Read {
        #[serde(with = "super::digest")]
        digest: Digest,
        text: Option<String>,
        base64: Option<String>,
    }

    pub(in crate::line) fn serialize<S: Serializer>(body: &Body, to: S) -> Result<S::Ok, S::Error> {
        let digest = body.digest();
        let written = match std::str::from_utf8(body.bytes()) {
            _ if super::is_elsewhere(body) => Written { digest, text: None, base64: None },
            Ok(text) => Written { digest, text: Some(text), base64: None },
            Err(_) => Written { digest, text: None, base64: Some(STANDARD.encode(body.bytes())) },
        };
        written.serialize(to)
    }

    pub(in crate::line) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Body, D::Error> {
        let bytes = match Read::deserialize(from)? {
            Read { text: Some(text), base64: None, digest } => Some((text.into_bytes(), digest)),
            Read { text: None, base64: Some(text), digest } => {
                let bytes = STANDARD.decode(text).map_err(|_| D::Error::custom("a body is no base64"))?;
                Some((bytes, digest))
            }
            Read { text: None, base64: None, digest } => return Ok(Body::with_digest([], digest)),
            Read { .. } => None,
        };
        let (bytes, digest) = bytes.ok_or_else(|| D::Error::custom("a body is text or base64, not both"))?;
        let body = Body::new(bytes);
        if body.digest() == digest {
            Ok(body)
        } else {
            Err(D::Error::custom("a body is not what its digest says"))
        }
    }
}

/// A body that stands alone.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub(super) struct OneBody(#[serde(with = "body")] pub(super) paidonce_ledger::Body);

/// A body that may be absent.
pub(super) mod maybe_body {
    use paidonce_ledger::Body;
    use serde::de::Deserializer;
    use serde::ser::Serializer;
    use serde::{Deserialize, Serialize};

    use super::OneBody as Shape;

    pub(in crate::line) fn serialize<S: Serializer>(body: &Option<Body>, to: S) -> Result<S::Ok, S::Error> {
        body.clone().map(Shape).serialize(to)
    }

    pub(in crate::line) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Body>, D::Error> {
        Option::<Shape>::deserialize(from).map(|shape| shape.map(|Shape(body)| body))
    }
}

/// Money that may be absent.
pub(super) mod maybe_money {
    use paidonce_ledger::Money;
    use serde::de::Deserializer;
    use serde::ser::Serializer;
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    struct Shape(#[serde(with = "super::money")] Money);

    pub(in crate::line) fn serialize<S: Serializer>(money: &Option<Money>, to: S) -> Result<S::Ok, S::Error> {
        money.clone().map(Shape).serialize(to)
    }

    pub(in crate::line) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Money>, D::Error> {
        Option::<Shape>::deserialize(from).map(|shape| shape.map(|Shape(money)| money))
    }
}

/// Whether a body's bytes are not here, but in an archive or dropped: there are none, and its digest is not that of none.
pub(crate) fn is_elsewhere(body: &paidonce_ledger::Body) -> bool {
    body.bytes().is_empty() && body.digest() != paidonce_ledger::Digest::of_bytes(b"")
}
