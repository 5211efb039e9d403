//! A network that delivers what is asked and then loses the answer: between a client and an HTTP server, and between a
//! client and a NATS server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A proxy that loses the answer of every `every`th write.
pub(super) struct Proxy {
    pub(super) address: SocketAddr,
    lost: Arc<AtomicUsize>,
}

/// Which writes are lost.
#[derive(Clone)]
struct Loses {
    every: usize,
    seen: Arc<AtomicUsize>,
    lost: Arc<AtomicUsize>,
}

impl Loses {
    fn this_one(&self) -> bool {
        let lose = self.seen.fetch_add(1, Ordering::SeqCst) % self.every == self.every - 1;
        if lose {
            self.lost.fetch_add(1, Ordering::SeqCst);
        }
        lose
    }
}

impl Proxy {
    pub(super) fn http(upstream: &str, every: usize) -> Self {
        Self::start(upstream, every, http)
    }

    pub(super) fn nats(upstream: &str, every: usize) -> Self {
        Self::start(upstream, every, nats)
    }

    /// How many answers were lost.
    pub(super) fn lost(&self) -> usize {
        self.lost.load(Ordering::SeqCst)
    }

    fn start(upstream: &str, every: usize, serve: fn(TcpStream, &str, &Loses)) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let upstream = upstream.split_once("://").map_or(upstream, |(_, host)| host);
        let upstream = upstream.trim_end_matches('/').to_owned();
        let lost = Arc::new(AtomicUsize::new(0));
        let loses = Loses { every, seen: Arc::default(), lost: lost.clone() };
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (upstream, loses) = (upstream.clone(), loses.clone());
                std::thread::spawn(move || serve(client, &upstream, &loses));
            }
        });
        Self { address, lost }
    }
}

/// One request on one connection, which both ends close after it.
fn http(client: TcpStream, upstream: &str, loses: &Loses) {
    let mut from = BufReader::new(client.try_clone().unwrap());
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if lower == "\r\n" {
            break;
        }
        if !lower.starts_with("connection:") {
            head.push_str(&line);
        }
    }
    let lose = head.starts_with("PUT ") && loses.this_one();
    let mut body = vec![0; length];
    from.read_exact(&mut body).unwrap();
    let mut to = TcpStream::connect(upstream).unwrap();
    to.write_all(head.as_bytes()).unwrap();
    to.write_all(b"Connection: close\r\n\r\n").unwrap();
    to.write_all(&body).unwrap();
    let mut answer = Vec::new();
    to.read_to_end(&mut answer).unwrap();
    // It was delivered and answered.
    if !lose {
        let _ = (&client).write_all(&answer);
    }
    let _ = client.shutdown(Shutdown::Both);
}

/// Passes everything on until a write to a bucket is to be lost: it is delivered, and whatever the server says next is
/// not.
fn nats(client: TcpStream, upstream: &str, loses: &Loses) {
    let server = TcpStream::connect(upstream).unwrap();
    let lost = Arc::new(AtomicUsize::new(0));
    let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let (loses, said) = (loses.clone(), lost.clone());
    std::thread::spawn(move || {
        let mut bytes = vec![0; 64 * 1024];
        while let Ok(n @ 1..) = from.read(&mut bytes) {
            let write = b"HPUB $KV.";
            if bytes[..n].windows(write.len()).any(|window| window == write) && loses.this_one() {
                said.store(1, Ordering::SeqCst);
            }
            if to.write_all(&bytes[..n]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
    let (mut from, mut to) = (server, client);
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(n @ 1..) = from.read(&mut bytes) {
        if lost.load(Ordering::SeqCst) == 1 || to.write_all(&bytes[..n]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Write), to.shutdown(Shutdown::Both));
}
