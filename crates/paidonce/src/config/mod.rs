//! `paidonce.toml`: typed, checked as a whole, one file per section.
//!
//! Reading it opens nothing and needs no secret: those are read by [`Config::sources`], where they are used. The
//! file's tables are read by hand and not by serde's derive, because a person wants all mistakes at once, each with
//! its line, and serde stops at the first.

mod broker;
mod effect;
mod error;
mod grant;
mod log;
mod mail;
mod policy;
mod secret;
mod section;
mod server;
mod source;
mod store;
mod suggest;
mod workers;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use paidonce_ledger::{Account, LookupRule, Policy, SourcePolicy};
use paidonce_store::GrantSql;
use toml::de::DeTable;

pub use broker::{BrokerConfig, NatsConfig, RabbitConfig};
pub use effect::{EffectConfig, EffectKind, HttpConfig};
pub use error::ConfigError;
pub use grant::{GrantConfig, GrantText};
pub use log::{LogConfig, LogFormat};
pub use mail::{LetterConfig, ResendConfig, SmtpConfig};
pub use policy::PolicyConfig;
pub use secret::SecretRef;
pub use server::ServerConfig;
pub use source::{ContractChoice, SourceConfig};
pub use store::{RemoteKind, RemoteUrl, StoreConfig, StoreUrl};
pub use workers::WorkersConfig;

pub(crate) use store::NO_SQL;

use section::{Mistakes, Section};

use crate::token::{TOKEN_SECRET_BYTES_MIN, Tokens};

/// The most bytes a configuration may have: more is some other file.
const FILE_MAX: u64 = 1024 * 1024;

/// A checked configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Where it came from; relative paths in it are relative to its folder.
    pub file: PathBuf,
    /// `[server]`
    pub server: ServerConfig,
    /// `[store]`
    pub store: StoreConfig,
    /// `[log]`
    pub log: LogConfig,
    /// `[policy]`
    pub policy: PolicyConfig,
    /// `[grant]`
    pub grant: GrantConfig,
    /// `[workers]`
    pub workers: WorkersConfig,
    /// `[[source]]`, in the file's order.
    pub sources: Vec<SourceConfig>,
    /// `[[effect]]`, in the file's order.
    pub effects: Vec<EffectConfig>,
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or all mistakes in it.
    pub fn load(file: &Path) -> Result<Self, ConfigError> {
        let size = std::fs::metadata(file).map(|meta| meta.len());
        let text = match size {
            Ok(size) if size > FILE_MAX => Err("it is larger than 1 MiB: is this the right file?".to_owned()),
            _ => std::fs::read_to_string(file)
                .map_err(|error| format!("cannot be read: {error}; `paidonce init` writes one")),
        };
        Self::parse(&text.map_err(|message| ConfigError::whole(file, message))?, file)
    }

    /// Reads a text. `file` is how messages name it, and its folder is where relative paths begin.
    ///
    /// # Errors
    /// All mistakes in it.
    pub fn parse(text: &str, file: &Path) -> Result<Self, ConfigError> {
        let line = |at: usize| 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count();
        let (root, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            // toml's own Display quotes the line, which may be a secret: its message alone does not.
            let mistake = |error: &toml::de::Error| {
                (error.span().map(|span| line(span.start)), format!("this is no TOML: {}", error.message()))
            };
            return Err(ConfigError::new(file, errors.iter().map(mistake).collect()));
        }
        let mistakes: Mistakes = RefCell::default();
        let config = read(root.get_ref(), file, &mistakes, &line);
        let mistakes = mistakes.into_inner();
        if mistakes.is_empty() {
            return Ok(config);
        }
        let located = mistakes.into_iter().map(|(span, message)| (Some(line(span.start)), message));
        Err(ConfigError::new(file, located.collect()))
    }

    /// The commented file that `paidonce init` writes: every setting with its default.
    #[must_use]
    pub fn example() -> &'static str {
        include_str!("template.toml")
    }

    /// The ledger's policy.
    #[must_use]
    pub fn policy(&self) -> Policy {
        let (truths, asked) = self.beliefs();
        let of = |source: &SourceConfig| {
            let truth = truths.get(&source.name).copied().unwrap_or_default();
            let policy = SourcePolicy { hints: source.hints, unmatched: source.unmatched, truth };
            (source.name.clone(), policy)
        };
        let lookup = LookupRule { patience_ms: ms(self.policy.lookup_patience_s), ..LookupRule::default() };
        Policy {
            sources: self.sources.iter().map(of).collect(),
            tolerance_minor: self.tolerances(),
            refund_blocks: self.policy.refund_blocks,
            disputes: self.policy.disputes,
            late: self.policy.late,
            refund_restocks: self.policy.refund_restocks,
            after_grant: self.policy.after_grant,
            effects: self.effects.iter().map(|effect| (effect.name.clone(), effect.rule())).collect(),
            lookups: asked.into_iter().map(|account| (account, lookup)).collect(),
            grant_check_ms: Some(ms(self.policy.grant_check_s)).filter(|ms| *ms > 0),
            unbound_after_ms: Some(ms(self.policy.unbound_after_s)),
            body_retention_ms: Some(ms(86_400 * self.policy.body_retention_days)).filter(|ms| *ms > 0),
            grant_retries: self.grant.retries(),
        }
    }

    /// By account. Contracts that cannot be read, and sources of one account that disagree, are refused by
    /// [`Config::accounts`], with their own messages.
    fn tolerances(&self) -> BTreeMap<Account, i128> {
        let accounts = self.accounts().unwrap_or_default();
        let stated = self.sources.iter().filter(|source| source.tolerance_minor > 0);
        let of = |source: &SourceConfig| {
            let account = accounts.get(source.name.as_str())?.clone();
            Some((account, i128::from(source.tolerance_minor)))
        };
        stated.filter_map(of).collect()
    }

    /// The secrets for buyers' tokens, read.
    ///
    /// # Errors
    /// All that cannot be read or are too short. Never a secret.
    pub fn tokens(&self) -> Result<Tokens, ConfigError> {
        let read = |place: &SecretRef| match place.text() {
            Ok(text) if text.len() < TOKEN_SECRET_BYTES_MIN => Err(format!(
                "server.token_secrets: {place} has fewer than {TOKEN_SECRET_BYTES_MIN} bytes; \
                 `openssl rand -hex 32` makes one"
            )),
            read => read,
        };
        let (secrets, mistakes): (Vec<_>, Vec<_>) =
            self.server.token_secrets.iter().map(read).partition(Result::is_ok);
        let mistakes: Vec<_> =
            mistakes.into_iter().filter_map(Result::err).map(|what| (None, what)).collect();
        if !mistakes.is_empty() {
            return Err(ConfigError::new(&self.file, mistakes));
        }
        let secrets: Vec<String> = secrets.into_iter().flatten().collect();
        Ok(Tokens::new(secrets.iter().map(String::as_str)))
    }

    /// A mistake that is about the configuration as a whole.
    pub(crate) fn mistaken(&self, message: &str) -> ConfigError {
        ConfigError::whole(&self.file, message)
    }

    /// The merchant's own statements, read from where they stand.
    ///
    /// # Errors
    /// Their file cannot be read, or the line of the first mistake in them.
    pub fn grant_sql(&self) -> Result<Option<GrantSql>, ConfigError> {
        self.grant.statements(&self.file)
    }

    /// The source of this name.
    #[must_use]
    pub fn source(&self, name: &str) -> Option<&SourceConfig> {
        self.sources.iter().find(|source| source.name.as_str() == name)
    }

    /// The configuration as TOML, defaults written out. Secrets are named by their place, never shown.
    #[must_use]
    pub fn show(&self) -> String {
        let mut out = String::new();
        self.server.show(&mut out);
        self.store.show(&mut out);
        self.log.show(&mut out);
        self.policy.show(&mut out);
        self.grant.show(&mut out);
        self.workers.show(&mut out);
        self.sources.iter().for_each(|source| source.show(&mut out));
        self.effects.iter().for_each(|effect| effect.show(&mut out));
        out
    }
}

fn read(root: &DeTable<'_>, file: &Path, mistakes: &Mistakes, line: &dyn Fn(usize) -> usize) -> Config {
    let folder = file.parent().unwrap_or(Path::new(""));
    let top = Section::new("", Some(root), 0..0, mistakes);
    let section = |name: &'static str| {
        let (table, span) = top.inner(name).map_or((None, 0..0), |(table, span)| (Some(table), span));
        Section::new(name, table, span, mistakes)
    };
    let server = ServerConfig::read(section("server"), folder);
    let store = StoreConfig::read(section("store"), folder);
    let log = LogConfig::read(section("log"));
    let policy = PolicyConfig::read(section("policy"));
    let grant = GrantConfig::read(section("grant"), folder, line);
    if grant.sql.is_some() && !store.url.may_hold_sql() {
        let span = top.inner("grant").map_or(0..0, |(_, span)| span);
        mistakes.borrow_mut().push((span, NO_SQL.to_owned()));
    }
    let workers = WorkersConfig::read(section("workers"));
    let mut names = BTreeSet::new();
    let mut sources = Vec::new();
    for (table, span) in top.tables("source") {
        let section = Section::new("source", Some(table), span.clone(), mistakes);
        let Some(source) = SourceConfig::read(section, folder, line(span.start)) else { continue };
        if !names.insert(source.name.clone()) {
            let message = format!("there are two sources of the name {}", source.name);
            mistakes.borrow_mut().push((span, message));
        }
        sources.push(source);
    }
    let effects = effects(&top, (folder, workers.longest_call()), mistakes, line);
    if server.private == Some(server.public) && server.public.port() != 0 {
        let span = top.inner("server").map_or(0..0, |(_, span)| span);
        mistakes.borrow_mut().push((span, "server.private and server.public are one address".to_owned()));
    }
    top.finish();
    Config { file: file.to_owned(), server, store, log, policy, grant, workers, sources, effects }
}

fn effects(
    top: &Section<'_>,
    (folder, longest_call): (&Path, Duration),
    mistakes: &Mistakes,
    line: &dyn Fn(usize) -> usize,
) -> Vec<EffectConfig> {
    let mut names = BTreeSet::new();
    let mut effects = Vec::new();
    for (table, span) in top.tables("effect") {
        let section = Section::new("effect", Some(table), span.clone(), mistakes);
        let Some(effect) = EffectConfig::read(section, folder, line(span.start)) else { continue };
        if !names.insert(effect.name.clone()) {
            mistakes
                .borrow_mut()
                .push((span.clone(), format!("there are two effects of the name {}", effect.name)));
        }
        if effect.timeout > longest_call {
            let most = longest_call.as_secs();
            let message = format!(
                "effect.timeout_s must be at most {most}: a call is over before its lease is (workers.lease_s)"
            );
            mistakes.borrow_mut().push((span, message));
        }
        effects.push(effect);
    }
    effects
}

/// Seconds of the file, which are bounded, as milliseconds.
fn ms(seconds: u64) -> i64 {
    i64::try_from(seconds.saturating_mul(1_000)).unwrap_or(i64::MAX)
}

/// The word that stands for a value.
fn word_of<T: PartialEq>(words: &[(&'static str, T)], value: &T) -> &'static str {
    words.iter().find(|(_, known)| known == value).map_or("", |(word, _)| word)
}
