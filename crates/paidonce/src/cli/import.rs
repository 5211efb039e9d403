//! `paidonce import`: an export into an empty store of any kind, read back and compared at the end.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use clap::Args;
use paidonce_engine::Clock as _;
use paidonce_store::{Export, FileError, ImportError, ImportOptions, Imported};
use serde::Serialize;

use super::context::Context;
use crate::clock::SystemClock;
use crate::output::{Exit, Failure, Progress};

/// From where to where.
#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// What `paidonce export` wrote.
    file: PathBuf,
    /// Import into this store instead of the configured one: an address as in [store], env:NAME or file:PATH.
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// Rows in one commit: fewer take longer and block others less.
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u16).range(1..))]
    rows_a_commit: u16,
}

#[derive(Debug, Serialize)]
struct Done {
    store: String,
    rows: usize,
    digest: String,
    /// Rows that an earlier run had put there.
    before: usize,
}

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Self {
        let what = error.to_string();
        match error {
            ImportError::Store(error) => {
                let failure = Self::from(error);
                Self {
                    remedy: format!("{}; then run the import again: it goes on", failure.remedy),
                    ..failure
                }
            }
            ImportError::NotEmpty(_) => {
                Self::new(what, "name an empty store, or the file of the import that began")
            }
            ImportError::Changed => {
                Self::new(what, "stop whatever writes to it, and begin with an empty store")
            }
            ImportError::Differs(..) => Self::new(what, "keep the export and the store"),
        }
    }
}

pub(super) fn run(args: &ImportArgs, context: &Context) -> Result<Exit, Failure> {
    let export = read(&args.file)?;
    let store = context.store(args.store.as_deref())?;
    let mut progress = Progress::new("importing", export.ledger.len());
    let options = ImportOptions { rows_a_commit: args.rows_a_commit.into(), now: SystemClock.now() };
    let Imported { summary, before } =
        paidonce_store::import(&*store, &export, &options, &mut |done| progress.at(done))?;
    progress.clear();
    let done = Done { store: store.describe(), rows: summary.rows, digest: summary.digest, before };
    context.output.show(&done, |Done { store, rows, digest, before }| {
        let went_on = if *before == 0 { String::new() } else { format!(" ({before} were there already)") };
        format!(
            "{store} holds the {rows} rows of the export{went_on}, read back and compared.\nDigest {digest}"
        )
    });
    Ok(Exit::Ok)
}

fn read(file: &Path) -> Result<Export, Failure> {
    let mut progress = Progress::open("reading");
    let read = File::open(file)
        .map_err(FileError::from)
        .and_then(|open| paidonce_store::read(&mut BufReader::new(open), &mut |done, _| progress.at(done)));
    read.map_err(|error| {
        Failure::new(
            format!("{}: {error}", file.display()),
            "nothing was imported; export again, or mend the file",
        )
    })
}
