//! Keys: from a secret's text, strictly in one of the contract's forms, to a prepared MAC or public key.
//!
//! A form is never guessed: text and base64 of the same characters are two keys, and trying both would accept
//! what the provider never issued.

use std::fmt;

use base64::Engine as _;
use base64::alphabet::STANDARD as ALPHABET;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose};
use ed25519_dalek::VerifyingKey;
use hmac::{Hmac, KeyInit, Mac};
use sha1::{Digest as _, Sha1};
use sha2::{Sha256, Sha512};
use zeroize::Zeroizing;

use crate::contract::format::{KeyEncoding, KeyFormat, MacKind, SignatureEncoding};
use crate::contract::signature::Scheme;
use crate::secret::{Secret, SecretError};

/// Keys are issued with and without padding, and (by some generators) with unused bits that are not zero.
/// That is no ambiguity: the key comes from the operator, and every reader drops those bits.
const KEY_BASE64: GeneralPurpose = GeneralPurpose::new(
    &ALPHABET,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The longest signature that is decoded: ed25519 and HMAC-SHA-512 have 64 bytes.
const SIGNATURE_BYTES_MAX: usize = 64;

/// The longest static secret that is compared.
const STATIC_BYTES_MAX: usize = 1_024;

/// One secret, in one of the contract's forms.
pub(crate) struct Key {
    pub(crate) scheme: usize,
    pub(crate) secret_position: usize,
    /// The id that its deliveries name it by, where the contract has such ids.
    pub(crate) id: Option<String>,
    prepared: Prepared,
}

// Hundreds of bytes of prepared state each, but a handful per source and never moved.
#[allow(clippy::large_enum_variant)]
enum Prepared {
    Sha1(Hmac<Sha1>),
    Sha256(Hmac<Sha256>),
    Sha512(Hmac<Sha512>),
    Ed25519(Box<VerifyingKey>),
    Static(Zeroizing<Vec<u8>>),
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key(secret {}, scheme {}, ***)", self.secret_position, self.scheme)
    }
}

/// The keys that one secret gives: one for each scheme whose form it has.
///
/// `with_id`: the secret is written `id=secret`, as its deliveries name it.
pub(crate) fn prepare(
    schemes: &[Scheme],
    secret: &Secret,
    index: usize,
    with_id: bool,
) -> Result<Vec<Key>, SecretError> {
    let position = index + 1;
    let text = secret.text();
    if text.is_empty() {
        return Err(SecretError::Empty { position, expected: expected(schemes) });
    }
    let malformed = |problem| SecretError::Malformed { position, problem, expected: expected(schemes) };
    if text.trim() != text || text.chars().any(char::is_control) {
        return Err(malformed("begins or ends with white space, or holds a line break or control character"));
    }
    let (id, text) = match text.split_once('=') {
        _ if !with_id => (None, text),
        Some((id, secret)) if !id.is_empty() && !secret.is_empty() => (Some(id), secret),
        _ => return Err(malformed("does not name its key; write KEY_ID=SECRET")),
    };
    let mut keys = Vec::new();
    let mut problem = Problem::LacksPrefix;
    for (number, scheme) in schemes.iter().enumerate() {
        match key_bytes(&scheme.key, text).and_then(|bytes| prepared(scheme.mac, &bytes)) {
            Ok(prepared) => {
                let id = id.map(str::to_owned);
                keys.push(Key { scheme: number, secret_position: index, id, prepared });
            }
            Err(why) => problem = problem.max(why),
        }
    }
    if keys.is_empty() { Err(malformed(problem.text())) } else { Ok(keys) }
}

/// Why a secret has not one of the forms. The order is how much the reason says: a secret that lacks one form's
/// prefix and is no base64 for another is told the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Problem {
    LacksPrefix,
    OtherKind,
    NotHex,
    NotBase64,
    OnlyPrefix,
    Length,
    NotEd25519,
    Weak,
}

impl Problem {
    fn text(self) -> &'static str {
        match self {
            Self::LacksPrefix => "lacks its prefix",
            Self::OtherKind => "is a key of another kind, by its prefix",
            Self::NotHex => "is not hexadecimal",
            Self::NotBase64 => "is not base64",
            Self::OnlyPrefix => "is nothing but a prefix",
            Self::Length => "has no usable length",
            Self::NotEd25519 => "is no ed25519 public key (32 bytes)",
            Self::Weak => "is a weak ed25519 key: anybody could sign for it",
        }
    }
}

fn key_bytes(form: &KeyFormat, text: &str) -> Result<Zeroizing<Vec<u8>>, Problem> {
    if form.refuse_prefix.iter().any(|prefix| text.starts_with(prefix.as_str())) {
        return Err(Problem::OtherKind);
    }
    let stripped = form.prefix.as_deref().and_then(|prefix| text.strip_prefix(prefix));
    let body = match stripped {
        Some(rest) => rest,
        None if form.require_prefix => return Err(Problem::LacksPrefix),
        None => text,
    };
    let bytes = match form.encoding {
        KeyEncoding::Utf8 => body.as_bytes().to_vec(),
        KeyEncoding::Sha1 => Sha1::digest(body.as_bytes()).to_vec(),
        KeyEncoding::Hex => hex::decode(body).map_err(|_| Problem::NotHex)?,
        KeyEncoding::Base64 => KEY_BASE64.decode(body).map_err(|_| Problem::NotBase64)?,
    };
    if bytes.is_empty() { Err(Problem::OnlyPrefix) } else { Ok(Zeroizing::new(bytes)) }
}

fn prepared(mac: MacKind, key: &[u8]) -> Result<Prepared, Problem> {
    let length = Problem::Length;
    Ok(match mac {
        MacKind::HmacSha1 => Prepared::Sha1(Hmac::new_from_slice(key).map_err(|_| length)?),
        MacKind::HmacSha256 => Prepared::Sha256(Hmac::new_from_slice(key).map_err(|_| length)?),
        MacKind::HmacSha512 => Prepared::Sha512(Hmac::new_from_slice(key).map_err(|_| length)?),
        MacKind::Static => Prepared::Static(Zeroizing::new(key.to_vec())),
        MacKind::Ed25519 => {
            let bytes = key.try_into().map_err(|_| Problem::NotEd25519)?;
            let key = VerifyingKey::from_bytes(bytes).map_err(|_| Problem::NotEd25519)?;
            if key.is_weak() {
                return Err(Problem::Weak);
            }
            Prepared::Ed25519(Box::new(key))
        }
    })
}

/// The forms in words, for messages about secrets.
pub(super) fn expected(schemes: &[Scheme]) -> String {
    let forms: Vec<String> = schemes.iter().map(form).collect();
    forms.join(", or ")
}

fn form(scheme: &Scheme) -> String {
    let what = match scheme.mac {
        MacKind::Ed25519 => "an ed25519 public key in ",
        _ => "",
    };
    let written = match scheme.key.encoding {
        KeyEncoding::Utf8 | KeyEncoding::Sha1 => "the whole text as the provider shows it",
        KeyEncoding::Hex => "hexadecimal digits",
        KeyEncoding::Base64 => "base64",
    };
    let prefix = match (&scheme.key.prefix, scheme.key.require_prefix) {
        (None, _) => String::new(),
        (Some(prefix), true) => format!(" behind {prefix:?}"),
        (Some(prefix), false) => format!(", with {prefix:?} in front or without"),
    };
    let version =
        if scheme.version.is_empty() { String::new() } else { format!(" (for {})", scheme.version) };
    format!("{what}{written}{prefix}{version}")
}

impl Key {
    /// Whether one of `signatures` is this key's over `parts`. Each is compared in constant time.
    pub(super) fn fits_any<'p, 's>(
        &self,
        parts: impl Iterator<Item = &'p [u8]>,
        signatures: impl Iterator<Item = &'s str>,
        encoding: SignatureEncoding,
    ) -> bool {
        let decoded = signatures.filter_map(|text| decode(encoding, text));
        match &self.prepared {
            Prepared::Sha1(mac) => fits_mac(mac.clone(), parts, decoded),
            Prepared::Sha256(mac) => fits_mac(mac.clone(), parts, decoded),
            Prepared::Sha512(mac) => fits_mac(mac.clone(), parts, decoded),
            Prepared::Static(secret) => decoded.fold(false, |fits, text| fits | same(secret, &text)),
            Prepared::Ed25519(key) => {
                let message = parts.collect::<Vec<_>>().concat();
                let fits = |signature: Vec<u8>| {
                    ed25519_dalek::Signature::from_slice(&signature)
                        .is_ok_and(|signature| key.verify_strict(&message, &signature).is_ok())
                };
                decoded.filter_map(|signature| fits(signature).then_some(())).count() > 0
            }
        }
    }

    /// This key's signature over `parts`. `None` for a public key.
    pub(crate) fn sign<'p>(&self, parts: impl Iterator<Item = &'p [u8]>) -> Option<Vec<u8>> {
        match &self.prepared {
            Prepared::Sha1(mac) => Some(tag(mac.clone(), parts)),
            Prepared::Sha256(mac) => Some(tag(mac.clone(), parts)),
            Prepared::Sha512(mac) => Some(tag(mac.clone(), parts)),
            Prepared::Static(secret) => Some(secret.to_vec()),
            Prepared::Ed25519(_) => None,
        }
    }
}

fn fits_mac<'p, M: Mac + Clone>(
    mut mac: M,
    parts: impl Iterator<Item = &'p [u8]>,
    signatures: impl Iterator<Item = Vec<u8>>,
) -> bool {
    parts.for_each(|part| mac.update(part));
    // No early exit: how many signatures precede the right one is nobody's business.
    signatures.fold(false, |fits, signature| fits | mac.clone().verify_slice(&signature).is_ok())
}

/// Whether two texts are the same, in a time that tells only their length: the MACs of both are compared.
fn same(secret: &[u8], given: &[u8]) -> bool {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { return false };
    let mut other = mac.clone();
    mac.update(secret);
    other.update(given);
    other.verify(&mac.finalize().into_bytes()).is_ok()
}

fn tag<'p, M: Mac>(mut mac: M, parts: impl Iterator<Item = &'p [u8]>) -> Vec<u8> {
    parts.for_each(|part| mac.update(part));
    mac.finalize().into_bytes().to_vec()
}

/// Decodes a signature, written in the one way of its encoding: one that reads the same otherwise is not what was sent.
fn decode(encoding: SignatureEncoding, text: &str) -> Option<Vec<u8>> {
    // Every four characters of base64 carry three bytes, the least dense of the two carry one in two.
    if encoding == SignatureEncoding::Text {
        return (text.len() <= STATIC_BYTES_MAX).then(|| text.as_bytes().to_vec());
    }
    if text.len() > SIGNATURE_BYTES_MAX * 2 {
        return None;
    }
    match encoding {
        SignatureEncoding::Text => None,
        SignatureEncoding::Hex => lower_hex(text),
        SignatureEncoding::HexAnyCase => hex::decode(text).ok(),
        SignatureEncoding::Base64 => general_purpose::STANDARD.decode(text).ok(),
    }
}

/// Hexadecimal in lower case and in no other way.
pub(crate) fn lower_hex(text: &str) -> Option<Vec<u8>> {
    let lower = text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    if lower { hex::decode(text).ok() } else { None }
}

/// Writes a signature as the contract's providers do.
pub(crate) fn encode(encoding: SignatureEncoding, signature: &[u8]) -> String {
    match encoding {
        SignatureEncoding::Text => String::from_utf8_lossy(signature).into_owned(),
        SignatureEncoding::Hex | SignatureEncoding::HexAnyCase => hex::encode(signature),
        SignatureEncoding::Base64 => general_purpose::STANDARD.encode(signature),
    }
}
