//! A server's API, over HTTP. Also what the demo asks.

mod ask;
mod operate;

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::http::{Response, Uri};
use ureq::{Agent, Body};

use super::Answer;
use crate::http::dto::Problem;
use crate::output::{Failure, plain};

/// How long one request may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A client of one server.
pub(crate) struct Remote {
    agent: Agent,
    url: String,
    key: String,
}

/// A client that follows nothing and asks no proxy: it carries a key.
pub(crate) fn agent() -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(None)
        .timeout_global(Some(TIMEOUT))
        .build()
        .into()
}

impl Remote {
    /// A client of the server at `url`.
    pub(crate) fn new(url: &str, key: &str) -> Answer<Self> {
        let usage = |what: String| Failure::usage(what, "write --server http://HOST:PORT");
        let uri: Uri = url.parse().map_err(|error| usage(format!("{url:?} is no URL: {error}")))?;
        if uri.scheme().is_none() || uri.authority().is_none() {
            return Err(usage(format!("{url:?} names no server")));
        }
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Failure::usage("the API key is no API key", "see `paidonce keys list`"));
        }
        Ok(Self { agent: agent(), url: url.trim_end_matches('/').to_owned(), key: format!("Bearer {key}") })
    }

    fn get<T: DeserializeOwned>(&self, path: &str, query: &[(&str, Option<&str>)]) -> Answer<T> {
        let mut request = self.agent.get(format!("{}{path}", self.url)).header("authorization", &self.key);
        for (name, value) in query {
            if let Some(value) = value {
                request = request.query(name, value);
            }
        }
        self.read(request.call())
    }

    fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Answer<T> {
        let request = self.agent.post(format!("{}{path}", self.url)).header("authorization", &self.key);
        let request = request.header("content-type", "application/json");
        let body = serde_json::to_vec(body).map_err(|error| {
            Failure::new(format!("the request cannot be written: {error}"), "report this")
        })?;
        self.read(request.header("idempotency-key", crate::fresh::command_id().as_str()).send(&body[..]))
    }

    fn read<T: DeserializeOwned>(&self, answer: Result<Response<Body>, ureq::Error>) -> Answer<T> {
        let unreachable = |error: ureq::Error| {
            Failure::unavailable(
                format!("{} does not answer: {error}", self.url),
                "check that the server runs",
            )
        };
        let mut answer = answer.map_err(unreachable)?;
        let status = answer.status();
        let body = answer.body_mut().read_to_vec().map_err(unreachable)?;
        if !status.is_success() {
            return Err(refused(status.as_u16(), &body));
        }
        // An answer without a body stands for `()`.
        let body = if body.is_empty() { b"null" } else { &body[..] };
        serde_json::from_slice(body).map_err(|error| {
            let what = format!("the server's answer is not what this version understands: {error}");
            Failure::new(what, "use the server's own version of the command line")
        })
    }
}

/// A problem document, or whatever else came, as a failure.
fn refused(status: u16, body: &[u8]) -> Failure {
    let problem = serde_json::from_slice::<Problem>(body).ok();
    let what = problem.map_or_else(
        || format!("the server answered {status}"),
        |problem| if problem.detail.is_empty() { problem.title } else { problem.detail },
    );
    let what = plain(&what);
    match status {
        400 | 422 => Failure::usage(what, "correct the arguments; see --help"),
        401 | 403 => Failure::new(what, "use a key of the right scope; see `paidonce keys list`"),
        429 | 503 => Failure::unavailable(what, "try again in a moment"),
        _ => Failure::new(what, "look at it with `orders show` or `explain`, and decide"),
    }
}

/// An id as one segment of a path.
fn segment(id: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    id.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_one_segment_whatever_it_holds() {
        assert_eq!(segment("a/b c?é"), "a%2Fb%20c%3F%C3%A9");
        assert_eq!(segment("ord_1-2.3~4"), "ord_1-2.3~4");
    }

    #[test]
    fn a_server_needs_a_whole_url_and_a_key() {
        assert!(Remote::new("localhost:8080", "pk_x").is_err());
        assert!(Remote::new("/v1", "pk_x").is_err());
        assert!(Remote::new("http://localhost:8080/", "").is_err());
        assert!(Remote::new("http://localhost:8080/", "pk_x").is_ok());
    }
}
