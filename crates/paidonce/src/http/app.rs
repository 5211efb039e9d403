//! What every handler is given: the engine, the sources, the counters.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

use paidonce_contracts::Verifier;
use paidonce_engine::{Engine, Outside};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;

use super::auth::Keys;
use crate::certificate::CertificateCache;
use crate::config::Config;
use crate::source::{Accounts, Readers, Source, Sources};
use crate::telemetry::{Metrics, SourceMetrics};
use crate::token::Tokens;

/// A source with its counters.
pub(super) struct Endpoint {
    pub(super) source: Source,
    pub(super) metrics: SourceMetrics,
    /// The time that accepted deliveries take.
    pub(super) accepted_time: Histogram,
}

/// What every handler is given.
pub struct App {
    pub(super) engine: Engine,
    pub(super) endpoints: HashMap<String, Endpoint>,
    /// Names of sources by number, for [`App::decoy`].
    names: Vec<String>,
    /// Keyed at random in each process, so that nobody outside can compute it.
    hash: RandomState,
    pub(super) nobody_metrics: SourceMetrics,
    pub(super) accounts: Accounts,
    pub(super) readers: Arc<Readers>,
    pub(super) tokens: Tokens,
    pub(super) certificates: Arc<CertificateCache>,
    pub(super) keys: Keys,
    pub(super) metrics: Metrics,
    /// The workers of this process, for their counters.
    pub(super) outside: Vec<Arc<Outside>>,
    pub(super) body_max: usize,
    pub(super) body_timeout: Duration,
}

/// The label under which all unknown sources are counted: no more labels than sources, whatever is sent.
const UNKNOWN: &str = "unknown";

/// The template of the route that providers call.
pub(super) const IN_ROUTE: &str = "/in/{source}";

impl App {
    /// Puts it together.
    #[must_use]
    pub fn new(
        config: &Config,
        sources: Sources,
        tokens: Tokens,
        engine: Engine,
        outside: Vec<Arc<Outside>>,
        certificates: Arc<CertificateCache>,
    ) -> Arc<Self> {
        let metrics = Metrics::default();
        let (accounts, readers) = (sources.accounts().clone(), Arc::new(sources.readers()));
        let endpoint = |source: Source| {
            let status = source.contract.acknowledgement().status;
            let own = metrics.of_source(source.name.as_str());
            let accepted_time = metrics.route(IN_ROUTE, status);
            (source.name.to_string(), Endpoint { source, metrics: own, accepted_time })
        };
        let endpoints: HashMap<_, _> = sources.into_sources().map(endpoint).collect();
        Arc::new(Self {
            engine,
            names: endpoints.keys().cloned().collect(),
            hash: RandomState::new(),
            endpoints,
            nobody_metrics: metrics.of_source(UNKNOWN),
            accounts,
            readers,
            tokens,
            certificates,
            keys: Keys::default(),
            metrics,
            outside,
            body_max: config.server.body_max,
            body_timeout: config.server.body_timeout,
        })
    }
}

impl App {
    /// The verifier that a delivery to an unknown source is run through, so that it costs what one to a source does.
    /// A name always gets the same one, as a source would; what it finds is thrown away.
    pub(super) fn decoy(&self, name: &str) -> Option<&Verifier> {
        let number = self.hash.hash_one(name) % u64::try_from(self.names.len()).ok().filter(|n| *n > 0)?;
        let chosen = self.names.get(usize::try_from(number).ok()?)?;
        self.endpoints.get(chosen).map(|endpoint| &endpoint.source.verifier)
    }

    /// The number of open connections, for whoever accepts them.
    #[must_use]
    pub(crate) fn connections(&self) -> &Gauge {
        self.metrics.connections()
    }
}
