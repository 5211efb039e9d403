//! A delivery contract: a data file that says how a provider delivers, parsed, merged with the source's own
//! settings, and checked until nothing is left to decide when a request comes.
//!
//! It knows no secret and no request: `verify` and `read` interpret it.

mod builtin;
pub(crate) mod format;
mod load;
mod mistake;
mod overlay;
pub(crate) mod plan;
pub(crate) mod signature;
pub(crate) mod table;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use paidonce_ledger::Name;

pub use format::Certainty;
pub use mistake::ContractError;

use plan::Plan;
use signature::Signature;

/// A checked contract. Cloning it is cheap.
#[derive(Clone)]
pub struct Contract(Arc<Checked>);

struct Checked {
    provider: Name,
    title: String,
    docs: Vec<String>,
    certainty: BTreeMap<String, Certainty>,
    signature: Signature,
    plan: Plan,
    acknowledgement: Acknowledgement,
    redelivery_window_h: Option<u32>,
}

/// What this provider takes for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acknowledgement {
    /// The status of everything that was stored, duplicates included.
    pub status: u16,
    /// The body, usually empty.
    pub body: String,
    /// The status where the same event came with other content.
    pub conflict_status: u16,
}

impl Contract {
    /// The names of the contracts that are shipped.
    pub fn names() -> impl Iterator<Item = &'static str> {
        builtin::CONTRACTS.iter().map(|(name, _)| *name)
    }

    /// The text of a shipped contract, to read or to copy.
    #[must_use]
    pub fn builtin_text(name: &str) -> Option<&'static str> {
        builtin::CONTRACTS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    /// A shipped contract, with the source's own settings over it.
    ///
    /// # Errors
    /// No contract of that name is shipped, or the settings are wrong or do not complete it.
    pub fn builtin(name: &str, overlay: Option<&toml::Table>) -> Result<Self, ContractError> {
        let Some(text) = Self::builtin_text(name) else {
            let names: Vec<_> = Self::names().collect();
            let message = format!("no contract of this name is shipped; there are {}", names.join(", "));
            return Err(ContractError::new(name, None, message));
        };
        Self::parse(text, &format!("{name}.toml"), overlay)
    }

    /// Reads a contract's text. `file` is how messages name it; the tables of `overlay` are merged over it,
    /// `[[event]]` by type.
    ///
    /// # Errors
    /// The first mistake, with file, line, member, and what to write instead.
    pub fn parse(text: &str, file: &str, overlay: Option<&toml::Table>) -> Result<Self, ContractError> {
        load::parse(text, file, overlay).map(|checked| Self(Arc::new(checked)))
    }

    /// Whose ids these are.
    #[must_use]
    pub fn provider(&self) -> &Name {
        &self.0.provider
    }

    /// What the contract calls itself, for people.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.0.title
    }

    /// Where its facts can be read.
    #[must_use]
    pub fn docs(&self) -> &[String] {
        &self.0.docs
    }

    /// How well each group of its facts is known.
    #[must_use]
    pub fn certainty(&self) -> &BTreeMap<String, Certainty> {
        &self.0.certainty
    }

    /// The types that are not ignored. Empty means that a source moves nothing until its settings bring some.
    pub fn event_types(&self) -> impl Iterator<Item = &str> {
        self.0.plan.table.keys().map(String::as_str)
    }

    /// What to answer.
    #[must_use]
    pub fn acknowledgement(&self) -> &Acknowledgement {
        &self.0.acknowledgement
    }

    /// For how many hours the provider delivers again what was not acknowledged, where that is known.
    #[must_use]
    pub fn redelivery_window_h(&self) -> Option<u32> {
        self.0.redelivery_window_h
    }

    pub(crate) fn signature(&self) -> &Signature {
        &self.0.signature
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.0.plan
    }
}

impl fmt::Debug for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Contract({})", self.0.provider)
    }
}
