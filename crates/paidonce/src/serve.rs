//! The server: opens the store, starts the engine, the workers and the listeners, and stops them in order.
//!
//! It either starts whole or not at all, and says why in one line.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use paidonce_engine::{Clock, Engine, Grants, Settings, SweeperSettings, WorkerSettings, sweep, work};
use paidonce_store::{Store, StoreError};
use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;

use crate::clock::SystemClock;
use crate::config::{Config, ConfigError, StoreUrl};
use crate::http::{App, Limits, Listener, Reach, router};

/// Why the server does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A contract or a secret cannot be used.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// An address cannot be listened on.
    #[error("cannot listen on {address}: {source}{hint}")]
    Listen {
        /// Which.
        address: SocketAddr,
        /// What the operating system says.
        source: std::io::Error,
        /// What to do.
        hint: &'static str,
    },
    /// The store cannot be opened.
    #[error("the store {url} cannot be opened: {source}")]
    Store {
        /// Where it is.
        url: StoreUrl,
        /// Why.
        source: StoreError,
    },
    /// The operating system gives no thread.
    #[error("cannot start the committer: {0}")]
    Thread(std::io::Error),
}

/// A running server.
pub struct Server {
    /// Where deliveries are taken.
    pub public: SocketAddr,
    /// Where the API answers, if that is elsewhere.
    pub private: Option<SocketAddr>,
    engine: Engine,
    stop: watch::Sender<bool>,
    connections: Arc<Semaphore>,
    connections_max: u32,
    stop_timeout: Duration,
    tasks: Vec<JoinHandle<()>>,
}

impl Server {
    /// Starts on the configured store with the real clock.
    ///
    /// # Errors
    /// [`ServeError`] says what stands in the way; nothing is left running.
    pub async fn start(config: &Config) -> Result<Self, ServeError> {
        let choice = config.store.clone();
        let url = choice.url.clone();
        let opened =
            tokio::task::spawn_blocking(move || choice.open_for_server()).await.unwrap_or_else(|error| {
                Err(StoreError::new(paidonce_store::StoreErrorKind::Internal, "opening it did not finish")
                    .caused_by(error))
            });
        let store = opened.map_err(|source| ServeError::Store { url, source })?;
        Self::start_on(config, store, Arc::new(SystemClock)).await
    }

    /// Starts on a store and a clock of the caller's.
    ///
    /// # Errors
    /// As [`Server::start`].
    pub async fn start_on(
        config: &Config,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, ServeError> {
        let (sources, tokens) = (config.sources()?, config.tokens()?);
        let public = listen(config.server.public).await?;
        let private = match config.server.private {
            Some(address) => Some(listen(address).await?),
            None => None,
        };
        let engine = Engine::start(store, clock, Arc::new(config.policy()), Settings::default());
        let engine = engine.map_err(ServeError::Thread)?;
        let app = App::new(config, sources, tokens, engine.clone());
        let open = app.connections().clone();
        let (stop, stopped) = watch::channel(false);
        let connections_max = u32::try_from(config.server.connections_max).unwrap_or(u32::MAX);
        let mut server = Self {
            public: public.address,
            private: private.as_ref().map(|listener| listener.address),
            engine,
            stop,
            connections: Arc::new(Semaphore::new(config.server.connections_max)),
            connections_max,
            stop_timeout: config.server.stop_timeout,
            tasks: Vec::new(),
        };
        let reach = if private.is_some() { Reach::Public } else { Reach::Everything };
        server.listen_on(config, public, router(app.clone(), reach), &open);
        if let Some(private) = private {
            server.listen_on(config, private, router(app, Reach::Everything), &open);
        }
        if config.workers.grant {
            server.grant(stopped.clone());
        }
        if config.workers.sweep {
            server.sweep(stopped);
        }
        Ok(server)
    }

    fn listen_on(&mut self, config: &Config, listener: Listener, router: Router, open: &Gauge) {
        let limits =
            Limits { header_timeout: config.server.header_timeout, idle_timeout: config.server.idle_timeout };
        let connections = (self.connections.clone(), open.clone());
        let serving = listener.serve(router, limits, connections, self.stop.subscribe());
        self.tasks.push(tokio::spawn(serving));
    }

    fn sweep(&mut self, stopped: watch::Receiver<bool>) {
        let stop = until(stopped);
        self.tasks.push(tokio::spawn(sweep(self.engine.clone(), SweeperSettings::default(), stop)));
    }

    fn grant(&mut self, stopped: watch::Receiver<bool>) {
        let stop = until(stopped);
        self.tasks.push(tokio::spawn(work(self.engine.clone(), Grants, WorkerSettings::default(), stop)));
    }

    /// Where `/v1`, `/metrics` and the rest answer.
    #[must_use]
    pub fn api(&self) -> SocketAddr {
        self.private.unwrap_or(self.public)
    }

    /// The engine behind it.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Accepts nothing new, lets requests in flight end, and flushes what is queued. What was acknowledged is
    /// committed in any case; the time limit only cuts off clients that are too slow.
    pub async fn stop(self) {
        // Nobody listening any more is stopped as well.
        let _ = self.stop.send(true);
        let drained = async {
            for task in self.tasks {
                let _ = task.await;
            }
            let _ = self.connections.acquire_many(self.connections_max).await;
        };
        if tokio::time::timeout(self.stop_timeout, drained).await.is_err() {
            tracing::warn!("stopped before every connection had ended");
        }
        self.engine.stop().await;
    }
}

async fn until(mut stopped: watch::Receiver<bool>) {
    // A sender that is gone has stopped as well.
    let _ = stopped.wait_for(|stop| *stop).await;
}

async fn listen(address: SocketAddr) -> Result<Listener, ServeError> {
    Listener::bind(address).await.map_err(|source| {
        let hint = match source.kind() {
            std::io::ErrorKind::AddrInUse => {
                "; another process has the port: stop it, or set another in [server]"
            }
            std::io::ErrorKind::PermissionDenied => {
                "; ports below 1024 need a privilege: set another in [server]"
            }
            _ => "",
        };
        ServeError::Listen { address, source, hint }
    })
}

/// Serves until `shutdown` ends. `ready` is called once, when all listens.
///
/// # Errors
/// As [`Server::start`].
pub async fn serve(
    config: &Config,
    ready: impl FnOnce(&Server),
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let server = Server::start(config).await?;
    tracing::info!(
        public = %server.public,
        private = server.private.map(tracing::field::display),
        store = %config.store.url,
        sources = config.sources.len(),
        grant = config.workers.grant,
        "serving"
    );
    if server.private.is_none() && !server.public.ip().is_loopback() {
        tracing::warn!(
            "the API and /metrics answer on the public address; set [server] private to part them"
        );
    }
    ready(&server);
    shutdown.await;
    tracing::info!("stopping");
    server.stop().await;
    Ok(())
}

/// Ends when the process is asked to stop (SIGTERM or SIGINT).
pub async fn signalled() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut terminate) => {
                tokio::select! {
                    _ = interrupt => {}
                    _ = terminate.recv() => {}
                }
            }
            Err(error) => {
                tracing::warn!(%error, "SIGTERM cannot be caught");
                let _ = interrupt.await;
            }
        }
    }
    #[cfg(not(unix))]
    {
        let _ = interrupt.await;
    }
}
