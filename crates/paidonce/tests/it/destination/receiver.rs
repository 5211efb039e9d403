//! A receiver of HTTP calls on a real socket: it writes down what it gets, and does with it what a test says.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use paidonce_contracts::{Contract, Secret, Verifier};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::shop::EFFECT_SECRET;

/// No test waits longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// A call that arrived whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Call {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    pub(crate) fn key(&self) -> &str {
        self.header("idempotency-key")
    }

    pub(crate) fn revision(&self) -> u64 {
        self.header("paidonce-revision").parse().unwrap()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// Verifies it as a receiver should.
    pub(crate) fn is_genuine(&self) -> bool {
        let contract = Contract::builtin("standard-webhooks", None).unwrap();
        let verifier = Verifier::new(&contract, &[Secret::new(EFFECT_SECRET)]).unwrap();
        let lines: Vec<_> =
            self.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        let now = paidonce::clock::SystemClock::now_unix_s();
        verifier.verify(&lines, self.body.as_bytes(), now).is_ok() && self.header("webhook-id") == self.key()
    }
}

/// What is done with a call.
pub(crate) enum Act {
    /// Answer this, and close.
    Say(u16),
    /// Answer this with a header line.
    SayWith(u16, String),
    /// Answer this, and repeat the `Authorization` header.
    Repeat(u16),
    /// Answer this with this body.
    Body(u16, String),
    /// Promise a body and die in the middle of it.
    HalfAnswer(u16),
    /// A body without end.
    Endless(u16),
    /// A head without end.
    EndlessHead,
    /// Close without an answer.
    Close,
    /// Say nothing until [`Receiver::release`], then 200.
    Hold,
}

type Behaviour = dyn Fn(usize, &Call) -> Act + Send + Sync;

#[derive(Default)]
struct Log {
    calls: Vec<Call>,
    released: bool,
}

#[derive(Default)]
struct Shared {
    log: Mutex<Log>,
    changed: Condvar,
    /// Bytes of endless answers that were taken off our hands.
    written: AtomicUsize,
}

/// A receiver that listens until the process ends.
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
    /// What a client must trust, if it speaks TLS.
    pub(crate) ca_pem: Option<String>,
}

impl Receiver {
    /// `behaviour` is told how many calls came before.
    pub(crate) fn new(behaviour: impl Fn(usize, &Call) -> Act + Send + Sync + 'static) -> Self {
        Self::listen(Arc::new(behaviour), None)
    }

    /// Speaks TLS with a certificate of its own for this name.
    pub(crate) fn tls(name: &str, behaviour: impl Fn(usize, &Call) -> Act + Send + Sync + 'static) -> Self {
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed([name.to_owned()]).unwrap();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
        let ring = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(ring).with_safe_default_protocol_versions().unwrap();
        let config = config.with_no_client_auth().with_single_cert(vec![cert.der().clone()], key).unwrap();
        let mut receiver = Self::listen(Arc::new(behaviour), Some(Arc::new(config)));
        receiver.ca_pem = Some(cert.pem());
        receiver
    }

    fn listen(behaviour: Arc<Behaviour>, tls: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, shared) = (listener.local_addr().unwrap(), Arc::new(Shared::default()));
        let serving = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (behaviour, shared, tls) = (behaviour.clone(), serving.clone(), tls.clone());
                std::thread::spawn(move || match tls {
                    None => shared.serve(stream, &*behaviour),
                    Some(config) => {
                        let session = ServerConnection::new(config).unwrap();
                        shared.serve(StreamOwned::new(session, stream), &*behaviour);
                    }
                });
            }
        });
        Self { address, shared, ca_pem: None }
    }

    /// Always answers this.
    pub(crate) fn saying(status: u16) -> Self {
        Self::new(move |_, _| Act::Say(status))
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.shared.log.lock().unwrap().calls.clone()
    }

    /// Waits until what came fulfils `so`.
    pub(crate) fn wait_until(&self, so: impl Fn(&[Call]) -> bool) -> Vec<Call> {
        let log = self.shared.log.lock().unwrap();
        let waited = self.shared.changed.wait_timeout_while(log, PATIENCE, |log| !so(&log.calls));
        let (log, timed_out) = waited.unwrap();
        assert!(!timed_out.timed_out(), "it never came to be: {:?}", log.calls);
        log.calls.clone()
    }

    pub(crate) fn wait_for(&self, calls: usize) -> Vec<Call> {
        self.wait_until(|got| got.len() >= calls)
    }

    /// Lets what is held go on, now and later.
    pub(crate) fn release(&self) {
        self.shared.log.lock().unwrap().released = true;
        self.shared.changed.notify_all();
    }

    pub(crate) fn written(&self) -> usize {
        self.shared.written.load(SeqCst)
    }
}

impl Shared {
    fn serve<S: Read + Write>(&self, mut stream: S, behaviour: &Behaviour) {
        let Some(call) = read(&mut stream) else { return };
        let before = {
            let mut log = self.log.lock().unwrap();
            log.calls.push(call.clone());
            log.calls.len() - 1
        };
        self.changed.notify_all();
        let head = |status: u16, more: &str| format!("HTTP/1.1 {status} Because\r\n{more}");
        let say = |status: u16, more: &str| head(status, &format!("{more}content-length: 4\r\n\r\nsaid"));
        let with =
            |status: u16, body: &str| head(status, &format!("content-length: {}\r\n\r\n{body}", body.len()));
        // A client may have gone by now: that is what some tests are about.
        let _ = match behaviour(before, &call) {
            Act::Say(status) => stream.write_all(say(status, "").as_bytes()),
            Act::SayWith(status, line) => stream.write_all(say(status, &format!("{line}\r\n")).as_bytes()),
            Act::Repeat(status) => {
                let body = format!("you sent {}", call.header("authorization"));
                stream.write_all(with(status, &body).as_bytes())
            }
            Act::Body(status, body) => stream.write_all(with(status, &body).as_bytes()),
            Act::HalfAnswer(status) => {
                stream.write_all(head(status, "content-length: 1000\r\n\r\nha").as_bytes())
            }
            Act::Endless(status) => self.pour(&mut stream, head(status, "\r\n").as_bytes(), &[b'x'; 65_536]),
            Act::EndlessHead => self.pour(&mut stream, head(200, "").as_bytes(), b"x-more: and more\r\n"),
            Act::Close => Ok(()),
            Act::Hold => {
                let log = self.log.lock().unwrap();
                drop(self.changed.wait_while(log, |log| !log.released).unwrap());
                stream.write_all(say(200, "").as_bytes())
            }
        };
        let _ = stream.flush();
    }

    /// A gigabyte, if anybody takes it.
    fn pour<S: Write>(&self, stream: &mut S, head: &[u8], more: &[u8]) -> std::io::Result<()> {
        stream.write_all(head)?;
        while self.written.load(SeqCst) < 1 << 30 {
            stream.write_all(more)?;
            self.written.fetch_add(more.len(), SeqCst);
        }
        Ok(())
    }
}

/// One request, whole; `None` if none came.
fn read<S: Read>(stream: &mut S) -> Option<Call> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let mut lines = head.trim_end().split("\r\n");
    let line = lines.next().unwrap().to_owned();
    let headers: Vec<_> = lines.map(|line| line.split_once(": ").unwrap()).collect();
    let headers: Vec<_> =
        headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), (*value).to_owned())).collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, value)| value.parse().unwrap())];
    stream.read_exact(&mut body).ok()?;
    Some(Call { line, headers, body: String::from_utf8(body).unwrap() })
}

/// An address of this machine at which nobody listens.
pub(crate) fn nobody() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// Accepts one connection and drops it unread.
pub(crate) fn slammer() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || listener.accept().map(|(stream, _): (TcpStream, _)| drop(stream)));
    address
}
