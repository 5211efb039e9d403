//! Durable admissions per second: the engine and the server beside what a careful developer writes by hand.
//!
//! `cargo bench -p paidonce-checks`. Every side is a process of its own on a fresh copy of the same database; the
//! sides take turns (A B C, A B C, ...), so that a noisy neighbour meets all of them. Read the ratios: absolute
//! figures are the machine's. A bar that is not reached is printed, and fails nothing; a row too few or too many
//! ends the whole with an error.
//!
//! `-- --short` for a smoke, `--long` for 300,000 orders, `--only local` or `--only http`, `--in-flight N`,
//! `--orders N`, `--rounds N`, `--ms N`. Before each run it waits until the machine is quiet, at most `--patience-s N`
//! (10): read what it says about runs that began on a busy one.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use paidonce_checks::arguments::Arguments;
use paidonce_checks::outcome::Outcome;
use paidonce_checks::side::{Programs, Run, Side};
use paidonce_checks::{preload, quiet};

type Failure = Box<dyn std::error::Error>;

fn build(words: &[&str], target: &Path) -> Result<(), Failure> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["build", "--release", "--locked"]).args(words).arg("--target-dir").arg(target);
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} ended with {status}").into()) }
}

/// Builds what is not there yet, and says where it is.
fn programs(root: &Path, target: &Path, http: bool) -> Result<Programs, Failure> {
    let bench = root.join("bench");
    let manifest = bench.join("Cargo.toml").display().to_string();
    build(&["--manifest-path", &manifest], &bench.join("target"))?;
    if http {
        let manifest = root.join("Cargo.toml").display().to_string();
        // Together with this package, so that its dependencies are those that are built already.
        build(
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
struct Plan {
    sides: Vec<Side>,
    in_flight: Vec<u64>,
    rounds: u64,
    patience: Duration,
}

/// Runs every side in turn, and compares what they wrote. Answers also how many runs began on a busy machine.
fn measure(run: &Run<'_>, plan: &Plan) -> Result<(Outcome, u64), Failure> {
    let (mut outcome, mut busy) = (Outcome::default(), 0);
    let mut written: Option<(Side, String)> = None;
    for in_flight in &plan.in_flight {
        for round in 1..=plan.rounds {
            for side in &plan.sides {
                busy += u64::from(!quiet::wait(plan.patience));
                let (report, rows) = run.of(*side, *in_flight)?;
                eprintln!(
                    "{:<30} {in_flight:>4} in flight, round {round}: {:.0}/s",
                    side.name(),
                    report.rate()
                );
                outcome.add(*side, *in_flight, report);
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
    Ok((outcome, busy))
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
    let sides = match arguments.get("only", "all".to_owned())?.as_str() {
        "local" => Side::LOCAL.to_vec(),
        "http" => Side::HTTP.to_vec(),
        _ => [Side::LOCAL, Side::HTTP].concat(),
    };
    let programs = programs(&root, target, sides.iter().any(|side| Side::HTTP.contains(side)))?;
    let in_flight = match arguments.get("in-flight", 0)? {
        0 if short => vec![64],
        0 => vec![1, 8, 64, 256],
        n => vec![n],
    };
    // On the disk that the build is on: a temporary folder may be memory, where durability costs nothing.
    let folder = target.join("bench-data");
    std::fs::create_dir_all(&folder)?;
    let template = preload::template(&folder, orders)?;
    let ms = arguments.get("ms", if short { 500 } else { 2_500 })?;
    let run = Run { programs: &programs, template: &template, orders, ms };
    let patience = Duration::from_secs(arguments.get("patience-s", if short { 0 } else { 10 })?);
    let (outcome, busy) = measure(&run, &Plan { sides, in_flight, rounds, patience })?;
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
