//! Tasks drained per second: the worker of grants beside job queues that do nothing in each job, on the same server.
//!
//! `cargo bench -p paidonce-checks --bench drain`. Every side is a process of its own on a database of its own, and they
//! take turns. paidonce's tasks are whole grants: recheck, entitlement and task done in one commit, with the fencing number;
//! the others' are empty. Rows are counted after every run, and one too few or too many ends the whole with an error; a bar
//! that is not reached fails nothing. Then the time from a commit to the first attempt on an idle engine, and of an HTTP
//! effect on an idle server.
//!
//! `-- --only sqlite` or `postgres`, `--tasks N`, `--rounds N`, `--payments N` for the latency (0: not at all),
//! `--patience-s N` as in `admission`, `--built` takes the programs as they were built last.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use paidonce_checks::arguments::Arguments;
use paidonce_checks::database::{Backend, Database, Failure};
use paidonce_checks::drain::{Drainer, Drains, Programs, Run};
use paidonce_checks::report::Report;
use paidonce_checks::{build, latency, preload, quiet};

/// From a commit to the first attempt, 99 of 100 times.
const LATENCY_MAX_US: u64 = 50_000;

/// Where the programs are, built unless they were.
fn programs(root: &Path, target: &Path, build_them: bool) -> Result<Programs, Failure> {
    let bench = root.join("bench");
    if build_them {
        let manifest = bench.join("Cargo.toml").display().to_string();
        let apalis = ["--manifest-path", &manifest, "--package", "paidonce-apalis"];
        build::cargo(env!("CARGO"), &apalis, &bench.join("target"))?;
        let manifest = root.join("Cargo.toml").display().to_string();
        let own = ["--manifest-path", &manifest, "--package", "paidonce", "--package", "paidonce-checks"];
        build::cargo(env!("CARGO"), &own, target)?;
    }
    Ok(Programs {
        own: PathBuf::from(env!("CARGO_BIN_EXE_bench-drain")),
        apalis: bench.join("target/release/paidonce-apalis"),
        peers: bench.join("peers"),
    })
}

struct Plan {
    programs: Programs,
    paidonce: PathBuf,
    folder: PathBuf,
    tasks: u64,
    rounds: u64,
    payments: u64,
    patience: Duration,
    scripts: bool,
}

impl Plan {
    /// A new database that `fill` has been at, for as long as `use_it` takes.
    fn with<T>(
        &self,
        backend: Backend,
        what: &str,
        fill: impl FnOnce(&Database) -> Result<(), Failure>,
        use_it: impl FnOnce(&Database) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let name = format!("{what}_{}", std::process::id());
        let database = Database::new(backend, &self.folder, &name)?;
        let outcome = fill(&database).and_then(|()| database.settle()).and_then(|()| use_it(&database));
        database.remove()?;
        outcome
    }

    fn drain(&self, backend: Backend, drains: &mut Drains) -> Result<(), Failure> {
        let fill = |database: &Database| preload::due(&*preload::open(database)?, self.tasks);
        self.with(backend, "due", fill, |template| {
            let run = Run { programs: &self.programs, template, folder: &self.folder, tasks: self.tasks };
            for round in 1..=self.rounds {
                for drainer in Drainer::on(backend) {
                    if drainer.is_script() && !self.scripts {
                        continue;
                    }
                    let busy = if quiet::wait(self.patience) { "" } else { ", on a busy machine" };
                    let drained = run.of(drainer)?;
                    eprintln!("{:<32} round {round}: {:.0}/s{busy}", drainer.name(), drained.rate());
                    drains.add(drainer, drained);
                }
            }
            Ok(())
        })
    }

    fn latencies(&self, backend: Backend) -> Result<(), Failure> {
        let open = |database: &Database| preload::place_all(&*preload::open(database)?, 0..self.payments);
        let grant = self.with(backend, "idle", open, |database| {
            let mut own = Command::new(&self.programs.own);
            own.args(["--store", &database.store_url(), "--one-by-one", &self.payments.to_string()]);
            let output = own.stderr(Stdio::inherit()).output()?;
            if !output.status.success() {
                return Err(format!("{own:?} ended with {}", output.status).into());
            }
            Ok(serde_json::from_slice(&output.stdout)?)
        })?;
        tell(backend, "grant", &grant);
        let effect = self.with(backend, "idle", open, |database| {
            latency::http_effect(&self.paidonce, &self.folder, database, self.payments)
        })?;
        tell(backend, "HTTP effect", &effect);
        Ok(())
    }
}

#[allow(clippy::cast_precision_loss, clippy::float_arithmetic)] // Milliseconds for people.
fn tell(backend: Backend, what: &str, report: &Report) {
    let ms = |us: u64| us as f64 / 1_000.0;
    println!(
        "{}, from commit to first attempt, {what}: p50 {:.2} ms, p99 {:.2} ms, max {:.2} ms; p99 < {} ms {}",
        backend.name(),
        ms(report.p50_us),
        ms(report.p99_us),
        ms(report.max_us),
        LATENCY_MAX_US / 1_000,
        if report.p99_us < LATENCY_MAX_US { "reached" } else { "NOT reached" }
    );
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::own();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    // target/<profile>/bench-drain
    let target = Path::new(env!("CARGO_BIN_EXE_bench-drain")).ancestors().nth(2).ok_or("no target folder")?;
    let backends = match arguments.get("only", "all".to_owned())?.as_str() {
        "all" => vec![Backend::Sqlite, Backend::Postgres],
        "sqlite" => vec![Backend::Sqlite],
        "postgres" => vec![Backend::Postgres],
        other => return Err(format!("--only {other}: that is no side").into()),
    };
    let programs = programs(&root, target, !arguments.has("built"))?;
    let scripts = !backends.contains(&Backend::Postgres) || build::npm(&programs.peers)?;
    if !scripts {
        println!("There is no Node here: graphile-worker and pg-boss are left out.");
    }
    // On the disk that the build is on: a temporary folder may be memory, where durability costs nothing.
    let folder = target.join("bench-data");
    std::fs::create_dir_all(&folder)?;
    let plan = Plan {
        programs,
        paidonce: target.join("release/paidonce"),
        folder,
        tasks: arguments.get("tasks", 20_000)?,
        rounds: arguments.get("rounds", 3)?,
        payments: arguments.get("payments", 300)?,
        patience: Duration::from_secs(arguments.get("patience-s", 10)?),
        scripts,
    };
    let mut drains = Drains::default();
    for backend in &backends {
        plan.drain(*backend, &mut drains)?;
    }
    println!("\n{} tasks, medians of {} rounds\n\n{}", plan.tasks, plan.rounds, drains.table());
    if plan.payments > 0 {
        for backend in &backends {
            plan.latencies(*backend)?;
        }
    }
    println!(
        "\nEvery run: each job was done once, and none is left; one entitlement for each of paidonce's tasks."
    );
    Ok(())
}
