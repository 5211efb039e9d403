//! A source ready to receive: its contract with the overlay, its account, and the verifier that holds its secrets.
//!
//! It is built once, at start. What the file says is `config::SourceConfig`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use paidonce_contracts::{Contract, Secret, SecretError, Verifier};
use paidonce_ledger::{Account, SourceName, Truth, Unmatched};

use crate::config::{Config, ConfigError, ContractChoice, SourceConfig};

/// One endpoint `/in/<name>`.
pub struct Source {
    /// The last part of its URL.
    pub name: SourceName,
    /// The namespace of all ids that come through it.
    pub account: Account,
    /// How its provider delivers.
    pub contract: Contract,
    /// Tells genuine deliveries from others.
    pub verifier: Verifier,
    /// The answer to an event id that comes with other content.
    pub conflict_status: u16,
    /// The API key that lookups are made with.
    pub lookup_key: Option<Secret>,
    secrets: Vec<Secret>,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({} of {})", self.name, self.account)
    }
}

impl Source {
    /// The headers of a genuine delivery of `body`, signed with the source's first secret.
    ///
    /// # Errors
    /// The contract's signatures can be made by the provider only.
    pub fn sign(&self, id: &str, body: &[u8], now_unix_s: i64) -> Result<Vec<(String, String)>, SecretError> {
        self.sign_with(0, id, body, now_unix_s)
    }

    /// As [`Source::sign`], with the secret at `position`, counted from 0.
    ///
    /// # Errors
    /// As [`Source::sign`], or there is no such secret.
    pub fn sign_with(
        &self,
        position: usize,
        id: &str,
        body: &[u8],
        now_unix_s: i64,
    ) -> Result<Vec<(String, String)>, SecretError> {
        let Some(secret) = self.secrets.get(position) else {
            return Err(SecretError::CannotSign { problem: "the source has no such secret" });
        };
        self.contract.sign(secret, id, body, now_unix_s)
    }

    /// How many secrets it has.
    #[must_use]
    pub fn secret_count(&self) -> usize {
        self.secrets.len()
    }
}

/// Which account each source belongs to: enough to name a reference, and known without any secret.
#[derive(Debug, Clone, Default)]
pub struct Accounts(BTreeMap<String, Account>);

impl Accounts {
    /// The account of the source of this name.
    #[must_use]
    pub fn get(&self, source: &str) -> Option<&Account> {
        self.0.get(source)
    }

    /// As [`Accounts::get`].
    ///
    /// # Errors
    /// There is no such source; the sentence says which there are.
    pub fn named(&self, source: &str) -> Result<&Account, String> {
        let names = || self.names().join(", ");
        self.get(source).ok_or_else(|| format!("there is no such source; the configuration has {}", names()))
    }

    /// All sources' names.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }
}

/// Which contract reads what came to each source, and whose ids are in it: enough to read again what is stored, and
/// known without any secret.
#[derive(Debug, Clone, Default)]
pub struct Readers(BTreeMap<String, (Account, Contract)>);

impl Readers {
    /// The account and the contract of the source of this name.
    #[must_use]
    pub fn get(&self, source: &str) -> Option<(&Account, &Contract)> {
        self.0.get(source).map(|(account, contract)| (account, contract))
    }

    /// Which account each source belongs to.
    #[must_use]
    pub fn accounts(&self) -> Accounts {
        Accounts(self.0.iter().map(|(name, (account, _))| (name.clone(), account.clone())).collect())
    }
}

/// All sources.
#[derive(Debug)]
pub struct Sources {
    by_name: BTreeMap<String, Source>,
    accounts: Accounts,
}

impl Sources {
    /// The source of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Source> {
        self.by_name.get(name)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.by_name.values()
    }

    /// Which account each belongs to.
    #[must_use]
    pub fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// What reads what came to each.
    #[must_use]
    pub fn readers(&self) -> Readers {
        let reader = |source: &Source| (source.account.clone(), source.contract.clone());
        Readers(self.by_name.iter().map(|(name, source)| (name.clone(), reader(source))).collect())
    }

    pub(crate) fn into_sources(self) -> impl Iterator<Item = Source> {
        self.by_name.into_values()
    }
}

type Mistakes = Vec<(Option<usize>, String)>;

impl Config {
    /// Which account each source belongs to. Reads contracts, and no secret.
    ///
    /// # Errors
    /// All contracts that cannot be used.
    pub fn accounts(&self) -> Result<Accounts, ConfigError> {
        self.readers().map(|readers| readers.accounts())
    }

    /// Which contract reads what came to each source. Reads contracts, and no secret.
    ///
    /// # Errors
    /// All contracts that cannot be used.
    pub fn readers(&self) -> Result<Readers, ConfigError> {
        let mut mistakes = Mistakes::new();
        let mut readers = BTreeMap::new();
        let mut tolerances = BTreeMap::new();
        for source in &self.sources {
            let Some(contract) = noting(&mut mistakes, source, contract(source)) else { continue };
            let account = account(source, &contract);
            let stated = *tolerances.entry(account.clone()).or_insert(source.tolerance_minor);
            if stated != source.tolerance_minor {
                let message =
                    format!("tolerance_minor must be {stated}, as at the other source of {account}");
                let _ = noting::<()>(&mut mistakes, source, Err(message));
            }
            readers.insert(source.name.to_string(), (account, contract));
        }
        finished(self, mistakes, Readers(readers))
    }

    /// What the ledger has to know of each source, and the accounts whose payments can be looked up. Contracts that
    /// cannot be read are refused by [`Config::accounts`], with their own messages.
    pub(crate) fn beliefs(&self) -> (BTreeMap<SourceName, Truth>, BTreeSet<Account>) {
        let (mut truths, mut asked) = (BTreeMap::new(), BTreeSet::new());
        for source in &self.sources {
            let Ok(contract) = contract(source) else { continue };
            truths.insert(source.name.clone(), truth(source, &contract));
            if source.lookup_key.is_some() {
                asked.insert(account(source, &contract));
            }
        }
        (truths, asked)
    }

    /// All sources, ready to receive.
    ///
    /// # Errors
    /// All contracts and secrets that cannot be used, by source. Never a secret.
    pub fn sources(&self) -> Result<Sources, ConfigError> {
        let mut mistakes = Mistakes::new();
        let mut by_name = BTreeMap::new();
        for source in &self.sources {
            let contract = noting(&mut mistakes, source, contract(source));
            let secrets: Option<Vec<_>> = source
                .secrets
                .iter()
                .map(|secret| noting(&mut mistakes, source, secret.read()))
                .collect::<Vec<_>>()
                .into_iter()
                .collect();
            let lookup_key = source.lookup_key.as_ref().map(|key| noting(&mut mistakes, source, key.read()));
            let (Some(contract), Some(secrets)) = (contract, secrets) else { continue };
            let built =
                build(source, contract, secrets, lookup_key.flatten()).map_err(|error| error.to_string());
            if let Some(built) = noting(&mut mistakes, source, built) {
                by_name.insert(source.name.to_string(), built);
            }
        }
        let accounts = by_name.iter().map(|(name, source)| (name.clone(), source.account.clone())).collect();
        finished(self, mistakes, Sources { by_name, accounts: Accounts(accounts) })
    }
}

fn finished<T>(config: &Config, mistakes: Mistakes, value: T) -> Result<T, ConfigError> {
    if mistakes.is_empty() { Ok(value) } else { Err(ConfigError::new(&config.file, mistakes)) }
}

fn noting<T>(mistakes: &mut Mistakes, source: &SourceConfig, result: Result<T, String>) -> Option<T> {
    let note = |problem| mistakes.push((Some(source.line), format!("source {}: {problem}", source.name)));
    result.map_err(note).ok()
}

fn contract(source: &SourceConfig) -> Result<Contract, String> {
    let overlay = source.overlay.as_ref();
    let parsed = match &source.contract {
        ContractChoice::Builtin(name) => Contract::builtin(name, overlay),
        ContractChoice::File(path) => {
            let text = std::fs::read_to_string(path)
                .map_err(|error| format!("the contract {} cannot be read: {error}", path.display()))?;
            Contract::parse(&text, &path.display().to_string(), overlay)
        }
    };
    let contract = parsed.map_err(|error| error.to_string())?;
    suited(source, &contract)?;
    if contract.provider().as_str().contains('/') {
        return Err("the contract's provider holds a /, which separates names in keys".to_owned());
    }
    believable(source, &contract)?;
    Ok(contract)
}

/// Whether the source's own choices are ones that its provider can live with.
fn suited(source: &SourceConfig, contract: &Contract) -> Result<(), String> {
    if contract.needs_secret() && source.secrets.is_empty() {
        return Err("the source has no secret, and nothing is accepted unverified: \
                    write secrets = [\"env:NAME\"]"
            .to_owned());
    }
    let harmful = |status: u16| contract.acknowledgement().avoid.contains(&status);
    if source.unmatched == Unmatched::Reject && harmful(422) {
        return Err("unmatched = \"reject\" answers 422, after which this provider does not try again: \
                    write \"keep\" or \"hold\""
            .to_owned());
    }
    match source.conflict_status {
        Some(status) if harmful(status) => {
            Err(format!("conflict_status = {status} is an answer that this provider takes for the end"))
        }
        _ => Ok(()),
    }
}

/// Whether a source's events count by themselves, or its provider is asked.
fn truth(source: &SourceConfig, contract: &Contract) -> Truth {
    source.truth.unwrap_or(match contract.truth() {
        paidonce_contracts::Truth::Event => Truth::Event,
        paidonce_contracts::Truth::Fetch => Truth::Fetch,
    })
}

/// Refuses what would believe what nobody signed, or ask where nobody can be asked.
fn believable(source: &SourceConfig, contract: &Contract) -> Result<(), String> {
    let asks = source.lookup_key.is_some();
    if asks && contract.lookup().is_none() {
        return Err(
            "lookup_key is of no use: the contract does not say how a payment is looked up".to_owned()
        );
    }
    match truth(source, contract) {
        Truth::Event => contract.refuses_truth_event().map_or(Ok(()), |why| Err(format!("truth = \"event\": {why}"))),
        Truth::Fetch if contract.lookup().is_none() => Err(
            "truth = \"fetch\" asks the provider, and the contract does not say how: state [lookup] in it, or in an \
             overlay"
                .to_owned(),
        ),
        Truth::Fetch if !asks => {
            Err("truth = \"fetch\" asks the provider: write lookup_key = \"env:NAME\", where its API key is".to_owned())
        }
        Truth::Fetch => Ok(()),
    }
}

fn account(source: &SourceConfig, contract: &Contract) -> Account {
    Account { provider: contract.provider().clone(), name: source.account.clone(), mode: source.mode }
}

fn build(
    source: &SourceConfig,
    contract: Contract,
    secrets: Vec<Secret>,
    lookup_key: Option<Secret>,
) -> Result<Source, SecretError> {
    Ok(Source {
        name: source.name.clone(),
        account: account(source, &contract),
        verifier: Verifier::new(&contract, &secrets)?,
        conflict_status: source.conflict_status.unwrap_or(contract.acknowledgement().conflict_status),
        contract,
        lookup_key,
        secrets,
    })
}
