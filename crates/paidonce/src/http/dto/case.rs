//! Cases as they are shown, and how one is decided. The second body of a conflict is not part of it.

use paidonce_ledger::{Case, CaseKey, Decision, OrderId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::mistake::Mistakes;
use crate::clock::rfc3339;

/// How a case ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ResolutionShown {
    /// When.
    pub at: String,
    /// Who; null if later facts settled it.
    pub by: Option<String>,
    /// What was said.
    pub note: String,
}

/// What a person may decide about a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DecisionWord {
    /// It is right as it is.
    Accept,
    /// It is wrong, and is dealt with elsewhere.
    Reject,
    /// It stays open; the reason is a note.
    Note,
    /// Its payment serves `order`.
    Bind,
}

/// A decision about a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ResolveRequest {
    /// What.
    pub decision: DecisionWord,
    /// To bind, and only then: the order that the case's payment serves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// For the audit and the case.
    #[schema(example = "the customer paid the rest in the shop")]
    pub reason: String,
}

/// A case that was decided about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Resolved {
    /// Its short name.
    pub case: String,
    /// What was decided.
    pub decision: DecisionWord,
    /// The order that its payment was bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// Whether somebody still has to look.
    pub open: bool,
}

impl ResolveRequest {
    /// The decision.
    ///
    /// # Errors
    /// An order that is missing, of no use, or none.
    pub fn to_decision(&self) -> Result<Decision, Mistakes> {
        let mut mistakes = Mistakes::default();
        let order = self.order.as_ref().map(|id| mistakes.noting("order", OrderId::new(id)));
        let decision = match (self.decision, order) {
            (DecisionWord::Accept, None) => Some(Decision::Accept),
            (DecisionWord::Reject, None) => Some(Decision::Reject),
            (DecisionWord::Note, None) => Some(Decision::Note),
            (DecisionWord::Bind, Some(order)) => order.map(Decision::Bind),
            (DecisionWord::Bind, None) => {
                mistakes.add("order", "say which order its payment serves");
                None
            }
            (_, Some(_)) => {
                mistakes.add("order", "only the decision bind takes an order");
                None
            }
        };
        decision.ok_or(mistakes)
    }

    /// What is answered once it is decided.
    #[must_use]
    pub fn resolved(&self, handle: &str) -> Resolved {
        let open = self.decision == DecisionWord::Note;
        Resolved { case: handle.to_owned(), decision: self.decision, order: self.order.clone(), open }
    }
}

/// Something held for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CaseShown {
    /// Its short name.
    pub handle: String,
    /// Why it was opened, as a stable code.
    #[schema(example = "amount_short")]
    pub reason: String,
    /// What it is about.
    pub subject: String,
    /// One sentence with the figures.
    pub detail: String,
    /// The order it concerns, where one is known.
    pub order: Option<String>,
    /// When it was opened.
    pub opened_at: String,
    /// Whether somebody still has to look.
    pub open: bool,
    /// How it ended.
    pub resolution: Option<ResolutionShown>,
}

impl CaseShown {
    /// Writes a case.
    #[must_use]
    pub fn of(key: &CaseKey, case: &Case) -> Self {
        let resolution = case.resolution.as_ref().map(|end| ResolutionShown {
            at: rfc3339(end.at),
            by: end.by.as_ref().map(ToString::to_string),
            note: end.note.clone(),
        });
        Self {
            handle: key.handle(),
            reason: key.reason.as_str().to_owned(),
            subject: key.subject.to_string(),
            detail: case.detail.clone(),
            order: case.order.as_ref().map(ToString::to_string),
            opened_at: rfc3339(case.opened_at),
            open: case.resolution.is_none(),
            resolution,
        }
    }
}
