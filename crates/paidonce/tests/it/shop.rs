//! A merchant's server on a store of its own, with keys and sources, on ports of its own.

use std::collections::BTreeMap;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use paidonce::clock::SystemClock;
use paidonce::config::Config;
use paidonce::effect::outbound::Connector;
use paidonce::fresh;
use paidonce::serve::Server;
use paidonce::source::Sources;
use paidonce_ledger::{
    AddKey, Command, KeyName, Ledger, OrderId, Reply, RevokeKey, Scope, Stamp, TaskKey, Unit,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::wire::{self, Answer};

/// The secret of every source: a log that holds it is a failure.
pub(crate) const SECRET: &str = "canary-secret-5d1f9c";

/// The secret of the buyers' tokens.
pub(crate) const TOKEN_SECRET: &str = "canary-token-secret-of-more-than-32-bytes";

/// The secret of every effect.
pub(crate) const EFFECT_SECRET: &str = "whsec_Y2FuYXJ5LWVmZmVjdC1zZWNyZXQtMDEyMzQ1Njc4OQ==";

const SOURCES: &str = r#"
[[source]]
name = "shop"
contract = "generic-hmac"
account = "main"
mode = "test"
secrets = ["file:secret"]
hints = "own_ids"
[source.overlay.read]
test = "test"

[[source]]
name = "strict"
contract = "generic-hmac"
account = "strict"
mode = "test"
secrets = ["file:secret"]
conflict_status = 409

[[source]]
name = "reject"
contract = "generic-hmac"
account = "reject"
mode = "test"
secrets = ["file:secret"]
unmatched = "reject"

[[source]]
name = "hold"
contract = "generic-hmac"
account = "hold"
mode = "test"
secrets = ["file:secret"]
unmatched = "hold"

[[source]]
name = "stripe"
contract = "stripe"
account = "main"
mode = "test"
secrets = ["file:stripe-secret"]
"#;

pub(crate) struct Shop {
    runtime: Runtime,
    server: Option<Server>,
    pub(crate) config: Config,
    pub(crate) sources: Sources,
    keys: BTreeMap<&'static str, String>,
    folder: Option<TempDir>,
}

impl Shop {
    pub(crate) fn open() -> Self {
        Self::with("", "")
    }

    /// With more lines in `[server]`, and more sections.
    pub(crate) fn with(server: &str, more: &str) -> Self {
        Self::asking(server, more, None)
    }

    /// With connections of the test's own to the providers that are asked.
    pub(crate) fn asking(server: &str, more: &str, connector: Option<Arc<Connector>>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("secret"), format!("{SECRET}\n")).unwrap();
        std::fs::write(folder.path().join("stripe-secret"), format!("whsec_{SECRET}\n")).unwrap();
        std::fs::write(folder.path().join("token"), TOKEN_SECRET).unwrap();
        std::fs::write(folder.path().join("effect-secret"), EFFECT_SECRET).unwrap();
        let text = format!(
            "[server]\npublic = \"127.0.0.1:0\"\ntoken_secrets = [\"file:token\"]\n{server}\n{more}\n{SOURCES}"
        );
        let config = Config::parse(&text, &folder.path().join("paidonce.toml")).unwrap();
        let sources = config.sources().unwrap();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let store = config.store.open_for_server(None).unwrap();
        let starting = Server::start_asking(&config, store, Arc::new(SystemClock), connector);
        let server = runtime.block_on(starting).unwrap();
        let mut shop = Self {
            runtime,
            server: Some(server),
            config,
            sources,
            keys: BTreeMap::new(),
            folder: Some(folder),
        };
        for scope in [Scope::View, Scope::Operate, Scope::Admin] {
            let key = fresh::api_key();
            let (name, digest) = (KeyName::new(scope.as_str()).unwrap(), key.digest);
            shop.command(Command::AddKey(AddKey { stamp: stamp(), name, digest, scope }));
            shop.keys.insert(scope.as_str(), key.text);
        }
        shop
    }

    pub(crate) fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    pub(crate) fn public(&self) -> SocketAddr {
        self.server().public
    }

    pub(crate) fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    pub(crate) fn command(&self, command: Command) -> Reply {
        self.wait(self.server().engine().submit(command)).unwrap()
    }

    pub(crate) fn revoke(&self, name: &str) {
        self.command(Command::RevokeKey(RevokeKey { stamp: stamp(), name: KeyName::new(name).unwrap() }));
    }

    pub(crate) fn key(&self, scope: &str) -> String {
        format!("Bearer {}", self.keys[scope])
    }

    /// Everything that is stored.
    pub(crate) fn ledger(&self) -> Ledger {
        self.wait(self.server().engine().query(|store| store.snapshot())).unwrap()
    }

    /// Waits until what is stored fulfils `condition`, woken by commits.
    pub(crate) fn until(&self, condition: impl Fn(&Ledger) -> bool) -> Ledger {
        let engine = self.server().engine();
        let found = async {
            loop {
                let committed = engine.committed().notified();
                tokio::pin!(committed);
                committed.as_mut().enable();
                let ledger = engine.query(|store| store.snapshot()).await.unwrap();
                if condition(&ledger) {
                    return ledger;
                }
                committed.await;
            }
        };
        self.wait(async { tokio::time::timeout(Duration::from_secs(20), found).await })
            .expect("it never came to be")
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        let key = self.key("view");
        wire::request(self.server().api(), "GET", path, &[("authorization", &key)], b"")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_with(path, &[], body.to_string().as_bytes())
    }

    pub(crate) fn post_with(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let key = self.key("operate");
        let mut all = vec![("authorization", key.as_str()), ("content-type", "application/json")];
        all.extend(headers);
        // As a shop does: another key for every request, unless the test says which.
        let own = fresh::command_id();
        if !headers.iter().any(|(name, _)| *name == "idempotency-key") {
            all.push(("idempotency-key", own.as_str()));
        }
        wire::request(self.server().api(), "POST", path, &all, body)
    }

    /// The headers of a genuine delivery.
    pub(crate) fn seal(&self, source: &str, body: &[u8]) -> Vec<(String, String)> {
        let now = paidonce::clock::SystemClock::now_unix_s();
        self.sources.get(source).unwrap().sign("evt", body, now).unwrap()
    }

    pub(crate) fn deliver(&self, source: &str, body: &[u8]) -> Answer {
        let seal = self.seal(source, body);
        let headers: Vec<_> = seal.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        wire::request(self.public(), "POST", &format!("/in/{source}"), &headers, body)
    }

    /// The newest open case for this reason.
    pub(crate) fn case(&self, reason: &str) -> String {
        let open = self.get("/v1/cases?open=true").json();
        let found = open["rows"].as_array().unwrap().iter().find(|case| case["reason"] == reason);
        found.unwrap_or_else(|| panic!("no {reason}: {open:#}"))["handle"].as_str().unwrap().to_owned()
    }

    /// What stands in the audit about an action: who, to what, why.
    pub(crate) fn audited(&self, action: &str) -> Vec<(String, String, String)> {
        let ledger = self.ledger();
        let rows = ledger.audits.rows().values().filter(|audit| &*audit.action == action);
        let text = |audit: &paidonce_ledger::Audit| {
            let reason = audit.reason.as_deref().unwrap_or_default().to_owned();
            (audit.by.to_string(), audit.subject.clone(), reason)
        };
        rows.map(text).collect()
    }

    /// Places an order, pays it, and waits for its grant.
    pub(crate) fn granted(&self, id: &str) {
        self.place(id);
        self.deliver("shop", &paid(&format!("e-{id}"), &format!("p-{id}"), id, "19.90"));
        self.until(|ledger| ledger.entitlements.rows().keys().any(|(order, _)| order.as_str() == id));
    }

    /// Places an order of 19.90 EUR with this id.
    pub(crate) fn place(&self, id: &str) -> Answer {
        let answer = self.post("/v1/orders", &order(id));
        assert_eq!(answer.status, 201, "{answer:?}");
        answer
    }

    /// Stops the server and leaves its folder.
    pub(crate) fn stop(mut self) -> TempDir {
        let server = self.server.take().unwrap();
        self.runtime.block_on(server.stop());
        self.folder.take().unwrap()
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            self.runtime.block_on(server.stop());
        }
    }
}

pub(crate) fn stamp() -> Stamp {
    Stamp { id: fresh::command_id(), by: Arc::from("test"), reason: None }
}

/// The short name of an order's grant.
pub(crate) fn grant_of(order: &str) -> String {
    TaskKey::grant(OrderId::new(order).unwrap(), Unit::Order).handle()
}

/// An order of 19.90 EUR.
pub(crate) fn order(id: &str) -> Value {
    json!({
        "id": id, "customer": "canary-customer-77", "lines": [{"sku": "ebook", "quantity": 1}],
        "total": {"amount": "19.90", "unit": "EUR"}
    })
}

/// A payment of `amount` EUR for an order, in the words of the generic contract.
pub(crate) fn paid(event: &str, payment: &str, order: &str, amount: &str) -> Vec<u8> {
    json!({
        "id": event, "type": "payment.succeeded",
        "payment": {"id": payment, "order": order, "amount": amount, "currency": "EUR"},
        "note": "canary-body-31"
    })
    .to_string()
    .into_bytes()
}
