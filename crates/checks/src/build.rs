//! Building the programs that a benchmark runs, with the cargo that runs the benchmark.

use std::path::Path;
use std::process::Command;

use crate::database::Failure;

/// `cargo build --release` of these packages.
///
/// # Errors
/// It does not build.
pub fn cargo(cargo: &str, words: &[&str], target: &Path) -> Result<(), Failure> {
    let mut command = Command::new(cargo);
    command.args(["build", "--release", "--locked"]).args(words).arg("--target-dir").arg(target);
    // What cargo tells a benchmark about its package would make build scripts run again, and all that rests on them.
    for (name, _) in std::env::vars_os() {
        if name
            .to_str()
            .is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST"))
        {
            command.env_remove(name);
        }
    }
    run(&mut command)
}

/// The packages of Node that a folder's lock file names. Answers whether there is Node at all.
///
/// # Errors
/// They cannot be installed.
pub fn npm(folder: &Path) -> Result<bool, Failure> {
    if Command::new("node").arg("--version").output().is_err() {
        return Ok(false);
    }
    if !folder.join("node_modules").exists() {
        run(Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(folder))?;
    }
    Ok(true)
}

fn run(command: &mut Command) -> Result<(), Failure> {
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} ended with {status}").into()) }
}
