//! `paidonce keys`: API keys. Works on the store itself: whoever can open it needs no key.

use clap::{Subcommand, ValueEnum};
use paidonce_ledger::{AddKey, Command, KeyName, RevokeKey, Scope, Stamp};
use serde::Serialize;

use super::argument::reason;
use super::context::Context;
use super::transport::Direct;
use crate::clock::rfc3339;
use crate::fresh;
use crate::output::{Exit, Failure, Table};

/// What to do with keys.
#[derive(Debug, Subcommand)]
pub(super) enum KeysCommand {
    /// Make a key and print it, once. Only its digest is kept.
    Add {
        /// Its name: the `by` of what is done with it.
        name: String,
        /// What it may do.
        #[arg(long, value_enum, default_value_t = ScopeArg::Operate)]
        scope: ScopeArg,
    },
    /// List keys.
    List,
    /// Stop a key. Its name stays taken.
    Revoke {
        /// Its name.
        name: String,
        /// Why, for the audit.
        #[arg(long, value_parser = reason)]
        reason: String,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum ScopeArg {
    /// Read.
    View,
    /// Act on orders, references, events, cases, tasks and entitlements.
    Operate,
    /// Manage keys.
    Admin,
}

/// A new key, shown once.
#[derive(Debug, Serialize)]
struct KeyAdded {
    name: String,
    scope: &'static str,
    key: String,
}

#[derive(Debug, Serialize)]
struct KeyShown {
    name: String,
    scope: &'static str,
    created_at: String,
    revoked_at: Option<String>,
}

pub(super) fn run(command: &KeysCommand, context: &Context) -> Result<Exit, Failure> {
    let direct = context.direct()?;
    match command {
        KeysCommand::Add { name, scope } => {
            let scope = match scope {
                ScopeArg::View => Scope::View,
                ScopeArg::Operate => Scope::Operate,
                ScopeArg::Admin => Scope::Admin,
            };
            let key = add(&direct, context.stamp(None)?, name, scope)?;
            let added = KeyAdded { name: name.clone(), scope: scope.as_str(), key };
            context.output.show(&added, |added| {
                format!("Key {} ({}). It is shown this once:\n{}", added.name, added.scope, added.key)
            });
        }
        KeysCommand::List => context.output.show(&list(&direct)?, |keys| table(keys)),
        KeysCommand::Revoke { name, reason } => {
            let stamp = context.stamp(Some(reason))?;
            direct.submit(Command::RevokeKey(RevokeKey { stamp, name: key_name(name)? }))?;
            context.output.show(&list(&direct)?, |keys| table(keys));
        }
    }
    Ok(Exit::Ok)
}

fn key_name(name: &str) -> Result<KeyName, Failure> {
    KeyName::new(name)
        .map_err(|error| Failure::usage(format!("the key's name: {error}"), "give another name"))
}

/// Makes a key and answers its text.
pub(crate) fn add(direct: &Direct, stamp: Stamp, name: &str, scope: Scope) -> Result<String, Failure> {
    let key = fresh::api_key();
    let command = AddKey { stamp, name: key_name(name)?, digest: key.digest, scope };
    direct.submit(Command::AddKey(command))?;
    Ok(key.text)
}

fn list(direct: &Direct) -> Result<Vec<KeyShown>, Failure> {
    let shown = |(name, key): (KeyName, paidonce_ledger::ApiKey)| KeyShown {
        name: name.to_string(),
        scope: key.scope.as_str(),
        created_at: rfc3339(key.created_at),
        revoked_at: key.revoked_at.map(rfc3339),
    };
    Ok(direct.store().api_keys()?.into_iter().map(shown).collect())
}

fn table(keys: &[KeyShown]) -> String {
    let mut table =
        Table::new(&["key", "scope", "made", "revoked"], "No keys. Make one: paidonce keys add NAME");
    for key in keys {
        table.row([&key.name, key.scope, &key.created_at, key.revoked_at.as_deref().unwrap_or("")]);
    }
    table.text()
}
