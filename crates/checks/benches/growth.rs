//! Whether a store grows slow: admissions per second on one that holds a million events beside one that holds none.
//!
//! `cargo bench -p paidonce-checks --bench growth`. Two databases have the same open orders; one of them has a past as
//! well, made by the product: orders placed, paid and granted. The engine admits on both in turns, each time the next
//! notifications. A ratio under the bar is printed and fails nothing; a row too few or too many fails.
//!
//! `-- --only sqlite`, `postgres` or `mysql`; `--long` for a past of a million (50,000 otherwise), `--rows N`,
//! `--rounds N`, `--count N` admissions a turn, `--in-flight N`.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::float_arithmetic)]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use paidonce_checks::arguments::Arguments;
use paidonce_checks::database::{Backend, Database, Failure};
use paidonce_checks::report::{Report, median};
use paidonce_checks::{preload, quiet, rows};
use paidonce_workload::WINDOW;

/// The least that a full store's rate may be, to an empty one's.
const LEAST: f64 = 0.7;

struct Plan {
    /// Events that the full store holds beforehand.
    past: u64,
    rounds: u64,
    /// Admissions in a turn.
    count: u64,
    in_flight: u64,
    patience: Duration,
}

impl Plan {
    fn of(arguments: &Arguments) -> Result<Self, String> {
        let long = arguments.has("long");
        let rows = arguments.get("rows", if long { 1_000_000_u64 } else { 50_000 })?;
        Ok(Self {
            // Whole windows, so that the past's payments are of the past's orders.
            past: rows.div_ceil(WINDOW) * WINDOW,
            rounds: arguments.get("rounds", if long { 5 } else { 1 })?,
            count: arguments.get("count", if long { 16_384 } else { WINDOW })?,
            in_flight: arguments.get("in-flight", 256)?,
            patience: Duration::from_secs(arguments.get("patience-s", if long { 10 } else { 0 })?),
        })
    }

    /// All orders there will ever be.
    fn all(&self) -> u64 {
        self.past + (self.rounds * self.count).next_multiple_of(WINDOW)
    }

    fn fill(&self, database: &Database, past: u64) -> Result<(), Failure> {
        let store = preload::open(database)?;
        let windows = past / WINDOW;
        preload::past(&*store, windows, |done| {
            if done % 32 == 0 || done == windows {
                eprintln!("{}: {} events", database.backend().name(), done * WINDOW);
            }
        })?;
        preload::place_all(&*store, self.past..self.all())?;
        drop(store);
        database.settle()
    }

    /// Admits the next notifications on one database.
    fn admit(&self, database: &Database, round: u64) -> Result<Report, Failure> {
        let mut engine = Command::new(env!("CARGO_BIN_EXE_bench-engine"));
        let numbers = [
            ("--orders", self.all()),
            ("--from", self.past + round * self.count),
            ("--count", self.count),
            ("--in-flight", self.in_flight),
            ("--ms", 600_000),
        ];
        engine.args(["--store", &database.store_url()]).stderr(Stdio::inherit());
        let words = numbers.iter().flat_map(|(name, n)| [(*name).to_owned(), n.to_string()]);
        let output = engine.args(words).output()?;
        if !output.status.success() {
            return Err(format!("{engine:?} ended with {}", output.status).into());
        }
        let report: Report = serde_json::from_slice(&output.stdout)?;
        if report.acknowledged != self.count || report.errors > 0 {
            return Err(format!("{} of {} were admitted", report.acknowledged, self.count).into());
        }
        Ok(report)
    }

    /// The median of the ratios of the rounds, in each of which both took their turn.
    fn compare(&self, empty: &Database, full: &Database) -> Result<f64, Failure> {
        self.fill(empty, 0)?;
        self.fill(full, self.past)?;
        let mut ratios = Vec::new();
        for round in 0..self.rounds {
            let busy = if quiet::wait(self.patience) { "" } else { ", on a busy machine" };
            // Who begins has the page cache as the other left it: each does every other time.
            let (one, two) = if round % 2 == 0 { (empty, full) } else { (full, empty) };
            let (one, two) = (self.admit(one, round)?.rate(), self.admit(two, round)?.rate());
            let (empty, full) = if round % 2 == 0 { (one, two) } else { (two, one) };
            println!("round {}: empty {empty:.0}/s, full {full:.0}/s, {:.2}x{busy}", round + 1, full / empty);
            ratios.push(full / empty);
        }
        let admitted = self.rounds * self.count;
        rows::count(empty, admitted, true)?;
        rows::count(full, self.past + admitted, true)?;
        median(ratios.into_iter()).ok_or_else(|| "there was no round".into())
    }
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::own();
    let backend = match arguments.get("only", "sqlite".to_owned())?.as_str() {
        "postgres" => Backend::Postgres,
        "mysql" => Backend::Mysql,
        _ => Backend::Sqlite,
    };
    let plan = Plan::of(&arguments)?;
    // On the disk that the build is on: a temporary folder may be memory.
    let target =
        Path::new(env!("CARGO_BIN_EXE_bench-engine")).ancestors().nth(2).ok_or("no target folder")?;
    let folder = target.join("bench-data");
    std::fs::create_dir_all(&folder)?;
    let name = |what: &str| format!("{what}_{}", std::process::id());
    let empty = Database::new(backend, &folder, &name("empty"))?;
    let full = Database::new(backend, &folder, &name("full"))?;
    let ratio = plan.compare(&empty, &full);
    empty.remove()?;
    full.remove()?;
    let ratio = ratio?;
    let word = if ratio >= LEAST { "reached" } else { "NOT reached" };
    println!(
        "{}, {} events: {ratio:.2}x of the empty store's rate, >= {LEAST}x: {word}",
        backend.name(),
        plan.past
    );
    println!("Every admission is stored once, in both.");
    Ok(())
}
