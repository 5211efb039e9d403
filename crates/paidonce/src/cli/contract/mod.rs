//! `paidonce contract`: the delivery contracts that are built in, to read and to copy; and to prove one's own.
//!
//! Nothing here needs a configuration, a store or a secret of the merchant's.

mod check;
mod named;
mod read;

use std::path::PathBuf;

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
    /// Check one, and run signature vectors against it. Ends with 1 if a verdict differs.
    Check {
        /// A shipped contract's name, or a file ending in .toml.
        contract: String,
        /// Requests with the verdicts they have to get, as JSON.
        #[arg(long, value_name = "FILE")]
        vectors: Option<PathBuf>,
        /// The source's own settings for the contract, as TOML.
        #[arg(long, value_name = "FILE")]
        settings: Option<PathBuf>,
    },
    /// Show the events and facts that a body would become. Verifies nothing and stores nothing.
    Read {
        /// A shipped contract's name, or a file ending in .toml.
        contract: String,
        /// The file with the body; `-` is the standard input.
        body: PathBuf,
        /// The source's own settings for the contract, as TOML.
        #[arg(long, value_name = "FILE")]
        settings: Option<PathBuf>,
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
            let text = Contract::builtin_text(name).ok_or_else(|| named::unknown(name))?;
            context.output.text(text);
        }
        ContractCommand::Check { contract, vectors, settings } => {
            return check::run(contract, vectors.as_deref(), settings.as_deref(), context);
        }
        ContractCommand::Read { contract, body, settings } => {
            return read::run(contract, body, settings.as_deref(), context);
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
