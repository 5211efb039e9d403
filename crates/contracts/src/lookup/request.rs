//! The request: the contract's address with ids filled in, and the key where the provider wants it.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use paidonce_ledger::{Mode, PaymentId};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{Hidden, Lookup, LookupRefused};
use crate::contract::format::{AuthFormat, ByMode};
use crate::contract::lookup::Asking;
use crate::secret::Secret;

/// Everything but the unreserved characters of RFC 3986: a slash in an id must not begin a segment.
pub(super) const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Which payment is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The payment.
    pub payment: &'a PaymentId,
    /// An object of the provider's that leads to it, where its address needs one.
    pub reference: Option<&'a str>,
    /// The event that made us ask, where its address needs one.
    pub event: Option<&'a str>,
}

/// What to send. Its header lines hold the key, so it never prints them.
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    /// `GET`, or `POST` for a token.
    pub method: &'static str,
    /// The whole address. Follow no redirect from it.
    pub url: String,
    /// Header lines.
    pub headers: Vec<(String, String)>,
    /// The body, empty for `GET`.
    pub body: &'static str,
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { method, url, headers: _, body } = self;
        f.debug_struct("Request")
            .field("method", method)
            .field("url", url)
            .field("headers", &Hidden)
            .field("body", body)
            .finish()
    }
}

impl Lookup<'_> {
    /// The request for a payment. `key` is the API key (for Basic `user:password`), or with [`Self::token_request`]
    /// the token.
    ///
    /// # Errors
    /// An id that the address needs is absent, or the key has not the form that is needed.
    pub fn request(&self, asked: &Asked<'_>, mode: Mode, key: &Secret) -> Result<Request, LookupRefused> {
        let mut url = String::new();
        let mut rest = of(&self.rule.asking.url, mode);
        while let Some((fixed, tail)) = rest.split_once('{') {
            let (name, tail) = tail.split_once('}').ok_or(LookupRefused::NoAddress("a brace is open"))?;
            let id = match name {
                "payment" => Some(asked.payment.as_str()),
                "reference" => asked.reference,
                _ => asked.event,
            };
            let id = id.ok_or(LookupRefused::NoAddress("an id that it needs is not known"))?;
            // Dots are not encoded, and encoded ones mean the same: such an id would climb the path.
            if id.is_empty() || id.bytes().all(|byte| byte == b'.') {
                return Err(LookupRefused::NoAddress("an id is empty or nothing but dots"));
            }
            url.push_str(fixed);
            url.extend(utf8_percent_encode(id, RESERVED));
            rest = tail;
        }
        url.push_str(rest);
        Ok(Request { method: "GET", url, headers: self.rule.asking.headers(key)?, body: "" })
    }

    /// The request for a token, where the provider wants one (OAuth 2 client credentials). `key` is `id:secret`.
    ///
    /// # Errors
    /// The key has not that form.
    pub fn token_request(&self, mode: Mode, key: &Secret) -> Result<Option<Request>, LookupRefused> {
        let AuthFormat::OAuth2(url) = &self.rule.asking.auth else { return Ok(None) };
        let headers = vec![
            ("accept".to_owned(), "application/json".to_owned()),
            ("content-type".to_owned(), "application/x-www-form-urlencoded".to_owned()),
            ("authorization".to_owned(), basic(key)?),
        ];
        let body = "grant_type=client_credentials";
        Ok(Some(Request { method: "POST", url: of(url, mode).to_owned(), headers, body }))
    }
}

impl Asking {
    /// Every header line of a question.
    pub(super) fn headers(&self, key: &Secret) -> Result<Vec<(String, String)>, LookupRefused> {
        let mut headers = vec![("accept".to_owned(), "application/json".to_owned())];
        headers.extend(self.headers.iter().cloned());
        headers.push(self.authorization(key)?);
        Ok(headers)
    }

    fn authorization(&self, key: &Secret) -> Result<(String, String), LookupRefused> {
        let text = key.text();
        if text.is_empty() || text.chars().any(char::is_control) || text.trim() != text {
            return Err(LookupRefused::Key("is empty, or holds white space or control characters"));
        }
        let (name, value) = match &self.auth {
            AuthFormat::Bearer | AuthFormat::OAuth2(_) => ("authorization", format!("Bearer {text}")),
            AuthFormat::Basic => ("authorization", basic(key)?),
            AuthFormat::Header { name, prefix } => (name.as_str(), format!("{prefix}{text}")),
        };
        Ok((name.to_owned(), value))
    }
}

pub(super) fn of(url: &ByMode, mode: Mode) -> &str {
    match mode {
        Mode::Live => &url.live,
        Mode::Test => &url.test,
    }
}

fn basic(key: &Secret) -> Result<String, LookupRefused> {
    let text = key.text();
    if !text.contains(':') {
        return Err(LookupRefused::Key("has to be two parts joined by a colon"));
    }
    Ok(format!("Basic {}", STANDARD.encode(text)))
}
