//! Sockets: an accept loop of our own, because `axum::serve` limits neither the time of a header nor the number of
//! connections. It knows nothing of what is served.

use std::future::Future as _;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use prometheus_client::metrics::gauge::Gauge;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, Sleep, sleep_until};
use tower::Service as _;

/// What a connection may cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) header_timeout: Duration,
    pub(crate) idle_timeout: Duration,
}

/// The largest block of headers, and the read buffer, in bytes.
const HEADERS_MAX: usize = 32 * 1024;

/// How long to wait when the operating system has no more sockets.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A bound address.
pub(crate) struct Listener {
    listener: TcpListener,
    pub(crate) address: SocketAddr,
}

impl Listener {
    pub(crate) async fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        Ok(Self { address: listener.local_addr()?, listener })
    }

    /// Serves until `stop` says so; connections then finish the request they are in.
    pub(crate) async fn serve(
        self,
        router: Router,
        limits: Limits,
        connections: (Arc<Semaphore>, Gauge),
        mut stop: watch::Receiver<bool>,
    ) {
        let (permits, open) = connections;
        loop {
            // A permit first: who is too many waits in the operating system's queue, and costs nothing here.
            let accept = async {
                let permit = permits.clone().acquire_owned().await;
                (permit, self.listener.accept().await)
            };
            let (permit, accepted) = tokio::select! {
                () = stopped(&mut stop) => return,
                accepted = accept => accepted,
            };
            let (Ok(permit), Ok((stream, _))) = (permit, accepted) else {
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            };
            let (router, stop, open) = (router.clone(), stop.clone(), open.clone());
            tokio::spawn(async move {
                open.inc();
                connection(stream, router, limits, stop).await;
                open.dec();
                drop(permit);
            });
        }
    }
}

async fn stopped(stop: &mut watch::Receiver<bool>) {
    // A sender that is gone has stopped as well.
    let _ = stop.wait_for(|stop| *stop).await;
}

async fn connection(stream: TcpStream, router: Router, limits: Limits, mut stop: watch::Receiver<bool>) {
    // Answers are small and whole: waiting for more to send only delays them.
    let _ = stream.set_nodelay(true);
    let phase = Arc::new(AtomicU8::new(HEAD));
    let io = HeadTimed::new(stream, phase.clone(), limits.header_timeout);
    let service = service_fn(move |request: Request<Incoming>| {
        phase.store(BUSY, Relaxed);
        let (answer, phase) = (router.clone().call(request), phase.clone());
        async move {
            let answer = answer.await;
            phase.store(IDLE, Relaxed);
            answer
        }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(limits.idle_timeout).max_buf_size(HEADERS_MAX);
    let mut serving = pin!(server.serve_connection(io, service));
    // How it ended is the client's affair: a reset or a time-out is no news.
    tokio::select! {
        _ = serving.as_mut() => return,
        () = stopped(&mut stop) => serving.as_mut().graceful_shutdown(),
    }
    let _ = serving.await;
}

/// A request's headers are being read. A new connection begins here.
const HEAD: u8 = 0;
/// A request is with its handler, or its body is being read.
const BUSY: u8 = 1;
/// The last request was answered, and the next has not begun.
const IDLE: u8 = 2;

/// A stream on which a request's headers must be complete soon after their first byte.
///
/// hyper has one time limit from the end of an answer to the end of the next headers; it serves here as the longer
/// limit for idle connections. This is the shorter one.
struct HeadTimed {
    inner: TokioIo<TcpStream>,
    phase: Arc<AtomicU8>,
    since: Instant,
    limit: Duration,
    timer: Option<Pin<Box<Sleep>>>,
}

impl HeadTimed {
    fn new(stream: TcpStream, phase: Arc<AtomicU8>, limit: Duration) -> Self {
        Self { inner: TokioIo::new(stream), phase, since: Instant::now(), limit, timer: None }
    }
}

impl Read for HeadTimed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let read = Pin::new(&mut this.inner).poll_read(cx, buffer);
        let phase = this.phase.load(Relaxed);
        if read.is_ready() {
            if phase == IDLE {
                this.phase.store(HEAD, Relaxed);
                (this.since, this.timer) = (Instant::now(), None);
            }
            return read;
        }
        if phase != HEAD {
            this.timer = None;
            return Poll::Pending;
        }
        let deadline = this.since + this.limit;
        let timer = this.timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl Write for HeadTimed {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
