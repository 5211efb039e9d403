//! A mail API on a real socket that answers as it is told, one connection a request.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What it does with a request that it has read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Act {
    /// Answers: the status line, more header lines, and the body.
    Say(&'static str, &'static str, &'static str),
    /// Closes the connection.
    Die,
    /// Says nothing, ever.
    Hang,
}

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

pub(super) struct Api {
    pub(super) port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Api {
    /// The n-th request gets the n-th act, and later ones the last.
    pub(super) fn start(script: &[Act]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let (script, shared) = (script.to_vec(), seen.clone());
        std::thread::spawn(move || {
            for (n, socket) in listener.incoming().enumerate() {
                serve(socket.unwrap(), script[n.min(script.len() - 1)], &shared);
            }
        });
        Self { port, seen }
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

fn serve(socket: TcpStream, act: Act, seen: &Mutex<Vec<Seen>>) {
    let mut wire = BufReader::new(socket);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if wire.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&lower);
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    wire.read_exact(&mut body).unwrap();
    seen.lock().unwrap().push(Seen { head, body });
    match act {
        Act::Die => {}
        // Until the other side gives up.
        Act::Hang => drop(wire.read_to_end(&mut Vec::new())),
        Act::Say(status, headers, body) => {
            let answer =
                format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len());
            let _ = wire.get_mut().write_all(answer.as_bytes());
        }
    }
}
