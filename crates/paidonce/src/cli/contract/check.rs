//! `paidonce contract check`: a contract's own mistakes by line, and a verdict for every vector.

use std::collections::BTreeMap;
use std::path::Path;

use paidonce_contracts::Contract;
use paidonce_contracts::vectors::{self, Bench, Vector};
use serde::Serialize;

use super::named::{Named, file};
use crate::cli::context::Context;
use crate::output::{Exit, Failure, Table};

/// One vector's line.
#[derive(Debug, Serialize)]
struct Line {
    vector: String,
    /// `as_expected`, `differs` or `not_run`.
    result: &'static str,
    expect: &'static str,
    verdict: String,
    reason: String,
    description: String,
}

/// The whole answer.
#[derive(Debug, Serialize)]
struct Checked {
    provider: String,
    title: String,
    differing: usize,
    vectors: Vec<Line>,
}

pub(super) fn run(
    contract: &str,
    vectors: Option<&Path>,
    settings: Option<&Path>,
    context: &Context,
) -> Result<Exit, Failure> {
    let named = Named::load(contract, settings)?;
    let (all, certificates) = match vectors {
        None => (Vec::new(), BTreeMap::new()),
        Some(path) => read(path)?,
    };
    let whole = named.contract();
    // A contract that the source completes may be complete with each vector's own settings.
    let whole = if all.is_empty() { Some(whole?) } else { whole.ok() };
    let lines: Vec<Line> = all.iter().map(|vector| line(vector, contract, &named, &certificates)).collect();
    let differing = lines.iter().filter(|line| line.result != "as_expected").count();
    let of =
        |text: fn(&Contract) -> &str| whole.as_ref().map_or(String::new(), |whole| text(whole).to_owned());
    let checked = Checked {
        provider: of(|whole| whole.provider().as_str()),
        title: of(Contract::title),
        differing,
        vectors: lines,
    };
    context.output.show(&checked, |checked| people(checked, contract));
    Ok(if differing == 0 { Exit::Ok } else { Exit::Failed })
}

fn line(vector: &Vector, contract: &str, named: &Named, certificates: &BTreeMap<String, Vec<u8>>) -> Line {
    let own = |settings: &toml::Table| named.with(settings);
    // A vector of another shipped contract is that contract's to answer.
    let other = vector.scheme.as_deref().filter(|scheme| *scheme != contract);
    let other = other.and_then(Contract::builtin_text).and(other).unwrap_or_default();
    let others = |settings: &toml::Table| Contract::builtin(other, Some(settings));
    let contract: &dyn Fn(&toml::Table) -> _ = if other.is_empty() { &own } else { &others };
    let outcome = vector.run(&Bench { contract, certificates });
    let word = |valid| if valid { "valid" } else { "invalid" };
    let (result, verdict, reason) = match outcome {
        Ok(outcome) if outcome.as_expected => ("as_expected", word(outcome.valid), outcome.reason),
        Ok(outcome) => ("differs", word(outcome.valid), outcome.reason),
        Err(problem) => ("not_run", "none", problem),
    };
    Line {
        vector: vector.id.clone(),
        result,
        expect: word(vector.valid),
        verdict: verdict.to_owned(),
        reason,
        description: vector.description.clone(),
    }
}

fn people(checked: &Checked, contract: &str) -> String {
    if checked.vectors.is_empty() {
        return format!(
            "{contract}: {}, no mistake found; --vectors FILE proves its signatures",
            checked.title
        );
    }
    let heading = ["vector", "result", "verdict", "reason", "what it shows"];
    let mut table = Table::new(&heading, "No vectors.");
    for line in &checked.vectors {
        let result = match line.result {
            "differs" => format!("DIFFERS, expected {}", line.expect),
            other => other.replace('_', " "),
        };
        table.row([&line.vector, &result, &line.verdict, &line.reason, &line.description]);
    }
    let count = checked.vectors.len();
    format!("{}\n\n{} of {count} vectors as expected", table.text(), count - checked.differing)
}

type Files = BTreeMap<String, Vec<u8>>;

/// The vectors, and the certificates that lie beside them.
fn read(path: &Path) -> Result<(Vec<Vector>, Files), Failure> {
    let all = vectors::parse(&file(path)?).map_err(|error| {
        let remedy = "docs/guides/add-a-provider.md shows the shape of a vector";
        Failure::usage(format!("{}: {error}", path.display()), remedy)
    })?;
    if all.is_empty() {
        let what = format!("{}: there is no vector in it", path.display());
        return Err(Failure::usage(what, "a check of nothing proves nothing: add a vector"));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut certificates = Files::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        if path.extension().is_some_and(|ending| ending == "pem")
            && let Some(name) = name.to_str()
            && let Ok(pem) = std::fs::read(&path)
        {
            certificates.insert(name.to_owned(), pem);
        }
    }
    Ok((all, certificates))
}
