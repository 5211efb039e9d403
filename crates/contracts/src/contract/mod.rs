//! A delivery contract: a data file that says how a provider delivers, parsed, merged with the source's own
//! settings, and checked until nothing is left to decide when a request comes.
//!
//! It knows no secret and no request: `verify` and `read` interpret it.

mod builtin;
pub(crate) mod format;
mod load;
pub(crate) mod lookup;
mod mistake;
mod overlay;
mod place;
pub(crate) mod plan;
pub(crate) mod recent;
pub(crate) mod signature;
mod strength;
pub(crate) mod table;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use paidonce_ledger::Name;

pub use format::{Certainty, Strength, Truth};
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
    lookup: Option<lookup::LookupRule>,
    recent: Option<recent::RecentRule>,
    acknowledgement: Acknowledgement,
    truth: Truth,
    redelivery: Redelivery,
    judged: strength::Judged,
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
    /// The statuses that the provider takes for "received"; empty: every 2xx.
    pub accepted: Vec<u16>,
    /// Statuses that do harm, because they end the retries or the endpoint.
    pub avoid: Vec<u16>,
    /// The status for what is not genuine, where the provider has one of its own.
    pub refused_status: Option<u16>,
}

/// How a provider delivers again what was not acknowledged, as far as that is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Redelivery {
    /// For how many seconds after the first try: as long as the receiver may be down.
    pub window_s: Option<u32>,
    /// Seconds from one try to the next; empty where it is not published.
    pub schedule_s: Vec<u32>,
    /// How many seconds the provider waits for an answer.
    pub timeout_s: Option<u32>,
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

    /// Whose word counts. With [`Truth::Fetch`] a notice names its payment and asserts nothing.
    #[must_use]
    pub fn truth(&self) -> Truth {
        self.0.truth
    }

    /// For how many hours the provider delivers again what was not acknowledged, where that is known.
    #[must_use]
    pub fn redelivery_window_h(&self) -> Option<u32> {
        self.0.redelivery.window_s.map(|seconds| seconds.div_ceil(3_600))
    }

    /// How the provider delivers again.
    #[must_use]
    pub fn redelivery(&self) -> &Redelivery {
        &self.0.redelivery
    }

    /// What an event's word is worth.
    #[must_use]
    pub fn strength(&self) -> Strength {
        self.0.judged.strength
    }

    /// Why no source may believe its events without asking the provider, if none may: `truth = "event"` is to be
    /// refused with this reason.
    #[must_use]
    pub fn refuses_truth_event(&self) -> Option<&str> {
        (self.strength() != Strength::Full).then_some(self.0.judged.why.as_str())
    }

    /// What the provider sends and its signature does not cover. None of it is read.
    #[must_use]
    pub fn uncovered(&self) -> &[String] {
        &self.0.signature.uncovered
    }

    /// Whether two deliveries of the same bytes may mean two changes, so that none is ever a duplicate.
    #[must_use]
    pub fn has_no_identity(&self) -> bool {
        matches!(self.0.plan.id, plan::IdRule::None)
    }

    /// Whether a source needs a secret. Where nothing is signed, or a certificate signs, it has none.
    #[must_use]
    pub fn needs_secret(&self) -> bool {
        match &self.0.signature.place {
            signature::SignaturePlace::Nowhere => false,
            signature::SignaturePlace::Code { code, .. } => code.covers_content(),
            _ => true,
        }
    }

    pub(crate) fn signature(&self) -> &Signature {
        &self.0.signature
    }

    pub(crate) fn lookup_rule(&self) -> Option<&lookup::LookupRule> {
        self.0.lookup.as_ref()
    }

    pub(crate) fn recent_rule(&self) -> Option<&recent::RecentRule> {
        self.0.recent.as_ref()
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
