//! `paidonce init`: a commented configuration, a store, the first API key, and what the provider has to be told.
//! It overwrites nothing.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

use clap::Args;
use paidonce_contracts::Contract;
use paidonce_ledger::Scope;
use serde::Serialize;

use super::context::Context;
use super::keys;
use super::transport::Direct;
use crate::config::{Config, ContractChoice, SourceConfig};
use crate::output::{Exit, Failure};

/// The first key's name.
const ADMIN: &str = "admin";

/// Where to.
#[derive(Debug, Args)]
pub(super) struct InitArgs {}

/// What was made.
#[derive(Debug, Serialize)]
struct Made {
    config: String,
    store: String,
    key_name: &'static str,
    /// Shown this once; `None` if the store had a key of that name.
    key: Option<String>,
    sources: Vec<ForDashboard>,
}

/// What to put into a provider's dashboard.
#[derive(Debug, Serialize)]
struct ForDashboard {
    source: String,
    path: String,
    events: Vec<String>,
    secrets: Vec<String>,
}

pub(super) fn run(_: &InitArgs, context: &Context) -> Result<Exit, Failure> {
    let file = context.config_file();
    write_new(file)?;
    let config = Config::load(file)?;
    let sources = config.sources.iter().map(for_dashboard).collect();
    let direct = Direct::open(config, context.by()?)?;
    let key = match keys::add(&direct, context.stamp(None)?, ADMIN, Scope::Admin) {
        Ok(key) => Some(key),
        Err(failure) if failure.code == Some("key_exists") => None,
        Err(failure) => return Err(failure),
    };
    let store = direct.store().describe();
    let made = Made { config: file.display().to_string(), store, key_name: ADMIN, key, sources };
    context.output.show(&made, text);
    Ok(Exit::Ok)
}

fn write_new(file: &Path) -> Result<(), Failure> {
    let written = OpenOptions::new().write(true).create_new(true).open(file);
    let written = written.and_then(|mut open| open.write_all(Config::example().as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::new(
            format!("{} exists already, and nothing was changed", file.display()),
            "edit it, or name another file with --config FILE",
        ),
        _ => Failure::new(format!("{} cannot be written: {error}", file.display()), "check the folder"),
    })
}

fn for_dashboard(source: &SourceConfig) -> ForDashboard {
    let contract = match &source.contract {
        ContractChoice::Builtin(name) => Contract::builtin(name, source.overlay.as_ref()).ok(),
        ContractChoice::File(_) => None,
    };
    let events = contract.map(|contract| contract.event_types().map(str::to_owned).collect());
    ForDashboard {
        source: source.name.to_string(),
        path: format!("/in/{}", source.name),
        events: events.unwrap_or_default(),
        secrets: source.secrets.iter().map(ToString::to_string).collect(),
    }
}

fn text(made: &Made) -> String {
    let key = made.key.as_deref().unwrap_or("(the store has one of this name already)");
    let mut text = format!(
        "Wrote {}.\nMade the store: {}.\n\nAPI key {} (shown this once):\n{key}\n",
        made.config, made.store, made.key_name
    );
    for source in &made.sources {
        text.push_str(&format!(
            "\nIn the dashboard of {} add a webhook endpoint:\n  URL     https://YOUR-HOST{}\n  events  {}\n\
             Then put its signing secret where the configuration says: {}\n",
            source.source,
            source.path,
            source.events.join("\n          "),
            source.secrets.join(", "),
        ));
    }
    text.push_str("\nNext: paidonce config check, paidonce serve. To see what it does first: paidonce demo");
    text
}
