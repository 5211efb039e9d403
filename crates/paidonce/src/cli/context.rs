//! What every command is given: the global options, and what follows from them.

use std::path::Path;
use std::sync::Arc;

use paidonce_ledger::{KeyName, Stamp};
use paidonce_store::Store;

use super::Global;
use super::transport::{Direct, Remote, Transport};
use crate::config::{Config, ConfigError, StoreConfig, StoreUrl};
use crate::fresh;
use crate::output::{Failure, Output};

/// The global options.
pub(crate) struct Context {
    global: Global,
    /// Where results go.
    pub(crate) output: Output,
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::usage(
            error.to_string(),
            "correct the configuration; `paidonce config check` tells whether it is right",
        )
    }
}

impl Context {
    pub(super) fn new(global: Global, output: Output) -> Self {
        Self { global, output }
    }

    /// The configuration file's path.
    pub(crate) fn config_file(&self) -> &Path {
        &self.global.config
    }

    /// The configuration.
    pub(crate) fn config(&self) -> Result<Config, Failure> {
        let file = self.config_file();
        if !file.exists() {
            let what = format!("there is no configuration at {}", file.display());
            return Err(Failure::usage(what, "run `paidonce init`, or name the file with --config FILE"));
        }
        Ok(Config::load(file)?)
    }

    /// Who does it: `--by`, else the operating system's user.
    pub(crate) fn by(&self) -> Result<Arc<str>, Failure> {
        let user = || ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok());
        let name = self.global.by.clone().or_else(user).filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| "cli".to_owned());
        let checked =
            KeyName::new(&name).map_err(|error| Failure::usage(format!("--by: {error}"), "give a name"))?;
        Ok(Arc::from(checked.as_str()))
    }

    /// The stamp of one command.
    pub(crate) fn stamp(&self, reason: Option<&str>) -> Result<Stamp, Failure> {
        Ok(Stamp { id: fresh::command_id(), by: self.by()?, reason: reason.map(Arc::from) })
    }

    /// The store, or the server that `--server` names.
    pub(crate) fn transport(&self) -> Result<Box<dyn Transport>, Failure> {
        let Some(url) = &self.global.server else { return Ok(Box::new(self.direct()?)) };
        let key = super::argument::secret_text("key", self.global.key.as_deref().unwrap_or_default())?;
        Ok(Box::new(Remote::new(url, &key)?))
    }

    /// The store at this address, or the configured one.
    pub(crate) fn store(&self, address: Option<&str>) -> Result<Arc<dyn Store>, Failure> {
        let Some(address) = address else { return Ok(self.direct()?.shared_store()) };
        let url = StoreUrl::parse(address, Path::new(""))
            .map_err(|what| Failure::usage(format!("--store: {what}"), "correct the address"))?;
        if url == StoreUrl::Memory {
            return Err(Failure::usage("a store in memory would be gone at once", "name one that keeps"));
        }
        Ok(StoreConfig::of(url).open()?)
    }

    /// The store. For what is never done over HTTP.
    pub(crate) fn direct(&self) -> Result<Direct, Failure> {
        if self.global.server.is_some() {
            let what = "this command works on the store itself, not through --server";
            return Err(Failure::usage(what, "run it where the store is, without --server"));
        }
        Direct::open(self.config()?, self.by()?)
    }
}
