//! A refusal as RFC 9457 has it, with a stable code for programs.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::mistake::Mistake;

/// What went wrong. Served as `application/problem+json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// `urn:paidonce:problem:<code>`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it is, in general.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What it is this time.
    pub detail: String,
    /// The stable code.
    #[schema(example = "unknown_order")]
    pub code: String,
    /// The members of the request that are wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mistakes: Vec<Mistake>,
}
