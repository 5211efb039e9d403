//! `paidonce export`: everything that the store holds, as lines, to a file or to stdout. A file appears whole or not at
//! all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use paidonce_ledger::Ledger;
use paidonce_store::Summary;
use serde::Serialize;

use super::context::Context;
use crate::output::{Exit, Failure, Progress};

/// From where to where.
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// The file to write, or - for stdout. It holds customers, order contents and notifications: keep it safe.
    file: PathBuf,
    /// Export this store instead of the configured one: an address as in [store], env:NAME or file:PATH.
    #[arg(long, value_name = "URL")]
    store: Option<String>,
}

#[derive(Debug, Serialize)]
struct Exported {
    store: String,
    rows: usize,
    digest: String,
}

pub(super) fn run(args: &ExportArgs, context: &Context) -> Result<Exit, Failure> {
    let store = context.store(args.store.as_deref())?;
    let ledger = store.snapshot()?;
    if args.file == Path::new("-") {
        let written = write(&ledger, io::stdout().lock());
        let summary = written.map_err(|error| failed(&error, Path::new("stdout")))?;
        // stdout is the export's.
        context.output.remark(&format!("{} rows, digest {}", summary.rows, summary.digest));
        return Ok(Exit::Ok);
    }
    let Summary { rows, digest } =
        to_file(&ledger, &args.file).map_err(|error| failed(&error, &args.file))?;
    let exported = Exported { store: store.describe(), rows, digest };
    context.output.show(&exported, |exported| {
        let Exported { store, rows, digest } = exported;
        format!("Wrote {rows} rows of {store} to {}.\nDigest {digest}", args.file.display())
    });
    Ok(Exit::Ok)
}

fn failed(error: &io::Error, file: &Path) -> Failure {
    Failure::new(format!("{} cannot be written: {error}", file.display()), "make room, or name another file")
}

fn write(ledger: &Ledger, to: impl Write) -> io::Result<Summary> {
    let mut progress = Progress::new("exporting", ledger.len());
    paidonce_store::export(ledger, &mut BufWriter::new(to), &mut |done| progress.at(done))
}

/// Beside the file first: half an export must not stand under its name, nor over an older one.
fn to_file(ledger: &Ledger, file: &Path) -> io::Result<Summary> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside = tempfile::Builder::new().prefix(".paidonce-export-").tempfile_in(folder)?;
    let summary = write(ledger, beside.as_file())?;
    beside.as_file().sync_all()?;
    beside.persist(file)?;
    File::open(folder)?.sync_all()?;
    Ok(summary)
}
