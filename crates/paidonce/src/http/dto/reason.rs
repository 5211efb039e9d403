//! Why a person does something: one line for the audit, asked for by everything that an operator does (P16).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The most bytes a reason may have.
const REASON_MAX: usize = 1_000;

/// Why, where nothing else is to be said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReasonRequest {
    /// For the audit.
    #[schema(example = "the customer changed their mind")]
    pub reason: String,
}

/// A reason that says something, without the blanks around it.
///
/// # Errors
/// It is empty, too long, or more than a line.
pub fn reason(text: &str) -> Result<&str, String> {
    let text = text.trim();
    if text.is_empty() || text.len() > REASON_MAX || text.chars().any(char::is_control) {
        return Err(format!("say why, in one line of 1 to {REASON_MAX} bytes"));
    }
    Ok(text)
}
