//! One HTTP request to somebody else's server: connected to a checked address, sent once, its answer capped.
//!
//! No redirects, no proxies, no decompression, no connection that is kept for the next request: what may have left and
//! what cannot have is known exactly, and nothing runs on when the future is dropped. It does not know what a status
//! means.

mod address;
mod connect;
mod target;

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;

use super::deadline::by;
use connect::Stream;

pub use address::is_global;
pub use connect::{Connector, Dial, Dialling, Resolve, Resolving};
pub use target::Target;

/// How much of an answer is read, and how long is waited for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// When the call must be over.
    pub deadline: Instant,
    /// At most so many bytes of the body.
    pub body_max: usize,
    /// How long the body is waited for after the head; to the deadline, if that is not said.
    pub patience: Option<Duration>,
}

impl Reading {
    /// Of an answer whose head says everything, and whose body is for people.
    #[must_use]
    pub fn of_a_head(deadline: Instant) -> Self {
        Self { deadline, body_max: 64 * 1024, patience: Some(Duration::from_secs(2)) }
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failed {
    /// Nothing of the request has left.
    Unsent(String),
    /// Nothing has left, and nothing may: the address is not one that may be reached.
    Blocked(String),
    /// The request may have arrived.
    Lost(String),
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Its status.
    pub status: u16,
    /// Its `Retry-After`.
    pub retry_after: Option<String>,
    /// The beginning of its body.
    pub body: Vec<u8>,
    /// Whether that is all of it.
    pub whole: bool,
}

type Connection = Pin<Box<http1::Connection<TokioIo<Stream>, Full<Bytes>>>>;

/// Sends a request to its target, and reads the answer, by the deadline.
///
/// # Errors
/// [`Failed`] tells what may have arrived.
pub async fn call(
    connector: &Arc<Connector>,
    target: &Target,
    request: Request<Full<Bytes>>,
    reading: Reading,
) -> Result<Said, Failed> {
    let deadline = reading.deadline;
    let left = AtomicBool::new(false);
    let answered = by(deadline, exchange(connector, target, request, &left)).await;
    let (response, mut connection) = answered.unwrap_or_else(|| {
        Err(if left.load(Relaxed) {
            Failed::Lost("there was no answer in time".to_owned())
        } else {
            Failed::Unsent("there was no connection in time".to_owned())
        })
    })?;
    let retry_after = response.headers().get(hyper::header::RETRY_AFTER);
    let retry_after = retry_after.and_then(|value| value.to_str().ok()).map(str::to_owned);
    let (status, mut body) = (response.status().as_u16(), Vec::new());
    // Whatever becomes of the body: the head was the answer.
    let patience = reading.patience.map_or(deadline, |patience| deadline.min(Instant::now() + patience));
    let read = driven(&mut connection, read(response, &mut body, reading.body_max));
    let whole = by(patience, read).await.unwrap_or(false);
    Ok(Said { status, retry_after, body, whole })
}

async fn exchange(
    connector: &Arc<Connector>,
    target: &Target,
    request: Request<Full<Bytes>>,
    left: &AtomicBool,
) -> Result<(Response<Incoming>, Option<Connection>), Failed> {
    let stream = connector.connect(target).await?;
    let shaken = http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = shaken.map_err(|error| Failed::Unsent(format!("no HTTP: {error}")))?;
    left.store(true, Relaxed);
    let mut connection = Some(Box::pin(connection));
    match driven(&mut connection, sender.send_request(request)).await {
        Ok(response) => Ok((response, connection)),
        Err(error) => Err(Failed::Lost(format!("the connection broke before an answer: {error}"))),
    }
}

/// Drives the connection beside what waits for it: in the same future, so that dropping it stops both.
async fn driven<T>(connection: &mut Option<Connection>, waits: impl Future<Output = T>) -> T {
    let mut waits = pin!(waits);
    poll_fn(|context| {
        if connection.as_mut().is_some_and(|connection| connection.as_mut().poll(context).is_ready()) {
            // Whoever waits for it is told by what it leaves behind.
            *connection = None;
        }
        waits.as_mut().poll(context)
    })
    .await
}

/// Answers whether the body came to its end.
async fn read(response: Response<Incoming>, body: &mut Vec<u8>, most: usize) -> bool {
    let mut incoming = response.into_body();
    loop {
        let frame = match incoming.frame().await {
            None => return true,
            Some(Err(_)) => return false,
            Some(Ok(frame)) => frame,
        };
        let Some(data) = frame.data_ref() else { continue };
        let room = most - body.len();
        body.extend_from_slice(&data[..data.len().min(room)]);
        if data.len() > room {
            return false;
        }
    }
}
