//! What is wrong with a contract: which member of which file, on which line, and what to write instead.
//!
//! A mistake is found in the merged contract, which has no lines; the line comes from looking its path up in the
//! file's own text. A path that the source's overlay brought is said to be the source's.

use std::fmt;

use toml::de::{DeTable, DeValue};

/// A contract that cannot be used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractError {
    file: String,
    line: Option<usize>,
    overlay: bool,
    message: String,
}

impl ContractError {
    pub(crate) fn new(file: &str, line: Option<usize>, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, overlay: false, message: message.into() }
    }

    pub(crate) fn in_overlay(file: &str, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: None, overlay: true, message: message.into() }
    }

    /// The line of the file, from 1, where the mistake is in the file.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.line
    }
}

impl fmt::Display for ContractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.overlay {
            write!(f, "the source's own settings for the contract {}: ", self.file)?;
        } else {
            write!(f, "{}", self.file)?;
            if let Some(line) = self.line {
                write!(f, ":{line}")?;
            }
            write!(f, ": ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for ContractError {}

/// One step from a table to a member, or from a list to an item.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// Where something stands in a contract.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Place(Vec<Step>);

impl Place {
    pub(crate) fn of(key: &str) -> Self {
        Self::default().key(key)
    }

    pub(crate) fn key(&self, key: &str) -> Self {
        let mut place = self.clone();
        place.0.push(Step::Key(key.to_owned()));
        place
    }

    pub(crate) fn index(&self, index: usize) -> Self {
        let mut place = self.clone();
        place.0.push(Step::Index(index));
        place
    }

    pub(crate) fn mistake(&self, message: impl Into<String>) -> Mistake {
        Mistake { place: self.clone(), message: message.into() }
    }

    /// The same place in the file, where the merge moved the event tables. `None` if the overlay brought it.
    fn in_file(&self, events: &[Option<usize>]) -> Option<Self> {
        let mut place = self.clone();
        if let [Step::Key(key), Step::Index(index), ..] = &mut place.0[..]
            && key == "event"
        {
            *index = events.get(*index).copied().flatten()?;
        }
        Some(place)
    }

    /// Whether the overlay states this place, or something above it that is no table.
    fn stated_in(&self, overlay: &toml::Table) -> bool {
        let mut steps = self.0.iter();
        let Some(Step::Key(first)) = steps.next() else { return false };
        let mut value = overlay.get(first);
        for step in steps {
            value = match (value, step) {
                (Some(toml::Value::Table(table)), Step::Key(key)) => table.get(key),
                (Some(_), _) => return true,
                (None, _) => return false,
            };
        }
        value.is_some()
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if key.contains('.') => {
                    write!(f, "{}\"{key}\"", if n > 0 { "." } else { "" })?
                }
                Step::Key(key) => write!(f, "{}{key}", if n > 0 { "." } else { "" })?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// Something wrong at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mistake {
    place: Place,
    message: String,
}

impl Mistake {
    /// Says in which text the mistake is, and on which line of it.
    pub(crate) fn located(
        self,
        text: &str,
        file: &str,
        overlay: Option<&toml::Table>,
        events: &[Option<usize>],
    ) -> ContractError {
        let message = format!("{}: {}", self.place, self.message);
        let Some(place) = self.place.in_file(events) else { return ContractError::in_overlay(file, message) };
        // An event entry that is in the file is the file's, whatever other entries the overlay brought.
        let may_be_stated = place.0.first() != Some(&Step::Key("event".to_owned()));
        if may_be_stated && overlay.is_some_and(|overlay| place.stated_in(overlay)) {
            return ContractError::in_overlay(file, message);
        }
        ContractError::new(file, line_of(text, &place), message)
    }
}

/// The line of a place, or of the nearest table around it that the text has.
fn line_of(text: &str, place: &Place) -> Option<usize> {
    let table = DeTable::parse(text).ok()?;
    let mut table: Option<&DeTable<'_>> = Some(table.get_ref());
    let mut value: Option<&DeValue<'_>> = None;
    let mut found = None;
    for step in &place.0 {
        let next = match (step, table, value) {
            (Step::Key(key), Some(table), _) => {
                let Some((name, next)) = table.get_key_value(key.as_str()) else { break };
                found = Some(name.span().start);
                next
            }
            (Step::Index(index), _, Some(value)) => {
                let Some(next) = value.get(*index) else { break };
                found = Some(next.span().start);
                next
            }
            _ => break,
        };
        value = Some(next.get_ref());
        table = next.get_ref().as_table();
    }
    found.map(|at| line_at(text, at))
}

/// The line, from 1, of a byte position.
pub(crate) fn line_at(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}
