//! The sides: what is measured beside what, and how one run of each is made.

use std::fs;
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use paidonce_workload::{ACCOUNT_NAME, SECRET, SOURCE};

use crate::database::{Backend, Database, Failure};
use crate::report::Report;
use crate::rows;

/// The most admissions per second that are prepared for a naive side. (Preparing them takes time, too.)
const NAIVE_RATE_MAX: u64 = 15_000;

/// One side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Bare rusqlite, all threads on one connection behind a mutex.
    RusqliteOne,
    /// Bare rusqlite, a connection per thread.
    RusqliteEach,
    /// The engine on SQLite.
    Engine,
    /// axum + sqlx, a pool of connections.
    Sqlx(Backend),
    /// The product's server on a store that keeps nothing.
    Storeless,
    /// `paidonce serve`.
    Serve(Backend),
}

impl Side {
    /// The sides without HTTP.
    pub const LOCAL: &'static [Self] = &[Self::RusqliteOne, Self::RusqliteEach, Self::Engine];

    /// The sides with HTTP on one database.
    #[must_use]
    pub fn http(backend: Backend) -> Vec<Self> {
        let storeless = (backend == Backend::Sqlite).then_some(Self::Storeless);
        [Self::Sqlx(backend)].into_iter().chain(storeless).chain([Self::Serve(backend)]).collect()
    }

    /// Its name in the table.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::RusqliteOne => "naive rusqlite, one connection".to_owned(),
            Self::RusqliteEach => "naive rusqlite, one each".to_owned(),
            Self::Engine => "paidonce engine".to_owned(),
            Self::Sqlx(backend) => format!("naive axum + sqlx, {}", backend.name()),
            Self::Storeless => "paidonce serve, no store".to_owned(),
            Self::Serve(backend) => format!("paidonce serve, {}", backend.name()),
        }
    }

    /// The database that it is given a copy of.
    #[must_use]
    pub fn backend(self) -> Backend {
        match self {
            Self::Sqlx(backend) | Self::Serve(backend) => backend,
            _ => Backend::Sqlite,
        }
    }

    fn naive(self) -> bool {
        matches!(self, Self::RusqliteOne | Self::RusqliteEach | Self::Sqlx(_))
    }

    fn over_http(self) -> bool {
        matches!(self, Self::Sqlx(_) | Self::Storeless | Self::Serve(_))
    }
}

/// Where the programs are.
#[derive(Debug, Clone)]
pub struct Programs {
    /// The folder of the naive sides and `load`.
    pub bench: PathBuf,
    /// `bench-engine`.
    pub engine: PathBuf,
    /// `bench-storeless`, where the program can be built.
    pub storeless: PathBuf,
    /// `paidonce`.
    pub paidonce: PathBuf,
}

/// One run.
#[derive(Debug, Clone)]
pub struct Run<'a> {
    /// Where the programs are.
    pub programs: &'a Programs,
    /// The database to begin with.
    pub template: &'a Database,
    /// A folder on the disk that is measured.
    pub folder: &'a Path,
    /// How many open orders it holds.
    pub orders: u64,
    /// How long to admit, unless the orders run out.
    pub ms: u64,
}

/// A server that is killed when the run is over, without a chance to flush: what it acknowledged must be there.
pub(crate) struct Server(pub(crate) Child);

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to end.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Run<'_> {
    /// Runs a side once on a fresh copy and counts the rows afterwards. Answers the run and the rows of its first
    /// admission.
    ///
    /// # Errors
    /// It could not run, an attempt failed on one of our sides, or rows and acknowledgements differ.
    pub fn of(&self, side: Side, in_flight: u64) -> Result<(Report, Option<String>), Failure> {
        // Its own name, so that two benchmarks at once disturb each other's figures only.
        let database = self.template.copy(&format!("run_{}", std::process::id()))?;
        let outcome = self.on(&database, side, in_flight);
        // A file is left where it is if something differed, for whoever looks into it.
        if outcome.is_ok() || side.backend() != Backend::Sqlite {
            database.remove()?;
        }
        outcome
    }

    fn on(
        &self,
        database: &Database,
        side: Side,
        in_flight: u64,
    ) -> Result<(Report, Option<String>), Failure> {
        let count =
            if side.naive() { self.orders.min(NAIVE_RATE_MAX * self.ms / 1_000) } else { self.orders };
        let numbers =
            [("--orders", self.orders), ("--count", count), ("--in-flight", in_flight), ("--ms", self.ms)];
        let words = numbers.iter().flat_map(|(name, n)| [(*name).to_owned(), n.to_string()]);
        let report = if side.over_http() {
            let (server, address) = self.serve(side, database)?;
            let mut load = Command::new(self.programs.bench.join("load"));
            let report = report(load.args(words).args(["--to", &address]));
            drop(server);
            report?
        } else {
            report(self.local(side).args(words).arg("--db").arg(database.address()))?
        };
        if report.errors > 0 && !side.naive() {
            return Err(format!("{}: {} attempts failed", side.name(), report.errors).into());
        }
        if report.acknowledged == 0 {
            return Err(format!("{}: no attempt succeeded", side.name()).into());
        }
        if side == Side::Storeless {
            return Ok((report, None));
        }
        rows::count(database, report.acknowledged, report.errors == 0)
            .map_err(|difference| format!("{} at {in_flight} in flight: {difference}", side.name()))?;
        let sample = rows::sample(database, self.orders)?;
        Ok((report, Some(sample)))
    }

    fn local(&self, side: Side) -> Command {
        if side == Side::Engine {
            return Command::new(&self.programs.engine);
        }
        let mut command = Command::new(self.programs.bench.join("naive-rusqlite"));
        command.args(["--connections", if side == Side::RusqliteOne { "one" } else { "each" }]);
        command
    }

    fn serve(&self, side: Side, database: &Database) -> Result<(Server, String), Failure> {
        // Free now; nobody else on this machine asks for it within the next moment.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
        let mut command = match side {
            Side::Sqlx(backend) => {
                let mut command = Command::new(self.programs.bench.join(backend.naive_program()));
                command.args(["--db", &database.address(), "--listen", &address]);
                command
            }
            _ => {
                let file = configuration(self.folder, database, &address)?;
                let program = match side {
                    Side::Storeless => &self.programs.storeless,
                    _ => &self.programs.paidonce,
                };
                let mut command = Command::new(program);
                command.arg("--config").arg(file).arg("serve");
                command
            }
        };
        command.env("PAIDONCE_BENCH_SECRET", SECRET).stdout(Stdio::null()).stderr(Stdio::null());
        Ok((Server(command.spawn()?), address))
    }
}

/// `paidonce.toml` for a run. Grants are off: the naive sides grant nothing either.
fn configuration(folder: &Path, database: &Database, address: &str) -> io::Result<PathBuf> {
    configured(folder, database, address, "[workers]\ngrant = \"off\"\n")
}

/// `paidonce.toml` of the shop, with these sections as well.
pub(crate) fn configured(
    folder: &Path,
    database: &Database,
    address: &str,
    sections: &str,
) -> io::Result<PathBuf> {
    let file = folder.join(format!("run-{}.toml", std::process::id()));
    let url = database.store_url();
    let text = format!(
        "[server]\npublic = \"{address}\"\n\n[store]\nurl = \"{url}\"\n\n[log]\nlevel = \"warn\"\n\n\
         {sections}\n[[source]]\nname = \"{SOURCE}\"\ncontract = \"stripe\"\n\
         account = \"{ACCOUNT_NAME}\"\nmode = \"live\"\nsecrets = [\"env:PAIDONCE_BENCH_SECRET\"]\n"
    );
    fs::write(&file, text)?;
    Ok(file)
}

fn report(command: &mut Command) -> Result<Report, Failure> {
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("{command:?} ended with {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
