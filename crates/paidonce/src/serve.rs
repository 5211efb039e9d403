//! The server: opens the store, starts the engine, the workers and the listeners, and stops them in order.
//!
//! It either starts whole or not at all, and says why in one line.

use std::collections::BTreeMap;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use paidonce_engine::{
    Clock, Engine, Grants, Lookup, Outside, Owners, Settings, SweeperSettings, WorkerSettings, sweep, work,
    work_outside,
};
use paidonce_ledger::Account;
use paidonce_store::{Store, StoreError, StoreErrorKind};
use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;

use crate::certificate::CertificateCache;
use crate::clock::SystemClock;
use crate::config::{Config, ConfigError, StoreUrl};
use crate::effect::configured::Effect;
use crate::effect::outbound::Connector;
use crate::fresh;
use crate::http::{App, Limits, Listener, Reach, router};
use crate::provider::Provider;
use crate::source::Sources;

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
    /// The store's address or `grant.sql` is not what it should be.
    #[error("{0}")]
    Usage(StoreError),
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

impl ServeError {
    pub(crate) fn of_store(url: StoreUrl, source: StoreError) -> Self {
        match source.kind() {
            StoreErrorKind::Usage => Self::Usage(source),
            _ => Self::Store { url, source },
        }
    }
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
        let (choice, grant_sql) = (config.store.clone(), config.grant_sql()?);
        let url = choice.url.clone();
        let opened = tokio::task::spawn_blocking(move || choice.open_for_server(grant_sql))
            .await
            .unwrap_or_else(|error| {
                Err(StoreError::new(StoreErrorKind::Internal, "opening it did not finish").caused_by(error))
            });
        let store = opened.map_err(|source| ServeError::of_store(url, source))?;
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
        Self::start_asking(config, store, clock, None).await
    }

    /// Starts with connections of the caller's to the providers that are asked.
    ///
    /// # Errors
    /// As [`Server::start`].
    pub async fn start_asking(
        config: &Config,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        connector: Option<Arc<Connector>>,
    ) -> Result<Self, ServeError> {
        Self::start_with(config, store, clock, connector, Arc::default()).await
    }

    /// Starts with another way to get the certificates of providers, too.
    ///
    /// # Errors
    /// As [`Server::start`].
    pub async fn start_with(
        config: &Config,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        connector: Option<Arc<Connector>>,
        certificates: Arc<CertificateCache>,
    ) -> Result<Self, ServeError> {
        let (sources, tokens) = (config.sources()?, config.tokens()?);
        let outside = outside(config, &sources, connector)?;
        let public = listen(config.server.public).await?;
        let private = match config.server.private {
            Some(address) => Some(listen(address).await?),
            None => None,
        };
        let engine = Engine::start(store, clock, Arc::new(config.policy()), Settings::default());
        let engine = engine.map_err(ServeError::Thread)?;
        let app = App::new(config, sources, tokens, engine.clone(), outside.clone(), certificates);
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
        outside.into_iter().for_each(|outside| server.send(outside, stopped.clone()));
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
        self.tasks.push(tokio::spawn(work(self.engine.clone(), Grants, WorkerSettings::grants(), stop)));
    }

    fn send(&mut self, outside: Arc<Outside>, stopped: watch::Receiver<bool>) {
        let stop = until(stopped);
        let work = work_outside(self.engine.clone(), outside, WorkerSettings::default(), stop);
        self.tasks.push(tokio::spawn(work));
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

/// A worker for each effect, and for each account that can be asked, as far as this process does such work.
fn outside(
    config: &Config,
    sources: &Sources,
    connector: Option<Arc<Connector>>,
) -> Result<Vec<Arc<Outside>>, ServeError> {
    let owners = Arc::new(Owners::new(fresh::identity()).expect("a short plain text is an identity"));
    let effect = |effect: Effect| {
        let settings = config.workers.outside(effect.concurrency);
        let make = if effect.sync { Outside::syncs } else { Outside::sends };
        make(effect.name, effect.destination, settings, owners.clone())
    };
    // Checked in any case: what is wrong with one is said by whoever starts, not by whoever sends.
    let mut all: Vec<_> = config.ready_effects()?.into_iter().map(effect).collect();
    if !config.workers.effects {
        all.clear();
    }
    if config.workers.lookups {
        let settings = config.workers.outside(LOOKUPS_AT_ONCE);
        let providers = providers(config, sources, connector)?;
        let worker = |(account, provider)| Outside::lookups(account, provider, settings, owners.clone());
        all.extend(providers.into_iter().map(worker));
    }
    Ok(all)
}

/// Lookups at one account at once.
const LOOKUPS_AT_ONCE: usize = 4;

/// The accounts that can be asked. Several sources of one account share the first one's key.
fn providers(
    config: &Config,
    sources: &Sources,
    connector: Option<Arc<Connector>>,
) -> Result<BTreeMap<Account, Arc<dyn Lookup>>, ServeError> {
    let mut asked = BTreeMap::<Account, Arc<dyn Lookup>>::new();
    let mut shared = connector;
    for source in sources.iter() {
        let Some(key) = source.lookup_key.clone() else { continue };
        let connector = match &shared {
            Some(connector) => connector.clone(),
            None => {
                let made = Connector::new(None);
                let made = Arc::new(made.map_err(|why| ServeError::Config(config.mistaken(&why)))?);
                shared.insert(made).clone()
            }
        };
        let provider = || Provider::new(source.contract.clone(), &source.account, key, connector);
        asked.entry(source.account.clone()).or_insert_with(|| Arc::new(provider()));
    }
    Ok(asked)
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
        effects = config.effects.len(),
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
