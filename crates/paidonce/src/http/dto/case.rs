//! Cases as they are shown. The second body of a conflict is not part of it.

use paidonce_ledger::{Case, CaseKey};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
