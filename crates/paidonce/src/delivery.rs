//! Delivering like a provider does: one request, many at once, or one whose answer is never read. It signs nothing
//! and knows no contract.

use std::io::Write;
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Barrier;
use std::time::{Duration, Instant};

use ureq::Agent;
use ureq::http::Uri;

/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A request that is ready to go.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// Where to.
    pub(crate) url: String,
    /// The contract's headers.
    pub(crate) headers: Vec<(String, String)>,
    /// The bytes.
    pub(crate) body: Vec<u8>,
}

/// What came back.
#[derive(Debug, Clone)]
pub(crate) struct Answered {
    /// The HTTP status; `None` if the answer was not read.
    pub(crate) status: Option<u16>,
    /// The answer's body.
    pub(crate) body: Vec<u8>,
    /// How long it took.
    pub(crate) took: Duration,
}

/// Posts a request and reads the answer.
///
/// # Errors
/// Nothing answered; the sentence says why.
pub(crate) fn post(agent: &Agent, request: &Request) -> Result<Answered, String> {
    let since = Instant::now();
    let mut building = agent.post(&request.url).header("content-type", "application/json");
    for (name, value) in &request.headers {
        building = building.header(name, value);
    }
    let mut answer = building.send(&request.body[..]).map_err(|error| error.to_string())?;
    let body = answer.body_mut().read_to_vec().map_err(|error| error.to_string())?;
    Ok(Answered { status: Some(answer.status().as_u16()), body, took: since.elapsed() })
}

/// Posts a request on `count` connections that all begin at the same moment.
pub(crate) fn post_at_once(agent: &Agent, request: &Request, count: usize) -> Vec<Result<Answered, String>> {
    let start = Barrier::new(count);
    std::thread::scope(|scope| {
        let one = |_| {
            scope.spawn(|| {
                start.wait();
                post(agent, request)
            })
        };
        let threads: Vec<_> = (0..count).map(one).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|_| Err("the request's thread ended early".to_owned()))
        };
        threads.into_iter().map(join).collect()
    })
}

/// Posts a request on a socket of its own, and closes it once an answer is there, without reading a byte of it: to
/// the sender the answer is lost, and whatever the answer stands for has happened.
///
/// # Errors
/// The URL is not plain `http://`, or nothing answered.
pub(crate) fn post_unread(request: &Request) -> Result<Answered, String> {
    let since = Instant::now();
    let uri: Uri = request.url.parse().map_err(|error| format!("{}: {error}", request.url))?;
    let authority = uri.authority().filter(|_| uri.scheme_str() == Some("http"));
    let authority = authority.ok_or("dropping an answer works on http:// only")?;
    let address = (authority.host(), authority.port_u16().unwrap_or(80));
    let failed = |error: std::io::Error| format!("{authority}: {error}");
    let mut addresses = address.to_socket_addrs().map_err(failed)?;
    let address = addresses.next().ok_or_else(|| format!("{authority} has no address"))?;
    let mut socket = TcpStream::connect_timeout(&address, TIMEOUT).map_err(failed)?;
    socket.set_read_timeout(Some(TIMEOUT)).map_err(failed)?;
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    socket.write_all(&written(request, authority.as_str(), path)).map_err(failed)?;
    // The byte stays where it is. Closing a socket with unread bytes resets the connection.
    match socket.peek(&mut [0; 1]).map_err(failed)? {
        0 => Err(format!("{authority} closed the connection without an answer")),
        _ => Ok(Answered { status: None, body: Vec::new(), took: since.elapsed() }),
    }
}

/// The request as HTTP/1.1 has it.
fn written(request: &Request, host: &str, path: &str) -> Vec<u8> {
    let mut head = format!(
        "POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
        request.body.len()
    );
    for (name, value) in &request.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    [head.as_bytes(), &request.body].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_written_whole() {
        let headers = vec![("X-Signature".to_owned(), "abc".to_owned())];
        let request = Request { url: "http://h:1/in/x".to_owned(), headers, body: b"{}".to_vec() };
        let text = String::from_utf8(written(&request, "h:1", "/in/x")).unwrap();
        assert!(text.starts_with("POST /in/x HTTP/1.1\r\nhost: h:1\r\n"), "{text}");
        assert!(text.ends_with("content-length: 2\r\nX-Signature: abc\r\n\r\n{}"), "{text}");
    }

    #[test]
    fn only_plain_http_can_be_dropped() {
        let request = Request { url: "https://h/in/x".to_owned(), headers: Vec::new(), body: Vec::new() };
        assert!(post_unread(&request).is_err());
    }
}
