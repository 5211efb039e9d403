//! Durable admissions per second: the engine and the server beside what a careful developer writes by hand.
//!
//! `cargo bench -p paidonce-checks`. Every side is a process of its own on a fresh copy of the same database; the
//! sides take turns (A B C, A B C, ...), so that a noisy neighbour meets all of them. Read the ratios: absolute
//! figures are the machine's. A bar that is not reached is printed, and fails nothing; a row too few or too many
//! ends the whole with an error.
//!
//! `-- --short` for a smoke, `--long` for 300,000 orders, `--only local`, `http`, `sqlite`, `postgres` or `mysql`,
//! `--in-flight N`, `--orders N`, `--rounds N`, `--ms N`. Before each run it waits until the machine is quiet, at most `--patience-s N`
//! (10): read what it says about runs that began on a busy one. `--built` takes the programs as they were built last.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::{Path, PathBuf};
use std::time::Duration;

use paidonce_checks::arguments::Arguments;
use paidonce_checks::database::{Backend, Failure};
use paidonce_checks::outcome::Outcome;
use paidonce_checks::side::{Programs, Run, Side};
use paidonce_checks::{build, preload, quiet};

/// Builds what is not there yet, and says where it is.
fn programs(root: &Path, target: &Path, http: bool, build_them: bool) -> Result<Programs, Failure> {
    let bench = root.join("bench");
    let manifest = bench.join("Cargo.toml").display().to_string();
    if build_them {
        build::cargo(env!("CARGO"), &["--manifest-path", &manifest], &bench.join("target"))?;
    }
    if http && build_them {
        let manifest = root.join("Cargo.toml").display().to_string();
        // Together with this package, so that its dependencies are those that are built already.
        build::cargo(
            env!("CARGO"),
            &["--manifest-path", &manifest, "--package", "paidonce", "--package", "paidonce-checks"],
            target,
        )?;
    }
    Ok(Programs {
        bench: bench.join("target/release"),
        engine: PathBuf::from(env!("CARGO_BIN_EXE_bench-engine")),
        storeless: PathBuf::from(env!("CARGO_BIN_EXE_bench-storeless")),
        paidonce: target.join("release/paidonce"),
    })
}

/// What is measured.
struct Plan<'a> {
    programs: &'a Programs,
    folder: &'a Path,
    orders: u64,
    ms: u64,
    in_flight: Vec<u64>,
    rounds: u64,
    patience: Duration,
}

/// What was measured.
#[derive(Default)]
struct Measured {
    outcome: Outcome,
    /// Runs that began on a busy machine.
    busy: u64,
}

/// Runs the sides on one kind of database in turn, and compares what they wrote.
fn measure(plan: &Plan<'_>, sides: &[Side], run: &Run<'_>, measured: &mut Measured) -> Result<(), Failure> {
    let mut written: Option<(Side, String)> = None;
    for in_flight in &plan.in_flight {
        for round in 1..=plan.rounds {
            for side in sides {
                measured.busy += u64::from(!quiet::wait(plan.patience));
                let (report, rows) = run.of(*side, *in_flight)?;
                eprintln!(
                    "{:<30} {in_flight:>4} in flight, round {round}: {:.0}/s",
                    side.name(),
                    report.rate()
                );
                measured.outcome.add(*side, *in_flight, report);
                let Some(rows) = rows else { continue };
                match &written {
                    None => written = Some((*side, rows)),
                    Some((_, first)) if *first == rows => {}
                    Some((other, first)) => {
                        let (one, two) = (other.name(), side.name());
                        return Err(format!("{one} and {two} write other rows:\n{first}\n{rows}").into());
                    }
                }
            }
        }
    }
    Ok(())
}

/// Everything on one kind of database.
fn on(plan: &Plan<'_>, backend: Backend, sides: &[Side], measured: &mut Measured) -> Result<(), Failure> {
    let template = preload::template(backend, plan.folder, plan.orders)?;
    let Plan { programs, folder, orders, ms, .. } = *plan;
    let run = Run { programs, template: &template, folder, orders, ms };
    let result = measure(plan, sides, &run, measured);
    if backend != Backend::Sqlite {
        template.remove()?;
    }
    result
}

/// The sides that were asked for. Servers are asked for by name: they may not be running.
fn sides(only: &str) -> Result<Vec<Side>, Failure> {
    Ok(match only {
        "local" => Side::LOCAL.to_vec(),
        "http" | "sqlite" => Side::http(Backend::Sqlite),
        "postgres" => Side::http(Backend::Postgres),
        "mysql" => Side::http(Backend::Mysql),
        "all" => [Side::LOCAL.to_vec(), Side::http(Backend::Sqlite)].concat(),
        other => return Err(format!("--only {other}: that is no side").into()),
    })
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::own();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    // target/<profile>/bench-engine
    let target =
        Path::new(env!("CARGO_BIN_EXE_bench-engine")).ancestors().nth(2).ok_or("no target folder")?;
    let short = arguments.has("short");
    let orders = match (short, arguments.has("long")) {
        (true, _) => 20_000,
        (_, true) => 300_000,
        _ => 100_000,
    };
    let orders = arguments.get("orders", orders)?;
    let rounds = arguments.get("rounds", if short { 1 } else { 3 })?;
    let sides = sides(&arguments.get("only", "all".to_owned())?)?;
    let http = sides.iter().any(|side| !Side::LOCAL.contains(side));
    let programs = programs(&root, target, http, !arguments.has("built"))?;
    let in_flight = match arguments.get("in-flight", 0)? {
        0 if short => vec![64],
        0 if sides.iter().any(|side| side.backend() != Backend::Sqlite) => vec![64, 256],
        0 => vec![1, 8, 64, 256],
        n => vec![n],
    };
    // On the disk that the build is on: a temporary folder may be memory, where durability costs nothing.
    let folder = target.join("bench-data");
    std::fs::create_dir_all(&folder)?;
    let ms = arguments.get("ms", if short { 500 } else { 2_500 })?;
    let patience = Duration::from_secs(arguments.get("patience-s", if short { 0 } else { 10 })?);
    let plan = Plan { programs: &programs, folder: &folder, orders, ms, in_flight, rounds, patience };
    let mut measured = Measured::default();
    for backend in Backend::ALL {
        let sides: Vec<_> = sides.iter().copied().filter(|side| side.backend() == *backend).collect();
        if !sides.is_empty() {
            on(&plan, *backend, &sides, &mut measured)?;
        }
    }
    let Measured { outcome, busy } = measured;
    println!("\n{orders} open orders, medians of {rounds} rounds of {ms} ms\n\n{}", outcome.table());
    for bar in outcome.bars() {
        let word = if bar.reached { "reached" } else { "NOT reached" };
        println!("{:<62} {:>6.2}x  {word}", bar.what, bar.ratio);
    }
    if busy > 0 {
        println!(
            "\n{busy} runs began on a busy machine: single commits suffer most, and the ratios flatter batches."
        );
    }
    println!("\nEvery run: events stored = admissions acknowledged, none lost, none doubled, the same rows.");
    Ok(())
}
