//! A mail server on a real socket that misbehaves as it is told.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// What it does at a step, instead of what is right.
#[derive(Debug, Clone, Copy)]
pub(super) enum Act {
    /// Says this.
    Say(&'static str),
    /// Closes the connection.
    Die,
    /// Says nothing, ever.
    Hang,
    /// At `.`: takes the mail, then closes the connection.
    TakeAndDie,
    /// At `CONTENT`: closes the connection in the middle of the mail.
    DieInside,
}

/// How it protects connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protects {
    Never,
    /// Offers STARTTLS.
    Upgrades,
    /// TLS from the first byte.
    FromTheStart,
}

/// A mail that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Taken {
    /// `MAIL` and `RCPT`, as they were said.
    pub(super) envelope: Vec<String>,
    /// The mail, byte for byte.
    pub(super) mail: String,
    pub(super) encrypted: bool,
}

#[derive(Default)]
struct Seen {
    taken: Vec<Taken>,
    commands: Vec<String>,
}

/// The server. It serves as long as the test runs.
pub(super) struct Sink {
    pub(super) port: u16,
    /// Its certificate, which vouches for itself.
    certificate: tempfile::NamedTempFile,
    seen: Arc<Mutex<Seen>>,
}

impl Sink {
    /// One that does its work, but for this at that step.
    pub(super) fn start(protects: Protects, fault: Option<(&'static str, Act)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Seen::default()));
        let (tls, certificate) = certificate();
        let session = (protects, fault, tls, seen.clone());
        std::thread::spawn(move || {
            for socket in listener.incoming() {
                let (protects, fault, tls, seen) = session.clone();
                let socket = socket.unwrap();
                std::thread::spawn(move || Session { protects, fault, seen }.serve(socket, tls));
            }
        });
        Self { port, certificate, seen }
    }

    /// The file of the certificate to trust.
    pub(super) fn ca_file(&self) -> PathBuf {
        self.certificate.path().to_owned()
    }

    pub(super) fn taken(&self) -> Vec<Taken> {
        self.seen.lock().unwrap().taken.clone()
    }

    /// The verbs that it was told, in order.
    pub(super) fn verbs(&self) -> Vec<String> {
        self.seen.lock().unwrap().commands.iter().map(|line| verb(line)).collect()
    }
}

fn verb(line: &str) -> String {
    line.split([' ', ':']).next().unwrap_or_default().to_ascii_uppercase()
}

/// A certificate of `localhost` that vouches for itself, and the file to trust it by.
pub(super) fn certificate() -> (Arc<ServerConfig>, tempfile::NamedTempFile) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(made.cert.pem().as_bytes()).unwrap();
    (Arc::new(config), file)
}

trait Wire: Read + Write {}
impl<T: Read + Write> Wire for T {}

struct Session {
    protects: Protects,
    fault: Option<(&'static str, Act)>,
    seen: Arc<Mutex<Seen>>,
}

/// The connection is over.
struct Over;

impl Session {
    fn serve(&self, socket: TcpStream, tls: Arc<ServerConfig>) {
        let encrypt = |socket| -> Box<dyn Wire> {
            Box::new(StreamOwned::new(ServerConnection::new(tls.clone()).unwrap(), socket))
        };
        let at_once = self.protects == Protects::FromTheStart;
        let wire = if at_once {
            encrypt(socket.try_clone().unwrap())
        } else {
            Box::new(socket.try_clone().unwrap())
        };
        let mut wire = BufReader::new(wire);
        if self.answer(&mut wire, "CONNECT", "220 sink").is_err() {
            return;
        }
        if let Ok(true) = self.talk(&mut wire, at_once) {
            // What STARTTLS leaves behind is plain text: nothing of it is kept.
            let mut wire = BufReader::new(encrypt(socket));
            let _ = self.talk(&mut wire, true);
        }
    }

    /// Ends with whether the connection is to be upgraded.
    fn talk(&self, wire: &mut BufReader<Box<dyn Wire>>, encrypted: bool) -> Result<bool, Over> {
        let mut envelope = Vec::new();
        loop {
            let mut line = String::new();
            if wire.read_line(&mut line).map_err(|_| Over)? == 0 {
                return Err(Over);
            }
            let line = line.trim_end().to_owned();
            self.seen.lock().unwrap().commands.push(line.clone());
            match verb(&line).as_str() {
                "EHLO" => {
                    let upgrade = self.protects == Protects::Upgrades && !encrypted;
                    let offers = if upgrade { "250-STARTTLS\r\n" } else { "250-AUTH PLAIN\r\n" };
                    self.answer(wire, "EHLO", &format!("250-sink\r\n{offers}250 8BITMIME"))?;
                }
                "STARTTLS" => {
                    self.answer(wire, "STARTTLS", "220 go ahead")?;
                    return Ok(true);
                }
                "AUTH" => self.answer(wire, "AUTH", "235 welcome")?,
                verb @ ("MAIL" | "RCPT") => {
                    envelope.push(line.clone());
                    self.answer(wire, verb, "250 ok")?;
                }
                "DATA" => {
                    self.answer(wire, "DATA", "354 go ahead")?;
                    self.content(wire, std::mem::take(&mut envelope), encrypted)?;
                }
                "QUIT" => return self.answer(wire, "QUIT", "221 bye").and(Err(Over)),
                _ => self.answer(wire, "OTHER", "500 what?")?,
            }
        }
    }

    fn content(
        &self,
        wire: &mut BufReader<Box<dyn Wire>>,
        envelope: Vec<String>,
        encrypted: bool,
    ) -> Result<(), Over> {
        let mut mail = String::new();
        loop {
            let mut line = String::new();
            if wire.read_line(&mut line).map_err(|_| Over)? == 0 {
                return Err(Over);
            }
            if line == ".\r\n" {
                break;
            }
            if matches!(self.fault, Some((_, Act::DieInside))) {
                return Err(Over);
            }
            mail.push_str(line.strip_prefix('.').unwrap_or(&line));
        }
        let fault = self.fault.filter(|(step, _)| *step == ".").map(|(_, act)| act);
        if matches!(fault, None | Some(Act::TakeAndDie)) {
            self.seen.lock().unwrap().taken.push(Taken { envelope, mail, encrypted });
        }
        self.answer(wire, ".", "250 2.0.0 taken as 4711")
    }

    /// Says what is right, or does what it was told to do instead.
    fn answer(&self, wire: &mut BufReader<Box<dyn Wire>>, step: &str, right: &str) -> Result<(), Over> {
        let fault = self.fault.filter(|(at, _)| *at == step).map(|(_, act)| act);
        let text = match fault {
            None => right,
            Some(Act::Say(text)) => text,
            Some(Act::Die | Act::TakeAndDie | Act::DieInside) => return Err(Over),
            Some(Act::Hang) => {
                // Until the other side gives up.
                let _ = wire.read_to_end(&mut Vec::new());
                return Err(Over);
            }
        };
        wire.get_mut().write_all(format!("{text}\r\n").as_bytes()).map_err(|_| Over)
    }
}
