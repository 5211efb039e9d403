//! Draining a queue: who does it, how one run of each is made, and what must stand in the database afterwards.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::database::{Backend, Database, Failure};
use crate::report::median;

/// One run: one line of JSON, the same from every side.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Drained {
    /// Jobs that were carried out, each once.
    pub jobs: u64,
    /// From the worker's start until the last of them was written down as done.
    pub seconds: f64,
}

impl Drained {
    /// Jobs per second.
    #[must_use]
    #[allow(clippy::cast_precision_loss, clippy::float_arithmetic)] // A rate for people.
    pub fn rate(&self) -> f64 {
        self.jobs as f64 / self.seconds
    }
}

/// Who drains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Drainer {
    /// graphile-worker with a local queue and batched completions: no lease, no version.
    GraphileWorker,
    /// pg-boss, fetching and completing a hundred at a time.
    PgBoss,
    /// apalis on Postgres.
    ApalisPostgres,
    /// apalis on SQLite, as durable as paidonce.
    ApalisSqlite,
    /// apalis on SQLite, whose commits a power loss takes back.
    ApalisSqliteOff,
    /// paidonce's worker of grants.
    Own(Backend),
}

impl Drainer {
    /// Everybody on one kind of database.
    #[must_use]
    pub fn on(backend: Backend) -> Vec<Self> {
        match backend {
            Backend::Sqlite => vec![Self::ApalisSqlite, Self::ApalisSqliteOff, Self::Own(backend)],
            Backend::Postgres => {
                vec![Self::GraphileWorker, Self::PgBoss, Self::ApalisPostgres, Self::Own(backend)]
            }
            Backend::Mysql => vec![Self::Own(backend)],
        }
    }

    /// The name in the table.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::GraphileWorker => "graphile-worker, local queue".to_owned(),
            Self::PgBoss => "pg-boss, batches of 100".to_owned(),
            Self::ApalisPostgres => "apalis-postgres".to_owned(),
            Self::ApalisSqlite => "apalis-sqlite".to_owned(),
            Self::ApalisSqliteOff => "apalis-sqlite, synchronous off".to_owned(),
            Self::Own(backend) => format!("paidonce, {}", backend.name()),
        }
    }

    /// The database that it works on.
    #[must_use]
    pub fn backend(self) -> Backend {
        match self {
            Self::GraphileWorker | Self::PgBoss | Self::ApalisPostgres => Backend::Postgres,
            Self::ApalisSqlite | Self::ApalisSqliteOff => Backend::Sqlite,
            Self::Own(backend) => backend,
        }
    }

    /// The least that paidonce's rate may be, to this one's.
    #[must_use]
    pub fn least(self) -> Option<f64> {
        match self {
            Self::GraphileWorker => Some(0.5),
            Self::PgBoss | Self::ApalisPostgres => Some(2.5),
            // The other is not as durable: it is shown, and no bar.
            Self::ApalisSqlite => Some(20.0),
            Self::ApalisSqliteOff | Self::Own(_) => None,
        }
    }

    /// Whether it is a script for Node.
    #[must_use]
    pub fn is_script(self) -> bool {
        matches!(self, Self::GraphileWorker | Self::PgBoss)
    }

    /// The slowest need fewer jobs for a steady rate.
    fn jobs(self, tasks: u64) -> u64 {
        match self {
            Self::ApalisSqlite | Self::ApalisSqliteOff => tasks.min(2_000),
            _ => tasks,
        }
    }
}

/// Where the programs are.
#[derive(Debug, Clone)]
pub struct Programs {
    /// `bench-drain`.
    pub own: PathBuf,
    /// `paidonce-apalis`.
    pub apalis: PathBuf,
    /// The folder of the scripts for Node.
    pub peers: PathBuf,
}

/// A run.
#[derive(Debug, Clone)]
pub struct Run<'a> {
    /// Where the programs are.
    pub programs: &'a Programs,
    /// A database whose grants are all due.
    pub template: &'a Database,
    /// A folder on the disk that is measured.
    pub folder: &'a Path,
    /// How many they are.
    pub tasks: u64,
}

impl Run<'_> {
    /// Drains once, on a database of its own, and counts what stands there afterwards.
    ///
    /// # Errors
    /// It could not run, or a job was lost or done twice.
    pub fn of(&self, drainer: Drainer) -> Result<Drained, Failure> {
        let name = format!("drain_{}", std::process::id());
        let database = match drainer {
            Drainer::Own(_) => self.template.copy(&name)?,
            other => Database::new(other.backend(), self.folder, &name)?,
        };
        let outcome = self.drain(drainer, &database).and_then(|drained| {
            if let Drainer::Own(_) = drainer {
                granted(&database, self.tasks)?;
            }
            Ok(drained)
        });
        database.remove()?;
        outcome
    }

    fn drain(&self, drainer: Drainer, database: &Database) -> Result<Drained, Failure> {
        let jobs = drainer.jobs(self.tasks).to_string();
        let mut command = match drainer {
            Drainer::GraphileWorker | Drainer::PgBoss => {
                let script = if drainer == Drainer::PgBoss { "pg-boss.mjs" } else { "graphile-worker.mjs" };
                let mut command = Command::new("node");
                command.arg(self.programs.peers.join(script)).current_dir(&self.programs.peers);
                command
            }
            Drainer::Own(_) => Command::new(&self.programs.own),
            _ => Command::new(&self.programs.apalis),
        };
        match drainer {
            Drainer::Own(_) => command.args(["--store", &database.store_url(), "--tasks", &jobs]),
            _ => command.args(["--db", &database.address(), "--jobs", &jobs]),
        };
        if drainer == Drainer::ApalisSqliteOff {
            command.args(["--synchronous", "off"]);
        }
        let output = command.stderr(Stdio::inherit()).output()?;
        if !output.status.success() {
            return Err(format!("{command:?} ended with {}", output.status).into());
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }
}

/// Every task is done at its first attempt, and has left one entitlement that stands. (Both are unique by the schema, so
/// equal numbers are equal sets.)
///
/// # Errors
/// The first difference, as a sentence.
pub fn granted(database: &Database, tasks: u64) -> Result<(), Failure> {
    let backend = database.backend();
    for (what, table, which) in [
        ("entitlements", "entitlement", "revoked_at IS NULL"),
        ("entitlements, revoked ones too,", "entitlement", "1 = 1"),
        ("tasks done", "task", "kind = 'grant' AND state = 'done' AND active = 0 AND attempts = 1"),
        ("tasks of any kind", "task", "1 = 1"),
    ] {
        let sql = format!("SELECT count(*) FROM {} WHERE {which}", backend.table(table));
        let stored = database.texts(&sql)?.into_iter().flatten().flatten().next().unwrap_or_default();
        if stored != tasks.to_string() {
            return Err(format!("{tasks} tasks were due, and {stored} {what} are stored").into());
        }
    }
    Ok(())
}

/// What this process has used of the CPUs so far; 0 where `/proc` does not say.
#[must_use]
pub fn cpu_ms() -> u64 {
    const MS_PER_TICK: u64 = 10;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the name, which may hold anything: the 12th and 13th member are user and system time.
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = after_name.split_whitespace().skip(11).take(2).filter_map(|text| text.parse::<u64>().ok());
    ticks.sum::<u64>() * MS_PER_TICK
}

/// Everybody's runs.
#[derive(Debug, Clone, Default)]
pub struct Drains(BTreeMap<Drainer, Vec<Drained>>);

impl Drains {
    /// One more run.
    pub fn add(&mut self, drainer: Drainer, drained: Drained) {
        self.0.entry(drainer).or_default().push(drained);
    }

    fn rate(&self, drainer: Drainer) -> Option<f64> {
        median(self.0.get(&drainer)?.iter().map(Drained::rate))
    }

    /// The medians, and paidonce's beside each.
    #[must_use]
    #[allow(clippy::float_arithmetic)] // A ratio for people.
    pub fn table(&self) -> String {
        let mut text = format!("{:<32} {:>9} {:>9}  {:<20}\n", "", "jobs/s", "paidonce", "");
        for drainer in self.0.keys() {
            let Some(rate) = self.rate(*drainer) else { continue };
            let _ = write!(text, "{:<32} {rate:>9.0}", drainer.name());
            let own =
                self.rate(Drainer::Own(drainer.backend())).filter(|_| !matches!(drainer, Drainer::Own(_)));
            if let Some(ratio) = own.map(|own| own / rate) {
                let _ = write!(text, " {ratio:>8.2}x");
                if let Some(least) = drainer.least() {
                    let word = if ratio >= least { "reached" } else { "NOT reached" };
                    let _ = write!(text, "  >= {least}x {word}");
                }
            }
            text.push('\n');
        }
        text
    }
}

#[test]
fn medians_are_compared_with_those_on_the_same_database() {
    let mut drains = Drains::default();
    for seconds in [1.0, 9.0, 2.0] {
        drains.add(Drainer::PgBoss, Drained { jobs: 1_000, seconds });
    }
    drains.add(Drainer::Own(Backend::Postgres), Drained { jobs: 1_000, seconds: 1.0 });
    drains.add(Drainer::Own(Backend::Sqlite), Drained { jobs: 1_000, seconds: 0.1 });
    let table = drains.table();
    assert!(table.contains("500     2.00x  >= 2.5x NOT reached"), "{table}");
}
