//! How long an idle server takes from the commit of a payment to the first attempt of the HTTP effect that it sets off.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use paidonce::clock::SystemClock;
use paidonce_contracts::{Contract, Secret};
use paidonce_workload::{SECRET, SOURCE, body, event};

use crate::database::{Database, Failure};
use crate::report::{Report, latencies};
use crate::side::{Server, configured};

/// Longer than any wait for something that will come.
const PATIENCE: Duration = Duration::from_secs(20);

/// `whsec_` and base64: signs what the effect sends.
const EFFECT_SECRET: &str = "whsec_cGFpZG9uY2UgYmVuY2htYXJrIGVmZmVjdCBzZWNyZXQ=";

/// Reads one HTTP message with a `Content-Length`: its first line.
fn message(from: &mut impl BufRead) -> std::io::Result<String> {
    let (mut first, mut length) = (String::new(), 0);
    from.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        from.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or_default();
        }
    }
    std::io::copy(&mut from.take(length), &mut std::io::sink())?;
    Ok(first)
}

/// Answers 200 to every call, and tells when each connection came: the attempt begins before it.
fn receive(listener: &TcpListener, calls: &Sender<Instant>) -> std::io::Result<()> {
    loop {
        let (stream, _) = listener.accept()?;
        let came = Instant::now();
        message(&mut BufReader::new(&stream))?;
        (&stream).write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")?;
        if calls.send(came).is_err() {
            return Ok(());
        }
    }
}

fn connect(address: &str) -> Result<TcpStream, Failure> {
    let until = Instant::now() + PATIENCE;
    loop {
        match TcpStream::connect(address) {
            Ok(stream) => return Ok(stream),
            Err(error) if Instant::now() > until => return Err(error.into()),
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// Pays `count` orders one after another over HTTP at `paidonce serve`. `database` holds them, placed and unpaid.
///
/// # Errors
/// A payment is not taken, or its effect does not come.
pub fn http_effect(
    paidonce: &Path,
    folder: &Path,
    database: &Database,
    count: u64,
) -> Result<Report, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let receiver = listener.local_addr()?;
    let (sender, calls) = channel();
    std::thread::spawn(move || receive(&listener, &sender));
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
    let effect = format!(
        "[[effect]]\nname = \"told\"\nkind = \"http\"\nurl = \"http://{receiver}/\"\nallow_private = true\n\
         secret = \"env:PAIDONCE_BENCH_EFFECT\"\non = [\"order_paid\"]\n"
    );
    let file = configured(folder, database, &address, &effect)?;
    let mut server = Command::new(paidonce);
    server.arg("--config").arg(file).arg("serve").stdout(Stdio::null()).stderr(Stdio::inherit());
    server.env("PAIDONCE_BENCH_SECRET", SECRET).env("PAIDONCE_BENCH_EFFECT", EFFECT_SECRET);
    let _server = Server(server.spawn()?);
    pay(&connect(&address)?, &calls, count)
}

fn pay(to: &TcpStream, calls: &Receiver<Instant>, count: u64) -> Result<Report, Failure> {
    to.set_nodelay(true)?;
    to.set_read_timeout(Some(PATIENCE))?;
    let (contract, secret) = (Contract::builtin("stripe", None)?, Secret::new(SECRET));
    let (mut answers, mut to) = (BufReader::new(to.try_clone()?), to);
    let (start, mut latencies) = (Instant::now(), latencies());
    for k in 0..count {
        // Idle: the grant and the record of the call before are over.
        std::thread::sleep(Duration::from_millis(20));
        let body = body(k, count);
        let mut request = format!("POST /in/{SOURCE} HTTP/1.1\r\nHost: bench\r\n");
        for (name, value) in contract.sign(&secret, &event(k), body.as_bytes(), SystemClock::now_unix_s())? {
            request += &format!("{name}: {value}\r\n");
        }
        request += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
        to.write_all(request.as_bytes())?;
        let answer = message(&mut answers)?;
        let committed = Instant::now();
        if !answer.contains(" 200 ") {
            return Err(format!("payment {k} was answered {answer:?}").into());
        }
        let came = calls.recv_timeout(PATIENCE)?;
        // A call that overtook the answer to its payment took no time.
        let took = came.saturating_duration_since(committed);
        latencies.saturating_record(u64::try_from(took.as_micros()).unwrap_or(u64::MAX).max(1));
    }
    Ok(Report::of(&latencies, 0, start.elapsed()))
}
