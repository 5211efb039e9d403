//! Braintree: `bt_signature` and `bt_payload` in a form, HMAC-SHA1 under the SHA-1 of the private key.
//!
//! The signature covers the text of `bt_payload` and nothing else of the body, so nothing else of the body is read,
//! and the notification's identity is the digest of that text. SHA-1 is the provider's choice; as a MAC it still holds.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use paidonce_ledger::Digest;
use sha1::{Digest as _, Sha1};

use super::{Request, Scheme, lower_hex, texts, xml};
use crate::secret::{Secret, SecretError};
use crate::verify::{Refused, SIGNATURES_MAX};

const EXPECTED: &str = "the private API key";

/// A challenge is hexadecimal of this length. Anything else would be free text under our key.
const CHALLENGE_LENGTHS: std::ops::RangeInclusive<usize> = 20..=32;

pub(super) struct Braintree {
    public_key: String,
    keys: Vec<Hmac<Sha1>>,
}

impl std::fmt::Debug for Braintree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Braintree({} keys, ***)", self.keys.len())
    }
}

impl Braintree {
    pub(super) fn new(public_key: String, secrets: &[Secret]) -> Result<Self, SecretError> {
        let mut keys = Vec::with_capacity(secrets.len());
        for (index, text) in texts(secrets, EXPECTED)?.into_iter().enumerate() {
            let key = zeroize::Zeroizing::new(<[u8; 20]>::from(Sha1::digest(text.as_bytes())));
            let mac = Hmac::new_from_slice(&*key).map_err(|_| SecretError::Malformed {
                position: index + 1,
                problem: "has no usable length",
                expected: EXPECTED.to_owned(),
            })?;
            keys.push(mac);
        }
        Ok(Self { public_key, keys })
    }
}

impl Scheme for Braintree {
    fn verify(&self, request: &Request<'_>) -> Result<usize, Refused> {
        let Fields { signature, payload } = fields(request.body)?;
        let mut ours = Vec::with_capacity(1);
        let mut any = false;
        for pair in signature.split('&') {
            let Some((public_key, mac)) = pair.split_once('|') else { continue };
            any = true;
            if public_key == self.public_key {
                if ours.len() == SIGNATURES_MAX {
                    return Err(Refused::MalformedHeader);
                }
                ours.push(mac);
            }
        }
        if !any {
            return Err(Refused::MalformedSignature);
        }
        if ours.is_empty() {
            return Err(Refused::NoMatchingPublicKey);
        }
        if !payload.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=\n".contains(&byte)) {
            return Err(Refused::IllegalCharacters);
        }
        let macs: Vec<Vec<u8>> = ours.into_iter().filter_map(lower_hex).collect();
        // Some versions of their side sign the payload with one more line break.
        let mut fitting = None;
        for (position, key) in self.keys.iter().enumerate() {
            for end in [&b""[..], b"\n"] {
                let mac = key.clone().chain_update(payload.as_bytes()).chain_update(end);
                if macs.iter().fold(false, |fits, have| fits | mac.clone().verify_slice(have).is_ok()) {
                    fitting = fitting.or(Some(position));
                }
            }
        }
        fitting.ok_or(Refused::SignatureMismatch)
    }

    fn challenge(&self, query: &str) -> Result<String, Refused> {
        let mut found = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "bt_challenge");
        let (_, challenge) = found.next().ok_or(Refused::InvalidChallenge)?;
        let hex = challenge.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        if found.next().is_some() || !hex || !CHALLENGE_LENGTHS.contains(&challenge.len()) {
            return Err(Refused::InvalidChallenge);
        }
        let key = self.keys.first().ok_or(Refused::InvalidChallenge)?;
        let mac = key.clone().chain_update(challenge.as_bytes()).finalize().into_bytes();
        Ok(format!("{}|{}", self.public_key, hex::encode(mac)))
    }
}

/// The two fields of a delivery.
#[derive(Debug)]
struct Fields {
    signature: String,
    payload: String,
}

/// The two fields, each there exactly once. (Others are passed over: nothing signs them, nothing reads them.)
///
/// # Errors
/// One is absent or stands there twice.
fn fields(body: &[u8]) -> Result<Fields, Refused> {
    let (mut signature, mut payload) = (None, None);
    for (name, value) in form_urlencoded::parse(body) {
        let field = match &*name {
            "bt_signature" => &mut signature,
            "bt_payload" => &mut payload,
            _ => continue,
        };
        if field.replace(value.into_owned()).is_some() {
            return Err(Refused::MalformedSignature);
        }
    }
    let signature = signature.filter(|text| !text.is_empty()).ok_or(Refused::MissingSignature)?;
    Ok(Fields { signature, payload: payload.ok_or(Refused::MissingSignature)? })
}

/// `{"payload_sha256": ..., "notification": {...}}`: the id that Braintree does not send, and the XML.
pub(super) fn document(body: &[u8]) -> Result<Vec<u8>, &'static str> {
    let fields = fields(body).map_err(|_| "no form with bt_signature and bt_payload, each once")?;
    let packed: String = fields.payload.split('\n').collect();
    let xml = STANDARD.decode(packed).map_err(|_| "bt_payload is not base64")?;
    let inner = xml::json(&xml)?;
    // What `xml::json` wrote is an object: its first byte is the brace that is replaced.
    let digest = Digest::of_bytes(fields.payload.as_bytes());
    let mut document = format!("{{\"payload_sha256\":\"{digest}\",").into_bytes();
    document.extend_from_slice(&inner[1..]);
    Ok(document)
}
