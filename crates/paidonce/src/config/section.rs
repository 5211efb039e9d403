//! One table of the file while it is read. Asking for a key is what makes it known: whatever was not asked for
//! when the section is done is refused, with the asked-for keys as suggestions. So no list of keys is kept.

use std::cell::RefCell;
use std::ops::{Range, RangeInclusive};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::suggest::suggest;

/// Mistakes by their place in the file's text.
pub(super) type Mistakes = RefCell<Vec<(Range<usize>, String)>>;

/// A table under a name.
pub(super) struct Section<'a> {
    name: &'a str,
    table: Option<&'a DeTable<'a>>,
    span: Range<usize>,
    asked: RefCell<Vec<&'static str>>,
    mistakes: &'a Mistakes,
}

/// A text and its place.
pub(super) struct Text<'a> {
    pub(super) text: &'a str,
    pub(super) span: Range<usize>,
}

impl<'a> Section<'a> {
    pub(super) fn new(
        name: &'a str,
        table: Option<&'a DeTable<'a>>,
        span: Range<usize>,
        mistakes: &'a Mistakes,
    ) -> Self {
        Self { name, table, span, asked: RefCell::default(), mistakes }
    }

    /// Where the section begins.
    pub(super) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    pub(super) fn wrong(&self, span: Range<usize>, message: impl Into<String>) {
        self.mistakes.borrow_mut().push((span, message.into()));
    }

    fn named(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }

    fn value(&self, key: &'static str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.asked.borrow_mut().push(key);
        self.table?.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value)
    }

    fn typed<T>(
        &self,
        key: &'static str,
        wanted: &str,
        read: impl FnOnce(&'a DeValue<'a>) -> Option<T>,
    ) -> Option<(T, Range<usize>)> {
        let value = self.value(key)?;
        let read = read(value.get_ref());
        if read.is_none() {
            let found = value.get_ref().type_str();
            self.wrong(value.span(), format!("{} must be {wanted}, not a TOML {found}", self.named(key)));
        }
        read.map(|read| (read, value.span()))
    }

    /// A text, if it is there.
    pub(super) fn text(&self, key: &'static str) -> Option<Text<'a>> {
        self.typed(key, "a text in quotes", DeValue::as_str).map(|(text, span)| Text { text, span })
    }

    /// A text that must be there. `example` is what the message says to write.
    pub(super) fn required(&self, key: &'static str, example: &str) -> Option<Text<'a>> {
        let there = self.table.is_some_and(|table| table.iter().any(|(name, _)| name.get_ref() == key));
        if !there {
            self.asked.borrow_mut().push(key);
            self.wrong(self.span(), format!("{} is missing: write {key} = {example}", self.named(key)));
            return None;
        }
        self.text(key)
    }

    /// A text that something else understands.
    pub(super) fn parsed<T, E: std::fmt::Display>(
        &self,
        key: &'static str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        let text = self.text(key)?;
        self.understood(key, text, parse)
    }

    /// What `parse` makes of a text that was read.
    pub(super) fn understood<T, E: std::fmt::Display>(
        &self,
        key: &str,
        text: Text<'a>,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        match parse(text.text) {
            Ok(value) => Some(value),
            Err(error) => {
                self.wrong(text.span, format!("{}: {error}", self.named(key)));
                None
            }
        }
    }

    /// A whole number within bounds.
    pub(super) fn number(&self, key: &'static str, default: u64, within: RangeInclusive<u64>) -> u64 {
        let parse = |value: &'a DeValue<'a>| {
            let integer = value.as_integer()?;
            i128::from_str_radix(integer.as_str(), integer.radix()).ok()
        };
        let Some((number, span)) = self.typed(key, "a whole number", parse) else { return default };
        let number = u64::try_from(number).ok().filter(|number| within.contains(number));
        number.unwrap_or_else(|| {
            let (least, most) = (within.start(), within.end());
            self.wrong(span, format!("{} must be between {least} and {most}", self.named(key)));
            default
        })
    }

    /// A TCP port, under the key `port`.
    pub(super) fn port(&self, default: u16) -> u16 {
        u16::try_from(self.number("port", default.into(), 1..=65_535)).unwrap_or(default)
    }

    /// One of a few words.
    pub(super) fn choice<T: Clone>(&self, key: &'static str, default: T, words: &[(&str, T)]) -> T {
        let Some(text) = self.text(key) else { return default };
        let found = words.iter().find(|(word, _)| *word == text.text);
        found.map(|(_, value)| value.clone()).unwrap_or_else(|| {
            let names: Vec<_> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
            self.wrong(text.span, format!("{} must be {}", self.named(key), names.join(" or ")));
            default
        })
    }

    /// Yes or no.
    pub(super) fn flag(&self, key: &'static str, default: bool) -> bool {
        self.typed(key, "true or false", DeValue::as_bool).map_or(default, |(flag, _)| flag)
    }

    /// A list of texts.
    pub(super) fn texts(&self, key: &'static str) -> Vec<Text<'a>> {
        let Some((array, _)) = self.typed(key, "a list of texts", DeValue::as_array) else {
            return Vec::new();
        };
        let mut texts = Vec::new();
        for value in array.iter() {
            match value.get_ref().as_str() {
                Some(text) => texts.push(Text { text, span: value.span() }),
                None => self.wrong(value.span(), format!("{} holds texts in quotes only", self.named(key))),
            }
        }
        texts
    }

    /// A table inside, as it is.
    pub(super) fn inner(&self, key: &'static str) -> Option<(&'a DeTable<'a>, Range<usize>)> {
        self.typed(key, "a table", DeValue::as_table)
    }

    /// A list of tables (`[[key]]`).
    pub(super) fn tables(&self, key: &'static str) -> Vec<(&'a DeTable<'a>, Range<usize>)> {
        let wanted = format!("written as [[{key}]]");
        let Some((array, _)) = self.typed(key, &wanted, DeValue::as_array) else { return Vec::new() };
        let mut tables = Vec::new();
        for value in array.iter() {
            match value.get_ref().as_table() {
                Some(table) => tables.push((table, value.span())),
                None => self.wrong(value.span(), format!("{key} must be {wanted}")),
            }
        }
        tables
    }

    /// Refuses what nobody asked for.
    pub(super) fn finish(self) {
        let asked = self.asked.borrow();
        for (key, _) in self.table.into_iter().flat_map(|table| table.iter()) {
            let name: &str = key.get_ref();
            if asked.contains(&name) {
                continue;
            }
            let hint = match suggest(name, asked.iter().copied()) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("known here: {}", asked.join(", ")),
            };
            let place = if self.name.is_empty() { String::new() } else { format!(" in {}", self.name) };
            self.wrong(key.span(), format!("unknown key {name}{place}; {hint}"));
        }
    }
}
