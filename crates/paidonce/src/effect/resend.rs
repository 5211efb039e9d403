//! E-mail by Resend's HTTP API, which knows an `Idempotency-Key` again for 24 hours (P11).
//!
//! What its answers mean is in one function, by its own list of errors (resend.com/docs/api-reference/errors): a fault of
//! the account or its key can be mended and is tried again; a fault of the mail is for ever; what the API failed at
//! itself may have been done.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Method, Request};
use paidonce_contracts::Secret;
use paidonce_engine::{Answer, Answering, Destination, News, Sending};
use serde::{Deserialize, Serialize};

use super::answer::{Mask, done, not_configured, refused, retry, retry_at, shown, uncertain};
use super::http::now;
use super::http::outcome::not_before;
use super::letter::{Head, LetterSettings};
use super::outbound::{Connector, Failed, Reading, Said, Target, call};
use super::parcel::Parcel;

/// For how long Resend knows a key again.
pub const KEY_WINDOW: Duration = Duration::from_secs(86_400);

/// Where the API is.
pub const API: &str = "https://api.resend.com";

/// What `kind = "resend"` needs.
pub struct ResendSettings {
    /// The API's key; `None` while that is not configured.
    pub api_key: Option<Secret>,
    /// What mails say and who gets them.
    pub letter: LetterSettings,
    /// Where mails are handed in: [`API`] and `/emails`, but for tests.
    pub target: Target,
    /// Opens the connections.
    pub connector: Arc<Connector>,
}

/// Mails by Resend.
pub struct Resend {
    settings: ResendSettings,
}

/// A mail in the API's words.
#[derive(Serialize)]
struct Email {
    from: String,
    to: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply_to: Option<String>,
    subject: String,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    html: Option<String>,
    headers: BTreeMap<&'static str, String>,
}

/// An answer: a mail's id, or an error's name and message.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Reply {
    id: String,
    name: String,
    message: String,
}

impl Resend {
    /// Keeps the settings; nothing is asked.
    ///
    /// # Errors
    /// An API key that no request can carry.
    pub fn new(settings: ResendSettings) -> Result<Self, String> {
        if let Some(api_key) = &settings.api_key {
            request(&settings.target, api_key, "po_0", Vec::new())?;
        }
        Ok(Self { settings })
    }

    async fn deliver(&self, sending: Sending) -> Answer {
        let Some(api_key) = &self.settings.api_key else {
            return shown(not_configured("no Resend API key is configured"), []);
        };
        let parcel = match Parcel::<Head>::unpack(sending.body.bytes()) {
            Ok(parcel) => parcel,
            Err(why) => return shown(refused(why), []),
        };
        let target = &self.settings.target;
        let answer = match request(target, api_key, &sending.key, parcel.content) {
            Ok(request) => {
                match call(&self.settings.connector, target, request, Reading::of_a_head(sending.deadline))
                    .await
                {
                    Ok(said) => meaning(&said),
                    Err(Failed::Unsent(why) | Failed::Blocked(why)) => retry(why),
                    Err(Failed::Lost(why)) => uncertain(why),
                }
            }
            Err(why) => retry(why),
        };
        let recipients = parcel.head.to.iter().map(|to| Mask::Recipient(to));
        shown(answer, recipients.chain([Mask::Secret(api_key)]))
    }
}

impl Destination for Resend {
    fn objection(&self, news: &News) -> Option<String> {
        self.settings.letter.objection(news)
    }

    fn render(&self, news: &News) -> Result<Vec<u8>, String> {
        let settings = &self.settings.letter;
        settings.pack(news, |letter| {
            let email = Email {
                from: settings.from.to_string(),
                to: vec![letter.to.to_string()],
                reply_to: settings.reply_to.as_ref().map(ToString::to_string),
                subject: letter.subject,
                text: letter.text,
                html: letter.html,
                headers: BTreeMap::from([
                    ("Paidonce-Key", news.key.clone()),
                    ("Paidonce-Revision", news.revision.to_string()),
                ]),
            };
            serde_json::to_vec(&email).map_err(|error| format!("the mail cannot be made: {error}"))
        })
    }

    fn send(&self, sending: Sending) -> Answering<'_> {
        Box::pin(self.deliver(sending))
    }
}

fn request(
    target: &Target,
    api_key: &Secret,
    key: &str,
    body: Vec<u8>,
) -> Result<Request<Full<Bytes>>, &'static str> {
    let request = Request::builder()
        .method(Method::POST)
        .uri(target.path())
        .header("host", target.authority())
        .header("user-agent", concat!("paidonce/", env!("CARGO_PKG_VERSION")))
        .header("authorization", format!("Bearer {}", api_key.expose()))
        .header("content-type", "application/json")
        .header("idempotency-key", key)
        .body(Full::new(body.into()));
    request.map_err(|_| "the API key is no header's value: is there a line break in it?")
}

/// What an answer means for the mail.
fn meaning(said: &Said) -> Answer {
    let reply: Reply = serde_json::from_slice(&said.body).unwrap_or_default();
    let words = [said.status.to_string(), reply.name.clone(), reply.message];
    let detail = words.iter().filter(|word| !word.is_empty()).cloned().collect::<Vec<_>>().join(": ");
    match (said.status, reply.name.as_str()) {
        (200..=299, _) => done(format!("{} mail {}", said.status, reply.id)),
        // The first try of this key is still under way, and may end well.
        (409, "concurrent_idempotent_requests") => uncertain(detail),
        (409, "invalid_idempotent_request") => {
            refused(format!("this key was used for another mail within 24 hours: {detail}"))
        }
        // Quota and rate. Nothing was done.
        (429, _) => retry_at(said.retry_after.as_deref().and_then(|text| not_before(text, now())), detail),
        // The key is missing, wrong or may not do this, or the domain is not verified; and redirects are not followed.
        (401 | 403 | 300..=399, _) => retry(detail),
        (408 | 409 | 500..=599, _) => uncertain(detail),
        _ => refused(detail),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_resends_answers_has_its_outcome() {
        for (status, name, outcome) in [
            (200, "", "done"),
            (201, "", "done"),
            (301, "", "retry"),
            (400, "invalid_idempotency_key", "refused"),
            (400, "validation_error", "refused"),
            (401, "missing_api_key", "retry"),
            (401, "restricted_api_key", "retry"),
            (403, "invalid_api_key", "retry"),
            (403, "validation_error", "retry"),
            (404, "not_found", "refused"),
            (405, "method_not_allowed", "refused"),
            (408, "", "uncertain"),
            (409, "invalid_idempotent_request", "refused"),
            (409, "concurrent_idempotent_requests", "uncertain"),
            (409, "", "uncertain"),
            (422, "missing_required_field", "refused"),
            (422, "invalid_from_address", "refused"),
            (429, "daily_quota_exceeded", "retry"),
            (429, "rate_limit_exceeded", "retry"),
            (451, "security_error", "refused"),
            (500, "application_error", "uncertain"),
            (502, "", "uncertain"),
            (503, "", "uncertain"),
        ] {
            let body =
                format!(r#"{{"statusCode":{status},"name":"{name}","message":"because"}}"#).into_bytes();
            let answer = meaning(&Said { status, retry_after: None, body, whole: true });
            assert_eq!(answer.outcome.as_str(), outcome, "{status} {name}");
            assert!(answer.detail.contains(name), "{}", answer.detail);
        }
        let html = meaning(&Said { status: 502, retry_after: None, body: b"<html>".to_vec(), whole: true });
        assert_eq!(html.outcome.as_str(), "uncertain");
    }
}
