//! `paidonce receive`: a receiver to try effects with. It verifies what paidonce sends, as yours should, and prints it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use bytes::Bytes;
use clap::Args;
use paidonce_contracts::{Contract, Secret, Verifier};
use prometheus_client::metrics::gauge::Gauge;
use serde::Serialize;
use tokio::sync::{Semaphore, watch};

use super::argument::secret_text;
use super::context::Context;
use crate::clock::SystemClock;
use crate::effect::http::REVISION;
use crate::http::{Limits, Listener};
use crate::output::{Exit, Failure, Output, plain};
use crate::serve::signalled;

/// Connections at once: more than any effect opens.
const CONNECTIONS_MAX: usize = 256;

/// Where to listen, and how to answer.
#[derive(Debug, Args)]
pub(super) struct ReceiveArgs {
    /// Where the effect's signing secret is: env:NAME or file:PATH.
    #[arg(long, value_name = "env:NAME")]
    secret: String,
    /// Where to listen.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9000")]
    listen: SocketAddr,
    /// What genuine messages are answered with: see what paidonce does with others than 200.
    #[arg(long, value_name = "STATUS", default_value_t = 200, value_parser = clap::value_parser!(u16).range(200..=599))]
    status: u16,
}

/// One message, as it is printed.
#[derive(Debug, Serialize)]
struct Message {
    /// `Idempotency-Key`.
    key: String,
    /// The order's revision.
    revision: String,
    /// `genuine`, or why it is not.
    verified: String,
    /// How often this key came before.
    seen_before: u32,
    /// Whether it came before with other bytes, which never happens.
    bytes_differ: bool,
    /// What it was answered with.
    answered: u16,
    /// The body.
    body: String,
}

struct Receiver {
    verifier: Verifier,
    status: StatusCode,
    output: Output,
    /// The first body of each key, and how often it came.
    seen: Mutex<BTreeMap<String, (Bytes, u32)>>,
}

pub(super) fn run(args: &ReceiveArgs, context: &Context) -> Result<Exit, Failure> {
    let secret = Secret::new(secret_text("secret", &args.secret)?);
    let receiver = Receiver {
        verifier: verifier(&secret).map_err(|why| Failure::usage(why, "give the effect's signing secret"))?,
        status: StatusCode::from_u16(args.status).unwrap_or(StatusCode::OK),
        output: context.output,
        seen: Mutex::default(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::unavailable(format!("no runtime: {error}"), "try again"))?;
    runtime.block_on(listen(args.listen, receiver, context.output))
}

fn verifier(secret: &Secret) -> Result<Verifier, String> {
    let contract = Contract::builtin("standard-webhooks", None).map_err(|error| error.to_string())?;
    Verifier::new(&contract, std::slice::from_ref(secret)).map_err(|error| error.to_string())
}

async fn listen(address: SocketAddr, receiver: Receiver, output: Output) -> Result<Exit, Failure> {
    let listener = Listener::bind(address).await.map_err(|error| {
        Failure::usage(format!("cannot listen on {address}: {error}"), "choose another with --listen")
    })?;
    output.remark(&format!("receiving on http://{}; stop it with Ctrl-C", listener.address));
    let (stop, stopped) = watch::channel(false);
    let limits = Limits { header_timeout: Duration::from_secs(5), idle_timeout: Duration::from_secs(30) };
    let connections = (Arc::new(Semaphore::new(CONNECTIONS_MAX)), Gauge::default());
    let router = Router::new().fallback(take).with_state(Arc::new(receiver));
    let serving = listener.serve(router, limits, connections, stopped);
    tokio::select! {
        () = serving => {}
        () = signalled() => {
            // Nobody listening any more is stopped as well.
            let _ = stop.send(true);
        }
    }
    Ok(Exit::Ok)
}

async fn take(State(receiver): State<Arc<Receiver>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let text =
        |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let lines: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    let verified = receiver.verifier.verify(&lines, &body, SystemClock::now_unix_s());
    // What was signed is the id; the other header only repeats it.
    let key = text("webhook-id");
    let (verified, status) = match verified {
        Ok(_) => ("genuine".to_owned(), receiver.status),
        Err(refused) => (refused.reason().to_owned(), StatusCode::UNAUTHORIZED),
    };
    let (seen_before, bytes_differ) = match status {
        StatusCode::UNAUTHORIZED => (0, false),
        _ => receiver.note(&key, &body),
    };
    let message = Message {
        key,
        revision: text(REVISION),
        verified,
        seen_before,
        bytes_differ,
        answered: status.as_u16(),
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    receiver.print(&message);
    status
}

impl Receiver {
    /// How often this key came before, and whether with other bytes.
    fn note(&self, key: &str, body: &Bytes) -> (u32, bool) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, times) = seen.entry(key.to_owned()).or_insert_with(|| (body.clone(), 0));
        *times += 1;
        (*times - 1, first != body)
    }

    fn print(&self, message: &Message) {
        if self.output.json {
            return self.output.json_line(message);
        }
        let again = match (message.seen_before, message.bytes_differ) {
            (0, _) => String::new(),
            (n, false) => format!(", came before {n} times"),
            (n, true) => format!(", came before {n} times WITH OTHER BYTES"),
        };
        let Message { key, revision, verified, answered, body, .. } = message;
        let (key, revision) = (plain(key), plain(revision));
        let head = format!("{key}  revision {revision}: {verified}{again}, answered {answered}");
        let pretty = serde_json::from_str::<serde_json::Value>(body).ok();
        let pretty = pretty.and_then(|json| serde_json::to_string_pretty(&json).ok());
        self.output.text(&format!("{head}\n{}\n", pretty.unwrap_or_else(|| plain(body).to_string())));
    }
}
