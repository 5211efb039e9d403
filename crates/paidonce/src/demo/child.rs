//! The server as a child process of the demo. It is never stopped kindly: every stop is a SIGKILL, so each restart
//! shows that nothing acknowledged is lost (P1).

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader};
use std::process::{Child as Process, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde::Deserialize;

use super::shop::Shop;
use crate::output::Failure;

/// How long a start may take: migrations, and a machine that is busy with something else.
const READY_WITHIN: Duration = Duration::from_secs(30);

/// A running server.
pub(super) struct Child {
    process: Process,
    ready: Ready,
}

/// The one line that `serve --json` says.
#[derive(Debug, Default, Deserialize)]
struct Ready {
    public: String,
    api: String,
}

impl Child {
    /// Starts a server on the shop's store and waits until it is ready.
    pub(super) fn start(shop: &Shop, grants: bool) -> Result<Self, Failure> {
        shop.write(grants)?;
        let failed = |error: std::io::Error| {
            Failure::unavailable(
                format!("the server cannot be started: {error}"),
                "see the error, and try again",
            )
        };
        let log = OpenOptions::new().create(true).append(true).open(shop.log_file()).map_err(failed)?;
        let program = std::env::current_exe().map_err(failed)?;
        let mut process = Command::new(program)
            .arg("--config")
            .arg(shop.config_file())
            .args(["--json", "serve"])
            .envs(shop.environment())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .map_err(failed)?;
        let stdout = process.stdout.take();
        // From here on the process is killed if anything goes wrong.
        let mut child = Self { process, ready: Ready::default() };
        child.ready = stdout.and_then(first_line).ok_or_else(|| not_ready(shop))?;
        Ok(child)
    }

    /// Where notifications go.
    pub(super) fn public(&self) -> &str {
        &self.ready.public
    }

    /// Where the API answers.
    pub(super) fn api(&self) -> &str {
        &self.ready.api
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It may have ended by itself; there is nothing to do about either then.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Waits for the line, and goes on reading: a server that cannot write is a server that fails.
fn first_line(stdout: ChildStdout) -> Option<Ready> {
    let (said, heard) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut stdout, mut line) = (BufReader::new(stdout), String::new());
        if stdout.read_line(&mut line).is_ok() {
            let _ = said.send(line);
        }
        let _ = std::io::copy(&mut stdout, &mut std::io::sink());
    });
    serde_json::from_str(&heard.recv_timeout(READY_WITHIN).ok()?).ok()
}

fn not_ready(shop: &Shop) -> Failure {
    let log = std::fs::read_to_string(shop.log_file()).unwrap_or_default();
    let mut last: Vec<_> = log.lines().rev().take(5).collect();
    last.reverse();
    let said = if last.is_empty() { "it said nothing".to_owned() } else { last.join("\n  ") };
    Failure::unavailable(
        format!("the server did not become ready:\n  {said}"),
        "see the error, and try again",
    )
}
