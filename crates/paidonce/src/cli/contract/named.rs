//! A contract by its shipped name or its file, with settings over it: what `check` and `read` are given.

use std::path::Path;

use paidonce_contracts::{Contract, ContractError};

use crate::output::Failure;

/// A contract's text and what messages call it, and the settings that every use of it gets.
pub(super) struct Named {
    text: String,
    file: String,
    settings: toml::Table,
}

impl Named {
    /// A word is a shipped contract, what ends in `.toml` is a file.
    pub(super) fn load(contract: &str, settings: Option<&Path>) -> Result<Self, Failure> {
        let settings = match settings {
            None => toml::Table::new(),
            Some(path) => file(path)?.parse().map_err(|error: toml::de::Error| {
                let what = format!("{}: {}", path.display(), error.to_string().trim());
                Failure::usage(what, "write the settings as in [source.overlay], without that heading")
            })?,
        };
        if Path::new(contract).extension().is_some_and(|ending| ending == "toml") {
            return Ok(Self { text: file(Path::new(contract))?, file: contract.to_owned(), settings });
        }
        let text = Contract::builtin_text(contract).ok_or_else(|| unknown(contract))?;
        Ok(Self { text: text.to_owned(), file: format!("{contract}.toml"), settings })
    }

    /// The contract, with `more` over the settings: member by member, tables joined.
    pub(super) fn with(&self, more: &toml::Table) -> Result<Contract, ContractError> {
        let mut settings = self.settings.clone();
        join(&mut settings, more);
        Contract::parse(&self.text, &self.file, Some(&settings).filter(|settings| !settings.is_empty()))
    }

    /// The contract as it is.
    pub(super) fn contract(&self) -> Result<Contract, Failure> {
        self.with(&toml::Table::new()).map_err(|error| {
            Failure::new(
                error.to_string(),
                "correct it there; docs/guides/add-a-provider.md explains every part",
            )
        })
    }
}

fn join(under: &mut toml::Table, over: &toml::Table) {
    for (name, value) in over {
        match (under.get_mut(name), value) {
            (Some(toml::Value::Table(under)), toml::Value::Table(over)) => join(under, over),
            _ => {
                under.insert(name.clone(), value.clone());
            }
        }
    }
}

/// There is no shipped contract of that name.
pub(super) fn unknown(name: &str) -> Failure {
    let names: Vec<_> = Contract::names().collect();
    let remedy = format!("use one of {}, or a file ending in .toml", names.join(", "));
    Failure::new(format!("there is no contract {name}"), remedy)
}

/// The text of a file.
pub(super) fn file(path: &Path) -> Result<String, Failure> {
    let failed =
        |error| Failure::usage(format!("{}: {error}", path.display()), "name a file that can be read");
    std::fs::read_to_string(path).map_err(failed)
}
