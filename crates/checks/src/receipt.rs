//! The commands that the HTTP server would submit: each body is signed, verified and read by the real contract.

use std::ops::Range;

use paidonce_contracts::{Contract, Delivery, Secret, Verifier};
use paidonce_ledger::{Command, Receive, SourceName};
use paidonce_workload::{SECRET, SOURCE, body, event};

use crate::database::Failure;
use crate::preload::account;

/// These notifications of `all`, as commands.
///
/// # Errors
/// The contract does not take a body that it should take.
pub fn receipts(which: Range<u64>, all: u64) -> Result<Vec<Command>, Failure> {
    let contract = Contract::builtin("stripe", None)?;
    let secret = Secret::new(SECRET);
    let verifier = Verifier::new(&contract, std::slice::from_ref(&secret))?;
    let (source, account) = (SourceName::new(SOURCE)?, account()?);
    let now_unix_s = 1_796_000_000;
    which
        .map(|k| {
            let body = body(k, all);
            let headers = contract.sign(&secret, &event(k), body.as_bytes(), now_unix_s)?;
            let lines: Vec<_> =
                headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
            let verified = verifier
                .verify(&lines, body.as_bytes(), now_unix_s)
                .map_err(|refused| format!("not genuine: {}", refused.reason()))?;
            let Delivery::Events(notices) = verified.read() else {
                return Err("read as a test notification".into());
            };
            let (source, account) = (source.clone(), account.clone());
            Ok(Command::Receive(Receive { source, account, notices, trace: None }))
        })
        .collect()
}
