//! How a command ends: its exit code, and for a failure one sentence on what happened and one on what to do.

use std::fmt;
use std::process::ExitCode;

/// The exit codes. They are part of the interface: scripts match on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Ok,
    /// Refused, not found, or failed.
    Failed,
    /// The command line or the configuration is wrong.
    Usage,
    /// The audit found a broken promise, or the demo saw something else than was expected.
    Differs,
    /// The store or the server cannot be reached; trying again may help.
    Unavailable,
}

impl Exit {
    /// The table for `--help`.
    pub(crate) const HELP: &'static str = "\
Exit codes:
  0  done
  1  refused, not found, or failed (for `entitlements check`: not entitled)
  2  the command line or the configuration is wrong
  3  `audit` found a broken promise, or `demo` saw something else than expected
  4  the store or the server cannot be reached; trying again may help";
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Ok => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Differs => 3,
            Exit::Unavailable => 4,
        })
    }
}

/// Why a command could not be carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// How the program ends.
    pub(crate) exit: Exit,
    /// What happened.
    pub(crate) what: String,
    /// What to do.
    pub(crate) remedy: String,
    /// The ledger's code, where it refused.
    pub(crate) code: Option<&'static str>,
}

impl Failure {
    /// A failure that ends with [`Exit::Failed`].
    pub(crate) fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { exit: Exit::Failed, what: what.into(), remedy: remedy.into(), code: None }
    }

    /// The caller's mistake.
    pub(crate) fn usage(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, ..Self::new(what, remedy) }
    }

    /// Something that cannot be reached.
    pub(crate) fn unavailable(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { exit: Exit::Unavailable, ..Self::new(what, remedy) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.what)?;
        if let Some(code) = self.code {
            write!(f, " [{code}]")?;
        }
        write!(f, "\n  do: {}", self.remedy)
    }
}
