//! The command line, through the built binary: what it prints, what it answers to programs, how it ends.

mod audit;
mod config;
mod contract;
mod entitlements;
mod events;
mod explain;
mod grant_sql;
mod guide;
mod help;
mod init;
mod keys;
mod operate;
mod orders;
mod remote;
mod reprocess;
mod send;
mod tasks;
mod transfer;

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

const SECRET: (&str, &str) = ("PAIDONCE_TEST_SECRET", "whsec_of_these_tests");

/// A merchant's folder with a configuration.
pub(crate) struct Place {
    folder: TempDir,
    environment: Vec<(String, String)>,
}

/// What one command did.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A server on a [`Place`], killed when dropped.
pub(crate) struct Serving {
    process: Child,
    pub(crate) public: String,
    pub(crate) api: String,
}

impl Place {
    /// With one Stripe source in test mode; `grant` is `on` or `off`.
    pub(crate) fn new(grant: &str) -> Self {
        let place = Self::empty();
        place.write(
            "paidonce.toml",
            &format!(
                "[server]\npublic = \"127.0.0.1:0\"\n[store]\nurl = \"sqlite:test.db\"\n[log]\nlevel = \"warn\"\n\
                 [workers]\ngrant = \"{grant}\"\n[[source]]\nname = \"stripe\"\ncontract = \"stripe\"\n\
                 account = \"main\"\nmode = \"test\"\nsecrets = [\"env:{}\"]\n",
                SECRET.0
            ),
        );
        place
    }

    /// Without a configuration.
    pub(crate) fn empty() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), environment: vec![] }
    }

    /// With this in the environment of every command.
    pub(crate) fn with_environment(self, environment: Vec<(String, String)>) -> Self {
        Self { environment, ..self }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_paidonce"));
        command.current_dir(self.folder.path()).args(args).env(SECRET.0, SECRET.1).env("USER", "tester");
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs a command in the folder.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.run_with(args, &[])
    }

    /// With more environment.
    pub(crate) fn run_with(&self, args: &[&str], environment: &[(&str, &str)]) -> Ran {
        let Output { status, stdout, stderr } =
            self.command(args).envs(environment.iter().copied()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran { code: status.code().unwrap(), out: text(stdout), err: text(stderr) }
    }

    /// Runs a command that must succeed, and reads its JSON.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let ran = self.run(&[&["--json"], args].concat());
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
        serde_json::from_str(&ran.out).unwrap()
    }

    /// Starts the server.
    pub(crate) fn serve(&self) -> Serving {
        self.serve_with(&[])
    }

    /// With more environment.
    pub(crate) fn serve_with(&self, environment: &[(&str, &str)]) -> Serving {
        let mut command = self.command(&["--json", "serve"]);
        command.envs(environment.iter().copied()).stdout(Stdio::piped()).stdin(Stdio::null());
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).expect("the server says where it listens");
        let member = |name: &str| ready[name].as_str().unwrap().to_owned();
        Serving { process, public: member("public"), api: member("api") }
    }

    /// Places an order of 19.90 EUR that waits for `pi_1`.
    pub(crate) fn place_order(&self) {
        let ran = self.run(&[
            "orders",
            "add",
            "--id",
            "1001",
            "--customer",
            "c1",
            "--line",
            "sku=ebook,quantity=1",
            "--total",
            "19.90 EUR",
            "--reference",
            "stripe=pi_1",
        ]);
        assert_eq!(ran.code, 0, "{}", ran.err);
    }

    /// Posts the success of `pi_1` and answers what `send` did.
    pub(crate) fn pay(&self, serving: &Serving, more: &[&str]) -> Ran {
        self.write("paid.json", PAID);
        let url = format!("http://{}/in/stripe", serving.public);
        self.run(&[&["send", "paid.json", "--source", "stripe", "--url", &url], more].concat())
    }

    /// Asks until it is so.
    pub(crate) fn wait_for(&self, args: &[&str], so: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let value = self.json(args);
            if so(&value) {
                return value;
            }
            assert!(Instant::now() < until, "it did not become so: {value}");
        }
    }
}

impl Serving {
    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Kills it, as a power cut would.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
    }

    /// Waits until it has ended by itself or by a signal.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < until, "it did not end");
            std::thread::yield_now();
        }
    }
}

impl Serving {
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) const PAID: &str = r#"{"id":"evt_1","object":"event","livemode":false,"pending_webhooks":1,
"type":"payment_intent.succeeded","data":{"object":{"id":"pi_1","object":"payment_intent","amount":1990,
"amount_received":1990,"currency":"eur","status":"succeeded","latest_charge":"ch_1","metadata":{}}}}"#;

/// A receiver of effects, killed when dropped.
pub(crate) struct Receiving {
    process: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Receiving {
    /// The next message that it prints.
    pub(crate) fn message(&mut self) -> Value {
        serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap()
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Place {
    /// Starts `paidonce receive`, and says where it listens.
    pub(crate) fn receive(&self, args: &[&str]) -> (Receiving, SocketAddr) {
        let global = ["--json", "receive", "--listen", "127.0.0.1:0"];
        let mut command = self.command(&[&global[..], args].concat());
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(process.stderr.take().unwrap()).read_line(&mut said).unwrap();
        let address =
            said.split("http://").nth(1).and_then(|rest| rest.split(';').next()).expect("it says where");
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        (Receiving { process, lines }, address.parse().unwrap())
    }
}
