//! `paidonce send`: signs a payload file like the provider would and posts it. For trying an endpoint, one's own
//! or another's, and for seeing what repetition, concurrency, loss and forgery do to it.

use std::collections::BTreeMap;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::context::Context;
use super::transport::agent;
use crate::clock::SystemClock;
use crate::config::Config;
use crate::delivery::{Answered, Request, post, post_at_once, post_unread};
use crate::http::dto::{InAnswer, Problem};
use crate::output::{Exit, Failure, Progress, Table};
use crate::scenario::tamper;
use crate::source::Source;

/// Beyond so many requests, people get a summary and programs still get every row.
const ROWS_MAX: usize = 100;

/// What to send, and how.
#[derive(Debug, Args)]
pub(super) struct SendArgs {
    /// The payload, sent byte for byte.
    file: PathBuf,
    /// The source whose contract and secret sign it.
    #[arg(long, value_name = "NAME")]
    source: String,
    /// Where to [default: /in/<source> on the configured public address].
    #[arg(long)]
    url: Option<String>,
    /// How often, one after another.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    times: u32,
    /// On how many connections at once, each time.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    concurrent: u16,
    /// Close the connection when the answer is there, and do not read it.
    #[arg(long, conflicts_with = "concurrent")]
    drop_response: bool,
    /// Change the payload after signing it.
    #[arg(long)]
    tamper: bool,
    /// Sign it as of so many seconds ago.
    #[arg(long, value_name = "SECONDS_AGO", default_value_t = 0, allow_negative_numbers = true)]
    at: i64,
    /// The id for contracts that sign one in a header.
    #[arg(long, value_name = "ID", default_value = "msg_paidonce_send")]
    id: String,
}

/// What came of one request.
#[derive(Debug, Serialize)]
struct Row {
    request: usize,
    status: Option<u16>,
    answer: String,
    took_ms: u128,
}

pub(super) fn run(args: &SendArgs, context: &Context) -> Result<Exit, Failure> {
    let mut config = context.config()?;
    // The other sources' secrets may be elsewhere.
    config.sources.retain(|source| source.name.as_str() == args.source);
    let sources = config.sources()?;
    let source = sources.get(&args.source).ok_or_else(|| {
        Failure::usage(format!("there is no source {}", args.source), "`paidonce config show` lists them")
    })?;
    let body = fs::read(&args.file).map_err(|error| {
        Failure::usage(format!("{} cannot be read: {error}", args.file.display()), "name a readable file")
    })?;
    let url = args.url.clone().unwrap_or_else(|| url_of(&config, &args.source));
    let rows = send(args, source, &url, &body)?;
    context.output.show(&rows, |rows| text(rows));
    let good =
        |row: &Row| args.drop_response || row.status.is_some_and(|status| (200..300).contains(&status));
    Ok(if rows.iter().all(good) { Exit::Ok } else { Exit::Failed })
}

/// Where the configured server listens, as seen from this machine.
fn url_of(config: &Config, source: &str) -> String {
    let public = config.server.public;
    let ip = match public.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    format!("http://{}/in/{source}", SocketAddr::new(ip, public.port()))
}

fn send(args: &SendArgs, source: &Source, url: &str, body: &[u8]) -> Result<Vec<Row>, Failure> {
    let (agent, mut rows) = (agent(), Vec::new());
    let total =
        usize::try_from(args.times).unwrap_or(usize::MAX).saturating_mul(usize::from(args.concurrent));
    let mut progress = Progress::new("sent", total);
    for _ in 0..args.times {
        let request = request(args, source, url, body)?;
        let answers = match (args.drop_response, args.concurrent) {
            (true, _) => vec![post_unread(&request)],
            (false, 1) => vec![post(&agent, &request)],
            (false, count) => post_at_once(&agent, &request, usize::from(count)),
        };
        for answer in answers {
            rows.push(row(rows.len() + 1, answer));
        }
        progress.at(rows.len());
    }
    if rows.iter().all(|row| row.status.is_none()) && !args.drop_response {
        let why = rows.last().map_or(String::new(), |row| row.answer.clone());
        return Err(Failure::unavailable(
            format!("{url} does not answer: {why}"),
            "start it: paidonce serve",
        ));
    }
    Ok(rows)
}

/// Signed afresh each time, like a provider's retry.
fn request(args: &SendArgs, source: &Source, url: &str, body: &[u8]) -> Result<Request, Failure> {
    let at = SystemClock::now_unix_s().saturating_sub(args.at);
    let headers = source.sign(&args.id, body, at).map_err(|error| {
        Failure::usage(error.to_string(), "only contracts with a shared secret can be signed for")
    })?;
    let body = if args.tamper { tamper(body.to_vec()) } else { body.to_vec() };
    Ok(Request { url: url.to_owned(), headers, body })
}

fn row(request: usize, answer: Result<Answered, String>) -> Row {
    match answer {
        Err(why) => Row { request, status: None, answer: why, took_ms: 0 },
        Ok(answered) => Row {
            request,
            status: answered.status,
            answer: answered.status.map_or("not read".to_owned(), |_| in_words(&answered.body)),
            took_ms: answered.took.as_millis(),
        },
    }
}

/// What paidonce says became of the events; another handler's answer is shown as it begins.
fn in_words(body: &[u8]) -> String {
    if let Ok(answer) = serde_json::from_slice::<InAnswer>(body) {
        let word = |event: &crate::http::dto::InEvent| match &event.order {
            Some(order) => format!("{}, order {order}", event.outcome),
            None => event.outcome.clone(),
        };
        return answer.events.iter().map(word).collect::<Vec<_>>().join("; ");
    }
    match serde_json::from_slice::<Problem>(body) {
        Ok(problem) => problem.title,
        Err(_) => String::from_utf8_lossy(body).chars().take(80).collect(),
    }
}

fn text(rows: &[Row]) -> String {
    let status = |row: &Row| row.status.map_or("-".to_owned(), |status| status.to_string());
    if rows.len() > ROWS_MAX {
        let mut counts: BTreeMap<(String, &str), usize> = BTreeMap::new();
        rows.iter().for_each(|row| *counts.entry((status(row), &row.answer)).or_default() += 1);
        let mut table = Table::new(&["requests", "status", "answer"], "");
        for ((status, answer), count) in counts {
            table.row([&count.to_string(), &status, answer]);
        }
        return table.text();
    }
    let mut table = Table::new(&["request", "status", "ms", "answer"], "");
    for row in rows {
        table.row([&row.request.to_string(), &status(row), &row.took_ms.to_string(), &row.answer]);
    }
    table.text()
}
