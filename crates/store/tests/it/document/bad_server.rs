//! Servers that accept conditional writes and do not keep their conditions, as some that speak S3 do: they must be
//! refused before a ledger is trusted to them. The same server with the conditions kept is the control.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

use paidonce_store::{DocumentOptions, DocumentStore, StoreError, StoreErrorKind};

use super::moto;

/// How a server treats conditions.
#[derive(Clone, Copy, PartialEq)]
enum Keeps {
    Exactly,
    NotAtAll,
    /// Looks first and writes later, so that two that meet both win.
    UnlessTwoMeet,
}

#[derive(Default)]
struct Objects {
    bytes: BTreeMap<String, (u64, Vec<u8>)>,
    written: u64,
    /// Writers that have looked and not written, by path.
    looked: BTreeMap<String, usize>,
}

struct Server {
    keeps: Keeps,
    objects: Mutex<Objects>,
    met: Condvar,
}

struct Request {
    method: String,
    path: String,
    if_match: Option<String>,
    if_none_match: bool,
    body: Vec<u8>,
}

fn read(from: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    from.read_line(&mut line).ok().filter(|n| *n > 0)?;
    let mut words = line.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut request = Request { method, path, if_match: None, if_none_match: false, body: vec![] };
    let mut length = 0;
    loop {
        let mut line = String::new();
        from.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "if-match" => request.if_match = Some(value.to_owned()),
            "if-none-match" => request.if_none_match = true,
            _ => {}
        }
    }
    request.body = vec![0; length];
    from.read_exact(&mut request.body).ok()?;
    Some(request)
}

impl Server {
    fn start(keeps: Keeps) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = Arc::new(Self { keeps, objects: Mutex::default(), met: Condvar::new() });
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = server.clone();
                std::thread::spawn(move || server.serve(&client));
            }
        });
        address
    }

    fn serve(&self, client: &TcpStream) {
        let mut from = BufReader::new(client);
        while let Some(request) = read(&mut from) {
            let (status, tag, body) = self.answer(&request);
            let head = format!(
                "HTTP/1.1 {status} X\r\nContent-Length: {}\r\nETag: \"{tag}\"\r\nLast-Modified: Tue, 01 Dec 2026 00:00:00 GMT\r\n\r\n",
                body.len()
            );
            let mut to = client;
            if to.write_all(head.as_bytes()).and_then(|()| to.write_all(&body)).is_err() {
                return;
            }
        }
    }

    fn answer(&self, request: &Request) -> (u16, u64, Vec<u8>) {
        let mut objects = self.objects.lock().unwrap();
        let there = objects.bytes.get(&request.path).cloned();
        if request.method == "GET" {
            return there.map_or((404, 0, vec![]), |(tag, bytes)| (200, tag, bytes));
        }
        if request.method == "DELETE" {
            objects.bytes.remove(&request.path);
            return (204, 0, vec![]);
        }
        let tag = there.map(|(tag, _)| format!("\"{tag}\""));
        let holds = match (&request.if_match, request.if_none_match) {
            (Some(wanted), _) => tag.as_ref() == Some(wanted),
            (None, true) => tag.is_none(),
            (None, false) => true,
        };
        if !holds && self.keeps != Keeps::NotAtAll {
            return (412, 0, vec![]);
        }
        if self.keeps == Keeps::UnlessTwoMeet && holds {
            objects = self.wait_for_another(objects, request);
        }
        objects.written += 1;
        let tag = objects.written;
        objects.bytes.insert(request.path.clone(), (tag, request.body.clone()));
        (200, tag, vec![])
    }

    /// The probe's writers come eight at a time where they meet, and say so in what they write.
    fn wait_for_another<'a>(
        &self,
        mut objects: std::sync::MutexGuard<'a, Objects>,
        request: &Request,
    ) -> std::sync::MutexGuard<'a, Objects> {
        let body = String::from_utf8_lossy(&request.body);
        let Some(what) = ["create", "replace"].into_iter().find(|what| body.contains(what)) else {
            return objects;
        };
        let key = format!("{} {what}", request.path);
        *objects.looked.entry(key.clone()).or_default() += 1;
        self.met.notify_all();
        while objects.looked[&key] < 2 {
            objects = self.met.wait(objects).unwrap();
        }
        objects
    }
}

fn open(keeps: Keeps) -> Result<DocumentStore, StoreError> {
    let endpoint = format!("http://{}", Server::start(keeps));
    let url = moto::url_at(&endpoint, "paidonce");
    DocumentStore::open_object(&url, &moto::settings(), &DocumentOptions::default())
}

#[test]
fn a_server_that_keeps_the_conditions_is_trusted() {
    open(Keeps::Exactly).unwrap();
}

#[test]
fn a_server_that_ignores_the_conditions_is_refused() {
    let error = open(Keeps::NotAtAll).err().unwrap();
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    assert!(error.to_string().contains("created one object twice"), "{error}");
}

#[test]
fn a_server_that_races_the_conditions_is_refused() {
    let error = open(Keeps::UnlessTwoMeet).err().unwrap();
    assert!(error.to_string().contains("two writers that met both won"), "{error}");
}
