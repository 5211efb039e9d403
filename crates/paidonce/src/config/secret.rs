//! Where a secret is kept: never in the file itself. P14

use std::fmt;
use std::path::{Path, PathBuf};

use paidonce_contracts::Secret;

use super::section::{Section, Text};

/// A place that a secret is read from when it is needed. `Display` shows the place, never the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretRef {
    /// An environment variable.
    Env(String),
    /// A file, whose last line break does not count.
    File(PathBuf),
}

impl fmt::Display for SecretRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "env:{name}"),
            Self::File(path) => write!(f, "file:{}", path.display()),
        }
    }
}

/// The places in a list of texts. What is none is a mistake of the section's.
pub(super) fn places(section: &Section<'_>, key: &'static str, folder: &Path) -> Vec<SecretRef> {
    let parse = |text: Text<'_>| match SecretRef::parse(text.text, folder) {
        Ok(secret) => Some(secret),
        Err(message) => {
            section.wrong(text.span, format!("{key}: {message}"));
            None
        }
    };
    section.texts(key).into_iter().filter_map(parse).collect()
}

/// As the configuration's text says them.
pub(super) fn shown(places: &[SecretRef]) -> String {
    let quoted = |place: &SecretRef| toml::Value::String(place.to_string()).to_string();
    format!("[{}] # each is ***", places.iter().map(quoted).collect::<Vec<_>>().join(", "))
}

impl SecretRef {
    pub(super) fn parse(text: &str, folder: &Path) -> Result<Self, &'static str> {
        match text.split_once(':') {
            Some(("env", "")) | Some(("file", "")) => {
                Err("name the variable or file: \"env:NAME\" or \"file:PATH\"")
            }
            Some(("env", name)) => Ok(Self::Env(name.to_owned())),
            Some(("file", path)) => Ok(Self::File(folder.join(path))),
            // The text is not repeated: it probably is the secret.
            _ => Err(
                "a secret is never written into this file: put it into an environment variable or a file, \
                      and write \"env:NAME\" or \"file:PATH\" here",
            ),
        }
    }

    /// Reads the secret.
    ///
    /// # Errors
    /// Which variable or file is missing, empty or no text.
    pub fn read(&self) -> Result<Secret, String> {
        self.text().map(Secret::new)
    }

    /// What stands at that place, for an address that holds a password. The caller never shows it.
    pub(crate) fn text(&self) -> Result<String, String> {
        let text = match self {
            Self::Env(name) => std::env::var(name).map_err(|error| match error {
                std::env::VarError::NotPresent => format!("the environment variable {name} is not set"),
                std::env::VarError::NotUnicode(_) => {
                    format!("the environment variable {name} is no UTF-8 text")
                }
            })?,
            Self::File(path) => std::fs::read_to_string(path)
                .map_err(|error| format!("the secret file {} cannot be read: {error}", path.display()))?,
        };
        let text =
            text.strip_suffix('\n').map_or(text.as_str(), |line| line.strip_suffix('\r').unwrap_or(line));
        if text.is_empty() {
            return Err(format!("the secret in {self} is empty"));
        }
        Ok(text.to_owned())
    }
}
