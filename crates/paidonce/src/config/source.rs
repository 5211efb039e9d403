//! `[[source]]`: one endpoint `/in/<name>`, as the file states it. What it becomes is `crate::source`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use paidonce_ledger::{Hints, Mode, Name, SourceName, Truth, Unmatched};
use toml::de::DeTable;

use super::secret::{self, SecretRef};
use super::section::Section;

/// One `[[source]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceConfig {
    /// The last part of its URL.
    pub name: SourceName,
    /// How its provider delivers.
    pub contract: ContractChoice,
    /// The merchant's account there.
    pub account: Name,
    /// Live or test.
    pub mode: Mode,
    /// At least one, unless nothing is signed or a certificate signs; several while one is rolled.
    pub secrets: Vec<SecretRef>,
    /// Which hints count.
    pub hints: Hints,
    /// What to do with payments that find no order.
    pub unmatched: Unmatched,
    /// The answer to an event id that comes with other content, if not the contract's.
    pub conflict_status: Option<u16>,
    /// How many minor units too little or too much still count as exact, at this source's account.
    pub tolerance_minor: u64,
    /// Whether its events' facts count, if not as the contract says.
    pub truth: Option<Truth>,
    /// The API key that lookups are made with.
    pub lookup_key: Option<SecretRef>,
    /// What is merged over the contract.
    pub overlay: Option<toml::Table>,
    /// The line it begins at, for messages.
    pub(crate) line: usize,
}

/// A contract by name or by file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContractChoice {
    /// A shipped one.
    Builtin(String),
    /// The merchant's own.
    File(PathBuf),
}

const MODES: &[(&str, Mode)] = &[("live", Mode::Live), ("test", Mode::Test)];
const HINTS: &[(&str, Hints)] = &[("issued", Hints::Issued), ("own_ids", Hints::OwnIds)];
const TRUTHS: &[(&str, Truth)] = &[("event", Truth::Event), ("fetch", Truth::Fetch)];
const UNMATCHED: &[(&str, Unmatched)] =
    &[("keep", Unmatched::Keep), ("reject", Unmatched::Reject), ("hold", Unmatched::Hold)];

fn source_name(text: &str) -> Result<SourceName, &'static str> {
    let wrong = "write 1 to 64 of a-z, 0-9 and -";
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if text.len() > 64 || !text.bytes().all(plain) {
        return Err(wrong);
    }
    SourceName::new(text).map_err(|_| wrong)
}

fn account_name(text: &str) -> Result<Name, String> {
    if text.contains('/') {
        return Err("an account's name holds no /".to_owned());
    }
    Name::new(text).map_err(|error| error.to_string())
}

impl SourceConfig {
    /// `None` if something that everything hangs on is missing; the mistakes say so.
    pub(super) fn read(section: Section<'_>, folder: &Path, line: usize) -> Option<Self> {
        let name = section.required("name", "\"shop\"");
        let name = name.and_then(|text| section.understood("name", text, source_name));
        let account = section.required("account", "\"main\"");
        let account = account.and_then(|text| section.understood("account", text, account_name));
        let mode = mode(&section);
        let contract = contract(&section, folder);
        // Whether there have to be any is the contract's to say: `crate::source` asks it.
        let secrets = secret::places(&section, "secrets", folder);
        let hints = section.choice("hints", Hints::default(), HINTS);
        let unmatched = section.choice("unmatched", Unmatched::default(), UNMATCHED);
        let conflict_status = conflict_status(&section);
        let tolerance_minor = section.number("tolerance_minor", 0, 0..=1_000_000_000_000);
        let truth = truth(&section);
        let lookup_key = section.parsed("lookup_key", |text| SecretRef::parse(text, folder));
        let overlay = overlay(&section);
        section.finish();
        let (name, account, mode, contract) = (name?, account?, mode?, contract?);
        Some(Self {
            name,
            contract,
            account,
            mode,
            secrets,
            hints,
            unmatched,
            conflict_status,
            tolerance_minor,
            truth,
            lookup_key,
            overlay,
            line,
        })
    }

    pub(super) fn show(&self, out: &mut String) {
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let _ = writeln!(out, "\n[[source]]\nname = \"{}\"", self.name);
        let _ = match &self.contract {
            ContractChoice::Builtin(name) => writeln!(out, "contract = {}", quoted(name)),
            ContractChoice::File(path) => {
                writeln!(out, "contract_file = {}", quoted(&path.display().to_string()))
            }
        };
        let _ = writeln!(out, "account = {}\nmode = \"{}\"", quoted(self.account.as_str()), self.mode);
        let _ = writeln!(out, "secrets = {}", secret::shown(&self.secrets));
        let _ = writeln!(out, "hints = \"{}\"", super::word_of(HINTS, &self.hints));
        let _ = writeln!(out, "unmatched = \"{}\"", super::word_of(UNMATCHED, &self.unmatched));
        if let Some(truth) = &self.truth {
            let _ = writeln!(out, "truth = \"{}\"", super::word_of(TRUTHS, truth));
        }
        if let Some(key) = &self.lookup_key {
            let _ = writeln!(out, "lookup_key = {} # is ***", quoted(&key.to_string()));
        }
        let _ = writeln!(out, "tolerance_minor = {}", self.tolerance_minor);
        if let Some(status) = self.conflict_status {
            let _ = writeln!(out, "conflict_status = {status}");
        }
        if let Some(overlay) = &self.overlay {
            let source =
                toml::Table::from_iter([("overlay".to_owned(), toml::Value::Table(overlay.clone()))]);
            let wrapped = toml::Table::from_iter([("source".to_owned(), toml::Value::Table(source))]);
            let _ = write!(out, "\n{wrapped}");
        }
    }
}

fn mode(section: &Section<'_>) -> Option<Mode> {
    let text = section.required("mode", "\"live\" or \"test\"")?;
    section.understood("mode", text, |text| {
        let found = MODES.iter().find(|(word, _)| *word == text).map(|(_, mode)| *mode);
        found.ok_or("write \"live\" or \"test\", whichever the secret belongs to")
    })
}

fn contract(section: &Section<'_>, folder: &Path) -> Option<ContractChoice> {
    let builtin = section.text("contract");
    let file = section.text("contract_file");
    match (builtin, file) {
        (Some(name), None) => Some(ContractChoice::Builtin(name.text.to_owned())),
        (None, Some(path)) => Some(ContractChoice::File(folder.join(path.text))),
        (Some(_), Some(path)) => {
            section.wrong(path.span, "write contract or contract_file, not both");
            None
        }
        (None, None) => {
            let names: Vec<_> = paidonce_contracts::Contract::names().collect();
            let message = format!(
                "the source has no contract: write contract = one of {}, or contract_file = \"PATH\"",
                names.join(", ")
            );
            section.wrong(section.span(), message);
            None
        }
    }
}

fn conflict_status(section: &Section<'_>) -> Option<u16> {
    match section.number("conflict_status", 0, 200..=409) {
        0 => None,
        200 => Some(200),
        409 => Some(409),
        _ => {
            section.wrong(section.span(), "source.conflict_status must be 200 or 409");
            None
        }
    }
}

/// Whether that goes with the contract is seen where that is read.
fn truth(section: &Section<'_>) -> Option<Truth> {
    section.parsed("truth", |text| {
        let found = TRUTHS.iter().find(|(word, _)| *word == text).map(|(_, truth)| *truth);
        found.ok_or("write \"event\" (its events' facts count) or \"fetch\" (each event asks the provider)")
    })
}

fn overlay(section: &Section<'_>) -> Option<toml::Table> {
    let (table, span) = section.inner("overlay")?;
    let plain = |table: &DeTable<'_>| -> Result<toml::Table, toml::de::Error> {
        let value = toml::de::DeValue::Table(table.clone());
        serde::Deserialize::deserialize(toml::de::ValueDeserializer::from(toml::Spanned::new(
            span.clone(),
            value,
        )))
    };
    match plain(table) {
        Ok(table) => Some(table),
        Err(error) => {
            section.wrong(span, format!("overlay: {}", error.message()));
            None
        }
    }
}
