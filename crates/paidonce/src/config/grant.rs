//! `[grant]`: the merchant's own statements, run in the transaction of each grant.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use paidonce_ledger::Retries;
use paidonce_store::GrantSql;

use super::ConfigError;
use super::section::Section;

/// The `[grant]` section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantConfig {
    /// The statements, if there are any.
    pub sql: Option<GrantText>,
    /// How long each statement may take, in seconds.
    pub timeout_s: u32,
    /// So many tries of a grant that they refuse, then a case.
    pub attempts_max: u32,
}

/// Where the statements stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GrantText {
    /// In the configuration itself: the text, and the line where its key is.
    Here(String, usize),
    /// In a file of their own.
    File(PathBuf),
}

impl GrantConfig {
    pub(super) fn read(section: Section<'_>, folder: &Path, line: &dyn Fn(usize) -> usize) -> Self {
        let here = section.text("sql");
        let file = section.text("sql_file");
        if let (Some(_), Some(file)) = (&here, &file) {
            section.wrong(
                file.span.clone(),
                "grant.sql and grant.sql_file are the same thing: write one of them",
            );
        }
        let sql = match (here, file) {
            (Some(text), _) => {
                let (statements, at) = (text.text.to_owned(), line(text.span.start));
                let read = section.understood("sql", text, GrantSql::parse);
                read.map(|_| GrantText::Here(statements, at))
            }
            (None, file) => file.map(|file| GrantText::File(folder.join(file.text))),
        };
        let bounded =
            |key, default, most| u32::try_from(section.number(key, default, 1..=most)).unwrap_or(u32::MAX);
        let timeout_s = bounded("timeout_s", 5, 300);
        let attempts_max = bounded("attempts_max", 12, 1_000);
        section.finish();
        Self { sql, timeout_s, attempts_max }
    }

    /// Reads the statements. `config` is the configuration's own file.
    ///
    /// # Errors
    /// The file cannot be read, or the line of the first mistake in it.
    pub(super) fn statements(&self, config: &Path) -> Result<Option<GrantSql>, ConfigError> {
        let sql = match &self.sql {
            None => return Ok(None),
            Some(GrantText::Here(text, line)) => GrantSql::parse(text).map_err(|error| {
                ConfigError::new(config, vec![(Some(*line), format!("grant.sql: {error}"))])
            })?,
            Some(GrantText::File(file)) => {
                let text = std::fs::read_to_string(file).map_err(|error| {
                    ConfigError::whole(file, format!("grant.sql_file cannot be read: {error}"))
                })?;
                GrantSql::parse(&text)
                    .map_err(|error| ConfigError::new(file, vec![(Some(error.line), error.what)]))?
            }
        };
        Ok(Some(sql.within(self.timeout_s.saturating_mul(1_000))))
    }

    pub(super) fn retries(&self) -> Retries {
        Retries { attempts_max: self.attempts_max, ..Retries::default() }
    }

    pub(super) fn show(&self, out: &mut String) {
        out.push_str("\n[grant]\n");
        let text = |text: &str| toml::Value::String(text.to_owned());
        let _ = match &self.sql {
            None => Ok(()),
            Some(GrantText::Here(sql, _)) => writeln!(out, "sql = {}", text(sql)),
            Some(GrantText::File(file)) => writeln!(out, "sql_file = {}", text(&file.display().to_string())),
        };
        let _ = writeln!(out, "timeout_s = {}\nattempts_max = {}", self.timeout_s, self.attempts_max);
    }
}
