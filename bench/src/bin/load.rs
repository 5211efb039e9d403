//! The load generator: closed loop, keep-alive connections, bodies signed before the clock starts.
//!
//! Each connection sends its next notification when the last one was answered. It is cheap on purpose: it shares
//! the machine with the server. An answer that is not 200 is an error; so is a connection that breaks.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use paidonce_bench::arguments::Arguments;
use paidonce_bench::report::{Report, latencies, microseconds};
use paidonce_bench::signature::{Signer, now_unix_s};
use paidonce_workload::{SECRET, SOURCE, body};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// How long the server may take to begin to listen.
const START_MAX: Duration = Duration::from_secs(20);

fn requests(count: u64, all: u64) -> Vec<Vec<u8>> {
    let signer = Signer::new(SECRET);
    let now_unix_s = now_unix_s();
    let request = |k| {
        let body = body(k, all);
        let signature = signer.sign(body.as_bytes(), now_unix_s);
        let head = format!(
            "POST /in/{SOURCE} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json; charset=utf-8\r\n\
             user-agent: Stripe/1.0 (+https://stripe.com/docs/webhooks)\r\nstripe-signature: {signature}\r\n\
             content-length: {}\r\n\r\n",
            body.len()
        );
        (head + &body).into_bytes()
    };
    (0..count).map(request).collect()
}

/// Reads one answer; its status. What follows the head is skipped by its content-length.
async fn answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<u16> {
    let malformed = || io::Error::new(io::ErrorKind::InvalidData, "no HTTP/1.1 answer");
    buffer.clear();
    loop {
        if stream.read_buf(buffer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let Some(head) = buffer.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let text = std::str::from_utf8(&buffer[..head]).map_err(|_| malformed())?;
        let status = text.get(9..12).and_then(|digits| digits.parse().ok()).ok_or_else(malformed)?;
        let length = text.lines().filter_map(|line| line.split_once(':'));
        let length = length.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let length: usize =
            length.map(|(_, value)| value.trim().parse()).next().unwrap_or(Ok(0)).unwrap_or(0);
        while buffer.len() < head + 4 + length {
            if stream.read_buf(buffer).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        return Ok(status);
    }
}

struct Plan {
    requests: Vec<Vec<u8>>,
    next: AtomicUsize,
    until: Instant,
}

async fn post(mut stream: TcpStream, plan: Arc<Plan>) -> (hdrhistogram::Histogram<u64>, u64) {
    let (mut latencies, mut errors) = (latencies(), 0);
    let mut buffer = Vec::with_capacity(4096);
    loop {
        let began = Instant::now();
        let position = plan.next.fetch_add(1, Ordering::Relaxed);
        let Some(request) = plan.requests.get(position).filter(|_| began < plan.until) else {
            return (latencies, errors);
        };
        let sent = stream.write_all(request).await;
        let status = match sent {
            Ok(()) => answer(&mut stream, &mut buffer).await,
            Err(error) => Err(error),
        };
        match status {
            Ok(200) => latencies.saturating_record(microseconds(began.elapsed())),
            Ok(status) => {
                if errors == 0 {
                    eprintln!("answer {status}: {}", String::from_utf8_lossy(&buffer));
                }
                errors += 1;
            }
            Err(error) => {
                eprintln!("a connection broke: {error}");
                return (latencies, errors + 1);
            }
        }
    }
}

async fn connect(to: SocketAddr) -> io::Result<TcpStream> {
    let began = Instant::now();
    loop {
        match TcpStream::connect(to).await {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) if began.elapsed() > START_MAX => return Err(error),
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn run(arguments: &Arguments) -> Result<Report, Failure> {
    let all = arguments.get("orders", 0)?;
    let requests = requests(arguments.get("count", all)?, all);
    let to: SocketAddr = arguments.text("to")?.parse()?;
    let mut streams = Vec::new();
    for _ in 0..arguments.get("in-flight", 64)? {
        streams.push(connect(to).await?);
    }
    let began = Instant::now();
    let until = began + Duration::from_millis(arguments.get("ms", 2_000)?);
    let plan = Arc::new(Plan { requests, next: AtomicUsize::new(0), until });
    let tasks: Vec<_> = streams.into_iter().map(|stream| tokio::spawn(post(stream, plan.clone()))).collect();
    let (mut sum, mut errors) = (latencies(), 0);
    for task in tasks {
        let (latencies, failed) = task.await?;
        sum.add(latencies)?;
        errors += failed;
    }
    Ok(Report::of(&sum, errors, began.elapsed()))
}

fn main() -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(run(&Arguments::own()))?;
    println!("{}", serde_json::to_string(&report)?);
    Ok(())
}
