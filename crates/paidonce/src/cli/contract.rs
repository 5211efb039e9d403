//! `paidonce contract`: the delivery contracts that are built in, to read and to copy.

use clap::Subcommand;
use paidonce_contracts::Contract;
use serde::Serialize;

use super::context::Context;
use crate::output::{Exit, Failure, Table};

/// What to do with contracts.
#[derive(Debug, Subcommand)]
pub(super) enum ContractCommand {
    /// List them.
    List,
    /// Print one, as TOML.
    Show {
        /// Its name.
        name: String,
    },
}

#[derive(Debug, Serialize)]
struct ContractShown {
    name: &'static str,
    title: String,
    docs: Vec<String>,
}

pub(super) fn run(command: &ContractCommand, context: &Context) -> Result<Exit, Failure> {
    match command {
        ContractCommand::List => context.output.show(&list(), |rows| {
            let mut table = Table::new(&["contract", "title", "documentation"], "No contracts.");
            for row in rows {
                table.row([row.name, &row.title, row.docs.first().map_or("", String::as_str)]);
            }
            table.text()
        }),
        ContractCommand::Show { name } => {
            let text = Contract::builtin_text(name).ok_or_else(|| {
                let names: Vec<_> = Contract::names().collect();
                Failure::new(
                    format!("there is no contract {name}"),
                    format!("use one of {}", names.join(", ")),
                )
            })?;
            context.output.text(text);
        }
    }
    Ok(Exit::Ok)
}

fn list() -> Vec<ContractShown> {
    // One that needs an overlay to be complete has no title of its own here.
    let shown = |name| match Contract::builtin(name, None) {
        Ok(contract) => {
            ContractShown { name, title: contract.title().to_owned(), docs: contract.docs().to_vec() }
        }
        Err(_) => ContractShown { name, title: "(the source states the rest)".to_owned(), docs: Vec::new() },
    };
    Contract::names().map(shown).collect()
}
