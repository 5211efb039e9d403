//! `paidonce config`: is it right, and what is in force.

use clap::Subcommand;

use super::context::Context;
use crate::output::{Exit, Failure, Table};

/// What to do with the configuration.
#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Check the file, its contracts and its secrets. Opens nothing and changes nothing.
    Check,
    /// Print what is in force, with defaults. Secrets are named by their place.
    Show,
}

pub(super) fn run(command: &ConfigCommand, context: &Context) -> Result<Exit, Failure> {
    let config = context.config()?;
    match command {
        ConfigCommand::Show => context.output.text(&config.show()),
        ConfigCommand::Check => {
            let sources = config.sources()?;
            config.tokens()?;
            let mut table =
                Table::new(&["source", "account", "url"], "There is no source: nothing can arrive.");
            for source in sources.iter() {
                let (name, account) = (source.name.to_string(), source.account.to_string());
                table.row([&name, &account, &format!("/in/{name}")]);
            }
            context.output.text(&format!("{} is right.\n\n{}", config.file.display(), table.text()));
        }
    }
    Ok(Exit::Ok)
}
