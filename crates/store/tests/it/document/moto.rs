//! The S3 server that tests use: the one at `PAIDONCE_TEST_S3` (an `http://` address), else moto, by the Python in PATH
//! or in the folder that `.ci/run` installs it in, started here and stopped when this process ends, however it ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

const BUCKET: &str = "paidonce-test";

struct Server {
    endpoint: String,
    // Its stdin is what holds the server: it stops when that closes.
    _child: Option<Child>,
}

fn server() -> &'static Result<Server, String> {
    static SERVER: OnceLock<Result<Server, String>> = OnceLock::new();
    SERVER.get_or_init(|| {
        let server = match std::env::var("PAIDONCE_TEST_S3") {
            Ok(endpoint) => Server { endpoint, _child: None },
            Err(_) => start()?,
        };
        // A bucket that is there already is as good.
        ask(&server.endpoint, "PUT", &format!("/{BUCKET}"))
            .map_err(|error| format!("no S3 answers at {} (PAIDONCE_TEST_S3): {error}", server.endpoint))?;
        Ok(server)
    })
}

fn python() -> PathBuf {
    let installed = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/moto/bin/python"));
    if installed.exists() { installed } else { PathBuf::from("python3") }
}

fn start() -> Result<Server, String> {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let script = "\"$0\" \"$1\" \"$2\" & moto=$!; cat >/dev/null; kill $moto";
    let mut child = Command::new("sh")
        .args(["-c", script])
        .arg(python())
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../store/tests/s3_server.py"))
        .arg(port.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("Running on") {
        line.clear();
        let read = log.read_line(&mut line).map_err(|error| error.to_string())?;
        if read == 0 || line.contains("No module") || line.contains("not found") {
            let what = "moto is not installed (`pip install 'moto[server,s3]'`, or PAIDONCE_TEST_S3)";
            return Err(what.to_owned());
        }
    }
    // It writes a line for each request, and would wait for somebody to read it.
    std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
    Ok(Server { endpoint: format!("http://127.0.0.1:{port}"), _child: Some(child) })
}

fn ask(endpoint: &str, method: &str, path: &str) -> std::io::Result<String> {
    let host = endpoint.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(host)?;
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// Why there is no server to test with.
pub(super) fn missing() -> Option<String> {
    server().as_ref().err().cloned()
}

pub(super) fn endpoint() -> &'static str {
    &server().as_ref().unwrap().endpoint
}

pub(super) fn url_at(endpoint: &str, key: &str) -> String {
    format!("s3://{BUCKET}/{key}?endpoint={endpoint}&region=us-east-1")
}

/// A document in the tests' bucket.
pub(super) fn url(key: &str) -> String {
    url_at(endpoint(), key)
}

pub(super) fn settings() -> Vec<(String, String)> {
    let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    vec![setting("AWS_ACCESS_KEY_ID", "test"), setting("AWS_SECRET_ACCESS_KEY", "test")]
}
