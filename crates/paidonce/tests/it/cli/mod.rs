//! The command line, through the built binary: what it prints, what it answers to programs, how it ends.

mod audit;
mod config;
mod entitlements;
mod events;
mod explain;
mod grant_sql;
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
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const SECRET: (&str, &str) = ("PAIDONCE_TEST_SECRET", "whsec_of_these_tests");

/// A merchant's folder with a configuration.
pub(crate) struct Place {
    folder: TempDir,
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
        Self { folder: tempfile::tempdir().unwrap() }
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
        let mut process =
            self.command(&["--json", "serve"]).stdout(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
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
        let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
        loop {
            let value = self.json(args);
            if so(&value) {
                return value;
            }
            assert!(std::time::Instant::now() < until, "it did not become so: {value}");
        }
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
