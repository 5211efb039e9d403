//! One store with the servers on it. A server that is gone is started anew; who asks it meanwhile asks again.

use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use paidonce::config::Config;
use paidonce::source::Sources;
use paidonce_ledger::Account;
use paidonce_store::Store;
use serde_json::Value;

use super::stores::Shared;
use crate::cli::{Place, Serving};
use crate::wire::{self, Answer};

/// Longer than any outage that a round makes.
const PATIENCE: Duration = Duration::from_secs(120);

pub(super) struct Site {
    place: Place,
    pub(super) config: Config,
    pub(super) store: Arc<dyn Store>,
    sources: Sources,
    key: String,
    servers: Vec<Mutex<Option<Serving>>>,
    /// Orders of one sender in a round: few where all of them are written at every commit.
    pub(super) orders: usize,
    /// Which one is stopped.
    asleep: AtomicUsize,
}

impl Site {
    /// `count` servers on one store.
    pub(super) fn open(shared: &Shared, count: usize) -> Self {
        let place = Place::empty().with_environment(shared.environment());
        let url = shared.url();
        place.write("secret", "of the kill test");
        place.write("token", crate::shop::TOKEN_SECRET);
        let text = format!(
            "[server]\npublic = \"127.0.0.1:0\"\ntoken_secrets = [\"file:token\"]\n[store]\nurl = \"{url}\"\n[log]\nlevel = \"error\"\n[[source]]\n\
             name = \"shop\"\ncontract = \"generic-hmac\"\naccount = \"main\"\nmode = \"test\"\n\
             secrets = [\"file:secret\"]\nhints = \"own_ids\"\n[source.overlay.read]\ntest = \"test\"\n"
        );
        place.write("paidonce.toml", &text);
        let config = Config::parse(&text, &place.path("paidonce.toml")).unwrap();
        let added = place.json(&["keys", "add", "shop", "--scope", "operate"]);
        let key = format!("Bearer {}", added["key"].as_str().unwrap());
        let (store, sources) = (shared.open(&place.path("")), config.sources().unwrap());
        let servers = (0..count).map(|_| Mutex::new(Some(place.serve()))).collect();
        let asleep = AtomicUsize::new(usize::MAX);
        let orders = if shared.is_document() { 2 } else { 6 };
        Self { place, config, store, sources, key, servers, orders, asleep }
    }

    pub(super) fn folder(&self) -> &Place {
        &self.place
    }

    pub(super) fn account(&self) -> Account {
        self.sources.accounts().get("shop").unwrap().clone()
    }

    /// SIGKILL. Nobody answers there until [`Site::start`].
    pub(super) fn kill(&self, server: usize) {
        *self.servers[server].lock().unwrap() = None;
    }

    pub(super) fn start(&self, server: usize) {
        *self.servers[server].lock().unwrap() = Some(self.place.serve());
    }

    /// SIGSTOP. Whoever asks it from here on waits in vain, so nobody does until [`Site::wake`].
    pub(super) fn stop(&self, server: usize) {
        self.signal(server, "STOP");
        self.asleep.store(server, Ordering::SeqCst);
    }

    /// SIGCONT.
    pub(super) fn wake(&self, server: usize) {
        self.signal(server, "CONT");
        self.asleep.store(usize::MAX, Ordering::SeqCst);
    }

    fn signal(&self, server: usize, signal: &str) {
        let id = self.servers[server].lock().unwrap().as_ref().unwrap().id().to_string();
        let status = Command::new("kill").args(["-s", signal, &id]).status().unwrap();
        assert!(status.success());
    }

    fn address(&self, server: usize) -> Option<SocketAddr> {
        if self.asleep.load(Ordering::SeqCst) == server {
            return None;
        }
        let held = self.servers[server].lock().unwrap();
        held.as_ref().map(|serving| serving.public.parse().unwrap())
    }

    /// The headers of a shop's request.
    fn headers<'a>(&'a self, key: &'a str) -> [(&'a str, &'a str); 3] {
        [("authorization", self.key.as_str()), ("content-type", "application/json"), ("idempotency-key", key)]
    }

    /// Asks this one server until it has decided.
    pub(super) fn post(&self, server: usize, path: &str, key: &str, body: &Value) -> Answer {
        let (until, body) = (Instant::now() + PATIENCE, body.to_string());
        loop {
            let asked = |to| wire::try_request(to, "POST", path, &self.headers(key), body.as_bytes());
            match self.address(server).and_then(asked) {
                Some(answer) if answer.status < 500 => return answer,
                _ => assert!(Instant::now() < until, "{path} is not decided for {PATIENCE:?}"),
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Sends a request and reads no answer.
    pub(super) fn send(&self, server: usize, path: &str, key: &str, body: &Value) -> TcpStream {
        let to = self.address(server).expect("it runs");
        wire::send(to, "POST", path, &self.headers(key), body.to_string().as_bytes())
    }

    pub(super) fn get(&self, server: usize, path: &str) -> Answer {
        wire::request(self.address(server).expect("it runs"), "GET", path, &[], b"")
    }

    /// Asks one server after the other until one has answered with a success, as a provider and a shop do. `from` says
    /// where to begin.
    fn insist(&self, from: usize, path: &str, headers: &[(&str, &str)], body: &[u8]) {
        let until = Instant::now() + PATIENCE;
        for n in from.. {
            let server = n % self.servers.len();
            let asked = |to| wire::try_request(to, "POST", path, headers, body);
            match self.address(server).and_then(asked) {
                Some(answer) if (200..300).contains(&answer.status) => return,
                Some(answer) if answer.status < 500 => panic!("{path} is refused: {answer:?}"),
                _ => {}
            }
            assert!(Instant::now() < until, "nobody has taken {path} for {PATIENCE:?}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    pub(super) fn place_order(&self, from: usize, order: &str) {
        self.insist(
            from,
            "/v1/orders",
            &self.headers(order),
            crate::shop::order(order).to_string().as_bytes(),
        );
    }

    pub(super) fn deliver(&self, from: usize, body: &[u8]) {
        let now = paidonce::clock::SystemClock::now_unix_s();
        let seal = self.sources.get("shop").unwrap().sign("evt", body, now).unwrap();
        let headers: Vec<_> = seal.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.insist(from, "/in/shop", &headers, body);
    }
}
