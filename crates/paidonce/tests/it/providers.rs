//! Every provider over HTTP, by the vectors of its contract: what a genuine delivery is answered, and what one is that
//! is not; certificates that are fetched; tests of the endpoint.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use paidonce::certificate::{CertificateCache, FetchCertificate};
use paidonce::config::Config;
use paidonce::serve::Server;
use paidonce_contracts::{Certificates, Contract};
use paidonce_engine::{Clock, Sleep};
use paidonce_ledger::{FactKey, Ledger, Timestamp};
use paidonce_store::MemoryStore;
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::wire::{self, Answer};

/// A clock that stands where the vector was signed.
struct At(i64);

impl Clock for At {
    fn now(&self) -> Timestamp {
        Timestamp(self.0 * 1_000)
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// What would be at the certificate's address.
struct There(Result<Vec<u8>, String>, AtomicUsize);

impl FetchCertificate for There {
    fn fetch(&self, _: &str) -> Result<Vec<u8>, String> {
        self.1.fetch_add(1, Relaxed);
        self.0.clone()
    }
}

/// How a payment would be looked up, where the shipped contract does not say.
const LOOKUP: &str = "lookup = { url = \"https://api.example.com/{payment}\", auth = \"bearer\", id = \"id\", \
                      status = \"status\", event = [{ type = \"x\", ignore = true }] }\n";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../contracts/fixtures")
}

/// Contract and vector: the first genuine POST of each contract that has vectors.
fn genuine() -> Vec<(String, Value)> {
    let mut found: Vec<(String, Value)> = Vec::new();
    let mut folders: Vec<_> =
        std::fs::read_dir(fixtures()).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    for folder in folders {
        let text = std::fs::read_to_string(folder.join("vectors.json")).unwrap();
        let list: Vec<Value> = serde_json::from_str(&text).unwrap();
        for vector in list {
            let own = folder.file_name().unwrap().to_str().unwrap();
            let contract = vector["scheme"].as_str().unwrap_or(own).to_owned();
            let wanted = vector["expect"] == "valid"
                && vector["attack"] != true
                && vector["method"] != "GET"
                && Contract::builtin_text(&contract).is_some();
            if wanted && !found.iter().any(|(known, _)| *known == contract) {
                found.push((contract, vector));
            }
        }
    }
    found
}

fn vector(provider: &str, id: &str) -> Value {
    let text = std::fs::read_to_string(fixtures().join(provider).join("vectors.json")).unwrap();
    let list: Vec<Value> = serde_json::from_str(&text).unwrap();
    list.into_iter().find(|vector| vector["id"] == id).unwrap()
}

/// A server with the one source that the vector is for.
struct Receiver {
    runtime: Runtime,
    server: Server,
    contract: Contract,
    certificate: Arc<There>,
    _folder: tempfile::TempDir,
}

impl Receiver {
    fn of(name: &str, vector: &Value) -> Self {
        let pem = |file: &str| std::fs::read(fixtures().join("paypal").join(file)).unwrap();
        let chain = ["CERT-360caa42-fca2a594-a5cafa77.pem", "DigiCertSHA2ExtendedValidationServerCA.crt.pem"];
        Self::fetching(name, vector, Ok(chain.map(pem).join(&b'\n')))
    }

    fn fetching(name: &str, vector: &Value, certificate: Result<Vec<u8>, String>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let secrets: Vec<&str> = match &vector["secret"] {
            Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
            secret => secret.as_str().into_iter().collect(),
        };
        let mut named = Vec::new();
        for (n, secret) in secrets.iter().enumerate() {
            std::fs::write(folder.path().join(format!("secret-{n}")), secret).unwrap();
            named.push(format!("\"file:secret-{n}\""));
        }
        let mut overlay = String::new();
        if let Some(tolerance) = vector["tolerance_s"].as_i64() {
            overlay.push_str(&format!("signature.max_age_s = {tolerance}\n"));
        }
        for (name, value) in vector["context"].as_object().into_iter().flatten() {
            if name != "cert_pem_file" {
                overlay.push_str(&format!("signature.values.{name} = {value}\n"));
            }
        }
        if name == "shopify" {
            overlay.push_str("signature.values.topic = \"orders/paid\"\n");
        }
        // A contract that only announces is asked about, which nothing here waits for.
        let shipped = Contract::builtin(name, None).ok();
        let asked = if shipped.as_ref().is_some_and(|shipped| shipped.refuses_truth_event().is_some()) {
            if shipped.is_some_and(|shipped| shipped.lookup().is_none()) {
                overlay.push_str(LOOKUP);
            }
            "lookup_key = \"file:key\"\n"
        } else {
            ""
        };
        std::fs::write(folder.path().join("key"), "id:key").unwrap();
        let text = format!(
            "[server]\npublic = \"127.0.0.1:0\"\n[workers]\nlookups = \"off\"\n[[source]]\nname = \"in\"\ncontract = \"{name}\"\naccount = \"main\"\n\
             mode = \"test\"\nsecrets = [{}]\n{asked}[source.overlay]\n{overlay}",
            named.join(", ")
        );
        let config = Config::parse(&text, &folder.path().join("paidonce.toml")).unwrap();
        let contract =
            config.sources().unwrap_or_else(|error| panic!("{error}")).get("in").unwrap().contract.clone();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let mut roots = Certificates::none();
        let root = fixtures().join("paypal/DigiCertHighAssuranceEVRootCA.crt.pem");
        roots.trust(&std::fs::read(root).unwrap()).unwrap();
        let certificate = Arc::new(There(certificate, AtomicUsize::new(0)));
        let cache = Arc::new(CertificateCache::new(roots, certificate.clone()));
        let clock = Arc::new(At(vector["now"].as_i64().unwrap_or(1_700_000_000)));
        let store = Arc::new(MemoryStore::new());
        let server = runtime.block_on(Server::start_with(&config, store, clock, None, cache)).unwrap();
        Self { runtime, server, contract, certificate, _folder: folder }
    }

    fn send(&self, source: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        wire::request(self.server.public, "POST", &format!("/in/{source}"), headers, body)
    }

    fn deliver(&self, vector: &Value) -> Answer {
        let mut lines = Vec::new();
        for (name, value) in vector["headers"].as_object().unwrap() {
            let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            lines.extend(values.iter().map(|value| (name.as_str(), value.as_str().unwrap())));
        }
        self.send("in", &lines, vector["body"].as_str().unwrap().as_bytes())
    }

    fn ledger(&self) -> Ledger {
        self.runtime.block_on(self.server.engine().query(|store| store.snapshot())).unwrap()
    }

    fn fetches(&self) -> usize {
        self.certificate.1.load(Relaxed)
    }
}

#[test]
fn each_provider_gets_the_acknowledgement_and_the_refusal_that_it_understands() {
    let mut count = 0;
    for (name, vector) in genuine() {
        let receiver = Receiver::of(&name, &vector);
        let own = receiver.contract.acknowledgement().clone();
        let answer = receiver.deliver(&vector);
        assert_eq!(answer.status, own.status, "{name}: {answer:?}");
        match own.body.as_str() {
            "" if own.status == 204 => {
                assert_eq!((answer.body.as_str(), answer.header("content-length")), ("", None))
            }
            "" => assert!(answer.json()["events"].is_array(), "{name}"),
            body => assert_eq!(answer.body, body, "{name}"),
        }
        assert!(own.accepted.is_empty() || own.accepted.contains(&answer.status), "{name}");
        count += 1;
        // Of the one that signs nothing anything is taken: it only makes the program ask.
        if name == "mollie-classic" {
            continue;
        }
        let events = receiver.ledger().events.rows().len();
        let refused = receiver.send("in", &[], b"{}");
        assert_eq!(refused.status, own.refused_status.unwrap_or(401), "{name}");
        assert_eq!(refused.code(), "not_genuine", "{name}");
        assert!(!own.avoid.contains(&refused.status), "{name}");
        let nobody = receiver.send("nobody", &[], b"{}");
        assert_eq!(
            (nobody.status, nobody.body),
            (refused.status, refused.body),
            "{name}: a source is not guessed"
        );
        assert_eq!(receiver.ledger().events.rows().len(), events, "{name}");
    }
    assert!(count >= 22, "{count} contracts");
}

/// SETTLED 23: the verifier asks, the program fetches, once.
#[test]
fn paypals_certificate_is_fetched_once_and_its_events_only_announce() {
    let vector = vector("paypal", "paypal-01");
    let receiver = Receiver::of("paypal", &vector);
    for _ in 0..3 {
        assert_eq!(receiver.deliver(&vector).status, 200);
    }
    assert_eq!(receiver.fetches(), 1);
    let ledger = receiver.ledger();
    let facts: Vec<_> = ledger.facts.rows().keys().map(|(_, key)| key.clone()).collect();
    assert_eq!(facts, [FactKey::Announced], "CRC-32 protects nothing: the body's own word does not count");
    let forged = self::vector("paypal", "paypal-04");
    assert_eq!(receiver.deliver(&forged).status, 401);
    assert_eq!(receiver.fetches(), 1);
}

/// B13.
#[test]
fn only_an_allowed_certificate_is_fetched_and_one_that_cannot_be_had_is_asked_for_again() {
    let genuine = vector("paypal", "paypal-01");
    let foreign = vector("paypal", "paypal-06");
    for failure in [Err("timed out".to_owned()), Ok(b"<html></html>".to_vec())] {
        let receiver = Receiver::fetching("paypal", &genuine, failure);
        assert_eq!(receiver.deliver(&foreign).status, 401);
        assert_eq!(receiver.fetches(), 0, "nothing is asked of an address that the sender chose");
        let answer = receiver.deliver(&genuine);
        assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")));
        assert_eq!(receiver.fetches(), 1);
        assert!(receiver.ledger().events.rows().is_empty());
    }
    // A certificate that leads to no root that is trusted: fetched, and not believed.
    let selfmade = std::fs::read(fixtures().join("paypal/selfmade_cert.pem")).unwrap();
    let receiver = Receiver::fetching("paypal", &genuine, Ok(selfmade));
    assert_eq!(receiver.deliver(&genuine).status, 401);
}

#[test]
fn braintrees_test_of_the_endpoint_is_answered_and_no_other() {
    let text = std::fs::read_to_string(fixtures().join("braintree/vectors.json")).unwrap();
    let list: Vec<Value> = serde_json::from_str(&text).unwrap();
    let challenges: Vec<&Value> = list.iter().filter(|vector| vector["method"] == "GET").collect();
    assert_eq!(challenges.len(), 2);
    for vector in challenges {
        let receiver = Receiver::of("braintree", vector);
        let (_, query) = vector["url"].as_str().unwrap().split_once('?').unwrap();
        let get = |path: &str| wire::request(receiver.server.public, "GET", path, &[], b"");
        let answer = get(&format!("/in/in?{query}"));
        if vector["expect"] == "valid" {
            assert_eq!(answer.status, 200);
            assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
            assert_eq!(answer.body, vector["expect_response_body"].as_str().unwrap());
        } else {
            assert_eq!((answer.status, answer.code().as_str()), (405, "wrong_method"));
        }
        for other in
            ["/in/in", "/in/in?bt_challenge=", "/in/nobody?bt_challenge=20f9f8ed05f77439fe955c977e4c8a53"]
        {
            assert_eq!((get(other).status, get(other).header("allow")), (405, Some("POST")), "{other}");
        }
    }
    let other = Receiver::of("lemonsqueezy", &vector("lemonsqueezy", "lemonsqueezy-01"));
    let challenge = "/in/in?bt_challenge=20f9f8ed05f77439fe955c977e4c8a53";
    assert_eq!(wire::request(other.server.public, "GET", challenge, &[], b"").status, 405);
}
