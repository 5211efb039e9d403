//! What is wrong with a configuration: every mistake at once, each with its line and what to write instead.
//!
//! It never holds a value from the file: a mistyped line may be a secret.

use std::fmt;
use std::path::{Path, PathBuf};

/// All mistakes of one configuration. `Display` is one line for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    file: PathBuf,
    mistakes: Vec<(Option<usize>, String)>,
}

impl ConfigError {
    /// Mistakes by line; `None` where it is not about a line.
    pub(crate) fn new(file: &Path, mut mistakes: Vec<(Option<usize>, String)>) -> Self {
        mistakes.sort();
        mistakes.dedup();
        Self { file: file.to_owned(), mistakes }
    }

    /// One mistake that is about the file as a whole.
    pub(crate) fn whole(file: &Path, message: impl Into<String>) -> Self {
        Self::new(file, vec![(None, message.into())])
    }

    /// How many mistakes there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.mistakes.len()
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (line, message)) in self.mistakes.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{}", self.file.display())?;
            if let Some(line) = line {
                write!(f, ":{line}")?;
            }
            write!(f, ": {message}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}
