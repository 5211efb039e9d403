//! The demo's merchant: a fresh folder with a configuration, a store, random secrets and an API key. All of it is
//! gone when the demo ends.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use paidonce_contracts::{Contract, Secret};
use paidonce_ledger::{Scope, Stamp};
use tempfile::TempDir;

use super::child::Child;
use crate::cli::{Direct, add_key};
use crate::config::Config;
use crate::fresh;
use crate::output::Failure;
use crate::scenario::At;

/// The merchant's account at every provider.
const ACCOUNT: &str = "demo";

/// Everything that the server and the provider's part share.
pub(super) struct Shop {
    folder: TempDir,
    secrets: BTreeMap<At, String>,
    contracts: BTreeMap<At, Contract>,
    /// The API key.
    pub(super) key: String,
    /// A tag for this run's ids.
    pub(super) run: String,
}

fn failed(error: impl ToString) -> Failure {
    Failure::unavailable(
        format!("the demo's folder: {}", error.to_string()),
        "free some space, or set TMPDIR",
    )
}

impl Shop {
    /// Makes a fresh one.
    pub(super) fn open() -> Result<Self, Failure> {
        let folder = tempfile::Builder::new().prefix("paidonce-demo-").tempdir().map_err(failed)?;
        let secrets: BTreeMap<_, _> = At::ALL.into_iter().map(|at| (at, fresh::api_key().text)).collect();
        let run = fresh::order_id().as_str().chars().rev().take(8).collect();
        let mut shop = Self { folder, secrets, contracts: BTreeMap::new(), key: String::new(), run };
        shop.write(true)?;
        let config = Config::load(&shop.config_file())?;
        for source in At::ALL {
            let overlay = config.source(source.name()).and_then(|source| source.overlay.as_ref());
            let contract = Contract::builtin(source.contract(), overlay)
                .map_err(|error| Failure::new(error.to_string(), "report this: it is shipped"))?;
            shop.contracts.insert(source, contract);
        }
        let stamp = Stamp { id: fresh::command_id(), by: Arc::from("demo"), reason: None };
        shop.key = add_key(&Direct::open(config, Arc::from("demo"))?, stamp, "demo", Scope::Operate)?;
        Ok(shop)
    }

    /// Writes the configuration, with or without grants.
    pub(super) fn write(&self, grants: bool) -> Result<(), Failure> {
        fs::write(self.config_file(), configuration(grants)).map_err(failed)
    }

    /// The configuration's path.
    pub(super) fn config_file(&self) -> PathBuf {
        self.folder.path().join("paidonce.toml")
    }

    /// Where the server's log goes.
    pub(super) fn log_file(&self) -> PathBuf {
        self.folder.path().join("server.log")
    }

    /// A source's contract.
    pub(super) fn contract(&self, at: At) -> &Contract {
        &self.contracts[&at]
    }

    /// A source's secret.
    pub(super) fn secret(&self, at: At) -> Secret {
        Secret::new(self.secrets[&at].clone())
    }

    /// The environment that the server reads its secrets from.
    pub(super) fn environment(&self) -> impl Iterator<Item = (String, &str)> {
        self.secrets.iter().map(|(at, secret)| (variable(*at), secret.as_str()))
    }

    /// For people, once everything has been shown.
    pub(super) fn where_to_look(&self, child: &Child) -> String {
        let program =
            std::env::current_exe().map_or("paidonce".to_owned(), |path| path.display().to_string());
        let command = format!("{program} --config {}", self.config_file().display());
        let killed = format!("killed-{}", self.run);
        let secret = &self.secrets[&At::Stripe];
        format!(
            "\nThe server stays up until Ctrl-C; then its folder is removed.\n  \
             API       http://{api}/v1\n  key       {key}\n  log       {log}\n\nTry:\n  \
             curl -H 'Authorization: Bearer {key}' http://{api}/v1/orders\n  \
             {command} orders list\n  {command} explain {killed}\n  {command} cases list\n  \
             {command} audit\n  \
             {stripe}='{secret}' {command} send FILE --source stripe --url http://{public}/in/stripe",
            api = child.api(),
            public = child.public(),
            key = self.key,
            log = self.log_file().display(),
            stripe = variable(At::Stripe),
        )
    }
}

fn variable(at: At) -> String {
    format!("PAIDONCE_DEMO_{}", at.name().replace('-', "_").to_uppercase())
}

fn configuration(grants: bool) -> String {
    let grant = if grants { "on" } else { "off" };
    let mut text = format!(
        "# The demo's configuration.\n[server]\npublic = \"127.0.0.1:0\"\n\n[store]\nurl = \"sqlite:demo.db\"\n\n\
         [workers]\ngrant = \"{grant}\"\n"
    );
    At::ALL.into_iter().for_each(|at| text.push_str(&source(at)));
    text
}

fn source(at: At) -> String {
    let (name, contract, secret) = (at.name(), at.contract(), variable(at));
    let mode = if at == At::StripeLive { "live" } else { "test" };
    let unmatched = match at {
        At::StripeReject => "reject",
        At::StripeHold => "hold",
        _ => "keep",
    };
    let overlay = if at == At::StblPay { STBL_PAY } else { "" };
    format!(
        "\n[[source]]\nname = \"{name}\"\ncontract = \"{contract}\"\naccount = \"{ACCOUNT}\"\nmode = \"{mode}\"\n\
         secrets = [\"env:{secret}\"]\nunmatched = \"{unmatched}\"\n{overlay}"
    )
}

/// What stbl-pay's public page leaves open, as its contract's comment suggests.
const STBL_PAY: &str = "
[source.overlay.signature]
header = \"X-Signature\"
mac = \"hmac-sha256\"
key = \"utf8\"
encoding = \"hex\"

[source.overlay.money]
shape = \"minor\"
currency = \"currency\"

[[source.overlay.event]]
type = \"payment.succeeded\"
facts = [{ kind = \"captured\", state = \"settled\", amount = \"amount\" }]
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_is_right_with_and_without_grants() {
        for grants in [true, false] {
            let config = Config::parse(&configuration(grants), "demo.toml".as_ref()).unwrap();
            assert_eq!(config.workers.grant, grants);
            assert_eq!(config.sources.len(), At::ALL.len());
            assert!(config.accounts().is_ok());
        }
    }
}
