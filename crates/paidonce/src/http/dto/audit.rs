//! One thing that somebody did, as it is shown.

use paidonce_ledger::{Audit, AuditKey};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::clock::rfc3339;

/// Who did what, to what, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditShown {
    /// When, in RFC 3339.
    pub at: String,
    /// The API key's, the user's or the operating system user's name.
    pub by: String,
    /// The command's name.
    pub action: String,
    /// What it was done to.
    pub subject: String,
    /// The order that this concerned.
    pub order: Option<String>,
    /// The reason that was given.
    pub reason: Option<String>,
    /// The command's id.
    pub command: String,
}

impl AuditShown {
    pub(crate) fn of(key: &AuditKey, audit: &Audit) -> Self {
        Self {
            at: rfc3339(key.at),
            by: audit.by.to_string(),
            action: audit.action.to_string(),
            subject: audit.subject.clone(),
            order: audit.order.as_ref().map(ToString::to_string),
            reason: audit.reason.as_ref().map(ToString::to_string),
            command: key.command.to_string(),
        }
    }
}
