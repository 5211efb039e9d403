//! Command lines of the sides: `--name value` pairs, nothing else.

use std::collections::BTreeMap;
use std::str::FromStr;

/// The pairs that a side was started with.
#[derive(Debug, Clone, Default)]
pub struct Arguments(BTreeMap<String, String>);

impl Arguments {
    /// Reads `--name value` pairs; a name that is followed by another name, or by nothing, has the value `yes`.
    #[must_use]
    pub fn of(words: impl IntoIterator<Item = String>) -> Self {
        let mut pairs = BTreeMap::new();
        let mut words = words.into_iter().peekable();
        while let Some(word) = words.next() {
            let Some(name) = word.strip_prefix("--") else { continue };
            let value = words.next_if(|next| !next.starts_with("--")).unwrap_or_else(|| "yes".to_owned());
            pairs.insert(name.to_owned(), value);
        }
        Self(pairs)
    }

    /// The process's own, without its name.
    #[must_use]
    pub fn own() -> Self {
        Self::of(std::env::args().skip(1))
    }

    /// Whether the name was given.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The value of a name, or `default`.
    ///
    /// # Errors
    /// The value is not of the wanted kind.
    pub fn get<T: FromStr>(&self, name: &str, default: T) -> Result<T, String> {
        let Some(text) = self.0.get(name) else { return Ok(default) };
        text.parse().map_err(|_| format!("--{name} {text}: that is no value for it"))
    }

    /// The text of a name.
    ///
    /// # Errors
    /// The name was not given.
    pub fn text(&self, name: &str) -> Result<&str, String> {
        self.0.get(name).map(String::as_str).ok_or_else(|| format!("--{name} is missing"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_and_bare_names_are_told_apart() {
        let words = ["--short", "--orders", "50", "--bench"].map(str::to_owned);
        let arguments = Arguments::of(words);
        assert!(arguments.has("short") && arguments.has("bench"));
        assert_eq!(arguments.get("orders", 1_u64), Ok(50));
        assert_eq!(arguments.get("rounds", 3_u64), Ok(3));
        assert!(arguments.get::<u64>("short", 1).is_err());
    }
}
