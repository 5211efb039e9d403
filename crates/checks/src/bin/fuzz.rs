//! Runs every fuzz target of the contracts crate for a while: `cargo run -p paidonce-checks --bin fuzz -- --seconds 30`.
//!
//! It builds them with the compiler's own coverage on the stable toolchain (no sanitizer, no cargo-fuzz), one process a
//! target, and prints a line for each. Ends with 1 if one of them crashed; the input that did it is named and kept.
//! Inputs are kept under `target/fuzz`, so that the next run goes on from there. `--only TARGET` runs one.
#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

type Failure = Box<dyn std::error::Error>;

/// The targets, and where in the crate the seeds of each are.
const TARGETS: [(&str, &[&str]); 6] = [
    ("header", &["fuzz/seeds/header"]),
    ("body", &["fixtures/stripe", "fixtures/paypal", "fixtures/nowpayments"]),
    ("money", &["fuzz/seeds/money"]),
    ("contract", &["contracts"]),
    ("xml", &["fuzz/seeds/xml", "fixtures/braintree"]),
    ("form", &["fuzz/seeds/form"]),
];

/// What cargo-fuzz gives the compiler with `-s none`.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 --cfg fuzzing";

/// The longest input: bodies of providers stay below.
const LENGTH_MAX: u32 = 16_384;

struct Wanted {
    seconds: u32,
    only: Option<String>,
}

fn wanted() -> Result<Wanted, Failure> {
    let mut wanted = Wanted { seconds: 30, only: None };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
        match word.as_str() {
            "--seconds" => wanted.seconds = value.parse()?,
            "--only" => wanted.only = Some(value),
            _ => return Err(format!("{word}: use --seconds N and --only TARGET").into()),
        }
    }
    if let Some(only) = &wanted.only
        && !TARGETS.iter().any(|(name, _)| name == only)
    {
        return Err(format!("{only}: use one of {}", TARGETS.map(|(name, _)| name).join(", ")).into());
    }
    Ok(wanted)
}

fn main() -> Result<ExitCode, Failure> {
    let wanted = wanted()?;
    let contracts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../contracts").canonicalize()?;
    let target = contracts.join("../../target/fuzz");
    build(&contracts, &target)?;
    let mut crashed = false;
    for (name, seeds) in TARGETS {
        if wanted.only.as_deref().is_none_or(|only| only == name) {
            crashed |= !run(name, seeds, wanted.seconds, &contracts, &target)?;
        }
    }
    Ok(if crashed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn build(contracts: &Path, target: &Path) -> Result<(), Failure> {
    let host = host()?;
    let mut command = Command::new(env!("CARGO"));
    // With a target named, the coverage is the product's and not the build scripts' own.
    command.args(["build", "--release", "--bins", "--target", &host, "--manifest-path"]);
    command.arg(contracts.join("fuzz/Cargo.toml")).arg("--target-dir").arg(target).env("RUSTFLAGS", COVERAGE);
    if command.status()?.success() { Ok(()) } else { Err("the fuzz targets do not build".into()) }
}

/// The triple that this compiler builds for.
fn host() -> Result<String, Failure> {
    let told = Command::new("rustc").arg("-vV").output()?;
    let told = String::from_utf8(told.stdout)?;
    let line = told.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(line.ok_or("rustc does not say its host")?.to_owned())
}

/// Runs one, prints its line, and tells whether it went through.
fn run(name: &str, seeds: &[&str], seconds: u32, contracts: &Path, target: &Path) -> Result<bool, Failure> {
    let corpus = target.join("corpus").join(name);
    let found = target.join("found").join(name);
    std::fs::create_dir_all(&corpus)?;
    std::fs::create_dir_all(&found)?;
    let mut command = Command::new(target.join(host()?).join("release").join(name));
    command.arg(&corpus).args(seeds.iter().map(|seeds| contracts.join(seeds)));
    command
        .arg(format!("-dict={}", contracts.join("fuzz/dictionaries").join(format!("{name}.dict")).display()));
    command.arg(format!("-artifact_prefix={}/", found.display()));
    command.args([
        format!("-max_total_time={seconds}"),
        format!("-max_len={LENGTH_MAX}"),
        "-timeout=5".to_owned(),
        "-rss_limit_mb=1024".to_owned(),
        "-print_final_stats=1".to_owned(),
    ]);
    let output = command.output()?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let figure = |label: &str| {
        let line = told.lines().rev().find_map(|line| line.strip_prefix(label));
        line.unwrap_or(": ?").trim_start_matches(':').trim().to_owned()
    };
    let coverage = told.lines().rev().find_map(|line| line.split_once(" cov: ").map(|(_, rest)| rest));
    let coverage = coverage.and_then(|rest| rest.split(' ').next()).unwrap_or("?");
    let executed = figure("stat::number_of_executed_units");
    let passed = output.status.success();
    println!(
        "{name:9} {executed:>10} inputs, {coverage:>6} edges: {}",
        if passed { "no crash" } else { "CRASHED" }
    );
    if !passed {
        let mut kept: Vec<PathBuf> =
            std::fs::read_dir(&found)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
        kept.sort();
        let last: Vec<&str> = told.lines().rev().take(30).collect();
        println!("{}\nkept: {kept:?}", last.into_iter().rev().collect::<Vec<_>>().join("\n"));
    }
    Ok(passed)
}
