//! What is wrong with a request: which member, and why. All of it at once.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One member that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Mistake {
    /// Which member, as a path.
    #[schema(example = "total.amount")]
    pub member: String,
    /// What is wrong with it.
    pub problem: String,
}

/// Everything that is wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Mistakes(pub Vec<Mistake>);

impl Mistakes {
    /// Notes one.
    pub fn add(&mut self, member: impl Into<String>, problem: impl fmt::Display) {
        self.0.push(Mistake { member: member.into(), problem: problem.to_string() });
    }

    /// The value of a member, or `None` and a note.
    pub fn noting<T, E: fmt::Display>(&mut self, member: &str, result: Result<T, E>) -> Option<T> {
        result.map_err(|error| self.add(member, error)).ok()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.0.iter().enumerate() {
            let between = if index > 0 { "; " } else { "" };
            write!(f, "{between}{}: {}", mistake.member, mistake.problem)?;
        }
        Ok(())
    }
}

impl std::error::Error for Mistakes {}
