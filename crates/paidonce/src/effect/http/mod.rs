//! HTTP calls: signed by Standard Webhooks, with an idempotency key and the order's revision, to a checked address.

pub(crate) mod outcome;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Method, Request, StatusCode};
use paidonce_contracts::{Contract, Secret, SecretError};
use paidonce_engine::{Answer, Answering, Destination, News, Sending};
use paidonce_ledger::{Happening, Outcome};

use super::answer::{Mask, refused, retry, shown, uncertain};
use super::outbound::{Connector, Failed, Reading, Said, Target, call};
use super::telling::Telling;
use super::template::Template;
use crate::clock::SystemClock;

/// The order's revision that a message was rendered for: a receiver refuses what is older than what it has.
pub const REVISION: &str = "paidonce-revision";

/// Replaced by the message's key in `status_url`.
pub const KEY_MARK: &str = "{key}";

/// What `kind = "http"` needs.
pub struct HttpSettings {
    /// Where messages go.
    pub target: Target,
    /// The URL that is asked what became of a message, with [`KEY_MARK`] in it.
    pub status_url: Option<String>,
    /// Whether that one may be private, as the target may.
    pub allow_private: bool,
    /// Signs everything: `whsec_` and base64.
    pub secret: Secret,
    /// A whole `Authorization` header, if the receiver wants one.
    pub authorization: Option<Secret>,
    /// The body's template; the default JSON without one.
    pub template: Option<Template>,
    /// The body's type.
    pub content_type: String,
    /// No call takes longer.
    pub timeout: Duration,
    /// Opens the connections.
    pub connector: Arc<Connector>,
}

/// A receiver of signed calls.
pub struct Http {
    settings: HttpSettings,
    contract: Contract,
    gone: AtomicBool,
}

impl Http {
    /// Tries the secret, the status address, and the template with all that it will be used for.
    ///
    /// # Errors
    /// What is wrong with one of them.
    pub fn new(settings: HttpSettings, on: &[Option<Happening>]) -> Result<Self, String> {
        let contract = Contract::builtin("standard-webhooks", None).map_err(|error| error.to_string())?;
        let http = Self { settings, contract, gone: AtomicBool::new(false) };
        http.sign("po_0", b"").map_err(|error| format!("secret: {error}"))?;
        HeaderValue::from_str(&http.settings.content_type)
            .map_err(|_| "content_type is no header's value")?;
        if let Some(secret) = &http.settings.authorization {
            HeaderValue::from_str(secret.expose()).map_err(|_| "authorization is no header's value")?;
        }
        if let Some(url) = &http.settings.status_url {
            if !url.contains(KEY_MARK) {
                return Err(format!("status_url has no {KEY_MARK} in it"));
            }
            http.status("po_0").map_err(|error| format!("status_url: {error}"))?;
        }
        if let Some(template) = &http.settings.template {
            template.try_for(on.iter().copied())?;
        }
        Ok(http)
    }

    fn sign(&self, key: &str, body: &[u8]) -> Result<Vec<(String, String)>, SecretError> {
        self.contract.sign(&self.settings.secret, key, body, SystemClock::now_unix_s())
    }

    fn status(&self, key: &str) -> Result<Option<Target>, String> {
        let url = self.settings.status_url.as_ref().map(|url| url.replace(KEY_MARK, key));
        url.map(|url| Target::parse(&url, self.settings.allow_private)).transpose()
    }

    fn request(
        &self,
        method: Method,
        target: &Target,
        sending: &Sending,
        body: &[u8],
    ) -> Result<Request<Full<Bytes>>, String> {
        let signed = self.sign(&sending.key, body).map_err(|error| error.to_string())?;
        let fixed = [
            ("host", target.authority()),
            ("user-agent", concat!("paidonce/", env!("CARGO_PKG_VERSION"))),
            ("idempotency-key", &sending.key),
        ];
        let signed = signed.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let revision = sending.revision.to_string();
        let mut all: Vec<_> =
            fixed.into_iter().chain(signed).chain([(REVISION, revision.as_str())]).collect();
        if !body.is_empty() {
            all.push(("content-type", &self.settings.content_type));
        }
        if let Some(trace) = sending.trace.as_deref().filter(|trace| HeaderValue::from_str(trace).is_ok()) {
            all.push(("traceparent", trace));
        }
        if let Some(secret) = &self.settings.authorization {
            all.push(("authorization", secret.expose()));
        }
        let mut request = Request::builder().method(method).uri(target.path());
        for (name, value) in all {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| error.to_string())?;
            let value = HeaderValue::from_str(value).map_err(|_| format!("{name} is no header's value"))?;
            request = request.header(name, value);
        }
        request.body(Full::new(Bytes::copy_from_slice(body))).map_err(|error| error.to_string())
    }

    fn deadline(&self, sending: &Sending) -> Instant {
        sending.deadline.min(Instant::now() + self.settings.timeout)
    }

    fn shown(&self, answer: Answer) -> Answer {
        let secrets = [Some(&self.settings.secret), self.settings.authorization.as_ref()];
        shown(answer, secrets.into_iter().flatten().map(Mask::Secret))
    }

    async fn deliver(&self, sending: Sending) -> Answer {
        let (target, deadline) = (&self.settings.target, self.deadline(&sending));
        let request = match self.request(Method::POST, target, &sending, sending.body.bytes()) {
            Ok(request) => request,
            Err(why) => return refused(why),
        };
        match call(&self.settings.connector, target, request, Reading::of_a_head(deadline)).await {
            Ok(said) => {
                if said.status == 410 {
                    self.gone.store(true, SeqCst);
                }
                let outcome = outcome::outcome(said.status, said.retry_after.as_deref(), now());
                Answer { outcome, detail: words(&said) }
            }
            Err(Failed::Unsent(why)) => retry(why),
            Err(Failed::Blocked(why)) => refused(why),
            Err(Failed::Lost(why)) => uncertain(why),
        }
    }

    async fn enquire(&self, target: Target, sending: Sending) -> Answer {
        let deadline = self.deadline(&sending);
        let request = match self.request(Method::GET, &target, &sending, b"") {
            Ok(request) => request,
            Err(why) => return uncertain(why),
        };
        match call(&self.settings.connector, &target, request, Reading::of_a_head(deadline)).await {
            Ok(said) => {
                let detail = format!("asked what became of it: {}", words(&said));
                Answer { outcome: outcome::whereabouts(said.status), detail }
            }
            Err(Failed::Unsent(why) | Failed::Blocked(why) | Failed::Lost(why)) => {
                uncertain(format!("asked what became of it: {why}"))
            }
        }
    }
}

pub(super) fn now() -> paidonce_ledger::Timestamp {
    paidonce_engine::Clock::now(&SystemClock)
}

/// More of a body is never shown.
const SHOWN_BYTES: usize = 2 * 1024;

/// The status, and as much of the body's beginning as is text.
fn words(said: &Said) -> String {
    let reason = StatusCode::from_u16(said.status).ok().and_then(|status| status.canonical_reason());
    let reason = reason.map_or(String::new(), |reason| format!(" {reason}"));
    let head = said.body.get(..SHOWN_BYTES).unwrap_or(&said.body);
    let text = head.utf8_chunks().next().map_or("", |chunk| chunk.valid()).trim();
    let body = if text.is_empty() { String::new() } else { format!(": {text}") };
    let redirect = if (300..400).contains(&said.status) { ", and redirects are not followed" } else { "" };
    format!("{}{reason}{redirect}{body}", said.status)
}

impl Destination for Http {
    fn render(&self, news: &News) -> Result<Vec<u8>, String> {
        let telling = Telling::of(news);
        match &self.settings.template {
            Some(template) => template.render(&telling).map(String::into_bytes),
            None => telling.to_json(),
        }
    }

    fn send(&self, sending: Sending) -> Answering<'_> {
        Box::pin(async move { self.shown(self.deliver(sending).await) })
    }

    fn is_gone(&self) -> bool {
        self.gone.load(SeqCst)
    }

    fn ask(&self, sending: Sending) -> Option<Answering<'_>> {
        let target = match self.status(&sending.key) {
            Ok(target) => target?,
            Err(why) => {
                return Some(Box::pin(async move { Answer { outcome: Outcome::Uncertain, detail: why } }));
            }
        };
        Some(Box::pin(async move { self.shown(self.enquire(target, sending).await) }))
    }
}
