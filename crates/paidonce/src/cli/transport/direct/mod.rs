//! The store itself, opened by this process beside whoever else has it open. Writes go through an engine without
//! workers: what becomes due is done by the server.

mod ask;
mod operate;

use std::cell::OnceCell;
use std::sync::Arc;

use paidonce_engine::{Engine, Settings, SubmitError};
use paidonce_ledger::{Command, IdError, Policy, Reply, Stamp};
use paidonce_store::{Store, StoreError, StoreErrorKind};
use tokio::runtime::Runtime;

use super::Answer;
use crate::clock::SystemClock;
use crate::config::{Config, StoreUrl};
use crate::fresh;
use crate::http::dto::Mistakes;
use crate::output::Failure;

/// An open store.
pub(crate) struct Direct {
    config: Config,
    policy: Arc<Policy>,
    by: Arc<str>,
    store: Arc<dyn Store>,
    writer: OnceCell<(Runtime, Engine)>,
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let what = error.to_string();
        match error.kind() {
            StoreErrorKind::Usage => Self::usage(
                what,
                "correct [store] in the configuration; after --after write `next` of the page before",
            ),
            StoreErrorKind::Limit => Self::unavailable(what, "docs/stores.md says how to move"),
            StoreErrorKind::Corrupt | StoreErrorKind::Internal => {
                Self::new(what, "keep a copy of the store and report this")
            }
            _ => Self::unavailable(what, "check [store] in the configuration, and try again"),
        }
    }
}

impl From<SubmitError> for Failure {
    fn from(error: SubmitError) -> Self {
        Self::unavailable(
            error.to_string(),
            "check the store, and run the command again: it is done only once",
        )
    }
}

impl From<Mistakes> for Failure {
    fn from(mistakes: Mistakes) -> Self {
        Self::usage(mistakes.to_string(), "correct the arguments; see --help")
    }
}

fn id<T>(read: Result<T, IdError>, what: &str) -> Answer<T> {
    read.map_err(|error| Failure::usage(format!("{what}: {error}"), "correct the argument"))
}

fn optional<T: TryFrom<String, Error = IdError>>(text: Option<&String>, what: &str) -> Answer<Option<T>> {
    id(text.cloned().map(T::try_from).transpose(), what)
}

impl Direct {
    /// Opens the configured store.
    pub(crate) fn open(config: Config, by: Arc<str>) -> Answer<Self> {
        if config.store.url == StoreUrl::Memory {
            let what = "the configured store is in the memory of the server that runs on it";
            return Err(Failure::usage(
                what,
                "ask that server with --server, or configure a file in [store]",
            ));
        }
        let store = config.store.open()?;
        Ok(Self { policy: Arc::new(config.policy()), config, by, store, writer: OnceCell::new() })
    }

    /// The store, for questions that no other way offers.
    pub(crate) fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// The store, for longer than this.
    pub(crate) fn shared_store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    /// The merchant's policy.
    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Submits a command and answers after its commit; a refusal is a failure.
    pub(crate) fn submit(&self, command: Command) -> Answer<Reply> {
        let (runtime, engine) = self.writer()?;
        match runtime.block_on(engine.submit(command))? {
            Reply::Refused(refusal) => {
                let failure =
                    Failure::new(refusal.to_string(), "look at it first, then decide; nothing was changed");
                Err(Failure { code: Some(refusal.code()), ..failure })
            }
            reply => Ok(reply),
        }
    }

    fn writer(&self) -> Answer<&(Runtime, Engine)> {
        if self.writer.get().is_none() {
            let failed = |error: std::io::Error| {
                Failure::unavailable(format!("no thread for the committer: {error}"), "try again")
            };
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
            let (store, policy) = (self.store.clone(), self.policy.clone());
            let engine = {
                let _inside = runtime.enter();
                Engine::start(store, Arc::new(SystemClock), policy, Settings::default()).map_err(failed)?
            };
            let _ = self.writer.set((runtime, engine));
        }
        Ok(self.writer.get().expect("it was set above"))
    }

    fn stamp(&self, reason: Option<&str>) -> Stamp {
        Stamp { id: fresh::command_id(), by: self.by.clone(), reason: reason.map(Arc::from) }
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        if let Some((runtime, engine)) = self.writer.take() {
            runtime.block_on(engine.stop());
        }
    }
}
