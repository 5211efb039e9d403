//! Members that may be written short: a scalar or a list where a table could stand.

use std::fmt;

use serde::de::value::{BoolDeserializer, MapAccessDeserializer, SeqAccessDeserializer, StrDeserializer};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// One text, or a list of texts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Texts(pub(crate) Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Seen;
        impl<'de> Visitor<'de> for Seen {
            type Value = Texts;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of texts")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Texts, E> {
                Ok(Texts(vec![text.to_owned()]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Texts, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = items.next_element()? {
                    texts.push(text);
                }
                Ok(Texts(texts))
            }
        }
        from.deserialize_any(Seen)
    }
}

/// Reads a member that may be written short (a scalar or a list, as `S`) or as a table (as `T`).
///
/// Not serde's `untagged`, whose only message would be that nothing matched.
pub(super) fn short_or_table<'de, D, S, T, O>(
    from: D,
    expected: &'static str,
    short: fn(S) -> O,
    table: fn(T) -> Result<O, &'static str>,
) -> Result<O, D::Error>
where
    D: Deserializer<'de>,
    S: Deserialize<'de>,
    T: Deserialize<'de>,
{
    from.deserialize_any(ShortOrTable { expected, short, table })
}

struct ShortOrTable<S, T, O> {
    expected: &'static str,
    short: fn(S) -> O,
    table: fn(T) -> Result<O, &'static str>,
}

impl<'de, S: Deserialize<'de>, T: Deserialize<'de>, O> Visitor<'de> for ShortOrTable<S, T, O> {
    type Value = O;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<O, E> {
        S::deserialize(StrDeserializer::new(text)).map(self.short)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<O, E> {
        S::deserialize(BoolDeserializer::new(value)).map(self.short)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<O, A::Error> {
        S::deserialize(SeqAccessDeserializer::new(items)).map(self.short)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<O, A::Error> {
        (self.table)(T::deserialize(MapAccessDeserializer::new(members))?).map_err(de::Error::custom)
    }
}
