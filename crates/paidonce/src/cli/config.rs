//! `paidonce config`: is it right, and what is in force.

use clap::Subcommand;

use super::context::Context;
use crate::output::{Exit, Failure, Table};
use crate::serve::ServeError;

/// What to do with the configuration.
#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Check the file, its contracts, templates and secrets, and ask the database about grant.sql. Changes nothing.
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
            if let Some(sql) = config.grant_sql()? {
                let failed = |source| ServeError::of_store(config.store.url.clone(), source);
                config.store.check_grant_sql(&sql).map_err(failed)?;
            }
            let mut table =
                Table::new(&["source", "account", "url"], "There is no source: nothing can arrive.");
            for source in sources.iter() {
                let (name, account) = (source.name.to_string(), source.account.to_string());
                table.row([&name, &account, &format!("/in/{name}")]);
            }
            let mut effects =
                Table::new(&["effect", "tells"], "There is no effect: nothing is told to the outside.");
            config.ready_effects()?;
            for effect in &config.effects {
                let on: Vec<_> = effect.on.iter().map(|happening| happening.as_str()).collect();
                let tells = if effect.sync { "a copy of each entitlement".to_owned() } else { on.join(", ") };
                effects.row([effect.name.as_str(), &tells]);
            }
            let (file, sources, effects) = (config.file.display(), table.text(), effects.text());
            context.output.text(&format!("{file} is right.\n\n{sources}\n\n{effects}"));
        }
    }
    Ok(Exit::Ok)
}
