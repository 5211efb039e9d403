//! A contract's signature, checked: everything that the verifier has to do, with nothing left to decide.
//!
//! It holds no secret. What cannot prove anything is refused here: a body or an identity that the signature does
//! not cover, an age limit on a timestamp that anyone can change.

use std::collections::BTreeMap;

use super::format::{
    Grammar as GrammarWord, HeaderListFormat, KeyEncoding, KeyFormat, MacKind, SignatureEncoding,
    SignatureFormat, TimeUnit, TimestampFormat,
};
use super::mistake::{Mistake, Place};
use super::place::place;
use super::plan::pointer;
use crate::code::Code;
use crate::pointer::Pointer;

/// The age that is accepted when a contract with a signed timestamp does not say: five minutes.
const MAX_AGE_DEFAULT_S: i64 = 300;

/// The longest age or future that makes sense as a limit: ten years.
const AGE_LIMIT_MAX_S: i64 = 315_360_000;

/// How a source's deliveries are signed.
#[derive(Debug)]
pub(crate) struct Signature {
    pub(crate) place: SignaturePlace,
    /// Per family of aliases, the names of the headers, lower case, in the order that [`Part::Header`] and
    /// the others count in. Number 0 is the signature itself.
    pub(crate) families: Vec<Vec<String>>,
    pub(crate) grammar: Grammar,
    pub(crate) repeatable: bool,
    pub(crate) timestamp: Option<Timestamped>,
    pub(crate) signed: Vec<Part>,
    pub(crate) age: Option<Age>,
    pub(crate) schemes: Vec<Scheme>,
    pub(crate) require_body: bool,
    pub(crate) header_list: Option<HeaderListFormat>,
    pub(crate) key_id: Option<KeyIdPlace>,
    pub(crate) uncovered: Vec<String>,
}

/// Where the signature stands.
#[derive(Debug)]
pub(crate) enum SignaturePlace {
    Header,
    /// In the body, or in each item of a batch.
    Member(Pointer),
    /// A module of Rust knows.
    Code {
        code: Code,
        values: BTreeMap<String, String>,
        hosts: Vec<String>,
    },
    /// There is none.
    Nowhere,
}

/// Where the id of the key stands that signed.
#[derive(Debug)]
pub(crate) enum KeyIdPlace {
    Header(usize),
    /// First in each entry of the list.
    Entry,
}

/// How the signature's text is written.
#[derive(Debug)]
pub(crate) enum Grammar {
    /// One signature, perhaps behind a prefix.
    Plain { prefix: String, required: bool },
    /// Items with keys: the keys are versions, or the timestamp's.
    List { item: String, key: String },
    /// Items of a key's id, a version and a signature.
    Triples { item: String, key: String },
}

/// Where the timestamp stands.
#[derive(Debug)]
pub(crate) enum TimestampPlace {
    Key(String),
    Header(usize),
}

/// The unit beside it.
pub(crate) type Timestamped = (TimestampPlace, TimeUnit);

/// A piece of what is signed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Body,
    Timestamp,
    Header(usize),
    Literal(String),
    /// A member of the body or of the item, as text; nothing if it is absent.
    Member(Pointer),
    /// The names of the headers that are signed, as the signature's header gives them.
    HeaderNames,
    /// Their values.
    HeaderValues,
}

/// How old, and how far ahead, a signed timestamp may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Age {
    pub(crate) max_age_s: i64,
    /// `None`: the future is not limited, as in the provider's own libraries.
    pub(crate) max_future_s: Option<i64>,
}

/// One kind of signature that counts.
#[derive(Debug)]
pub(crate) struct Scheme {
    /// Its key in a list; empty for a plain signature.
    pub(crate) version: String,
    pub(crate) mac: MacKind,
    pub(crate) key: KeyFormat,
    pub(crate) encoding: SignatureEncoding,
}

impl Signature {
    /// The number of a header that has to be there, signed or not.
    pub(crate) fn header(&self, name: &str) -> Option<usize> {
        self.families.first()?.iter().position(|have| have.eq_ignore_ascii_case(name))
    }

    /// Whether the header of that number is among what is signed.
    pub(crate) fn signs_header(&self, number: usize) -> bool {
        self.signed.contains(&Part::Header(number))
    }

    /// The number of a signed header, and the separator that follows it in what is signed.
    pub(crate) fn signed_header(&self, name: &str) -> Option<(usize, Option<&str>)> {
        let index = self.header(name)?;
        let at = self.signed.iter().position(|part| *part == Part::Header(index))?;
        let separator = match self.signed.get(at + 1) {
            Some(Part::Literal(text)) => Some(text.as_str()),
            _ => None,
        };
        Some((index, separator))
    }
}

/// What `[signature]` still lacks, as members and what they may be.
pub(crate) fn missing(format: &SignatureFormat) -> Vec<&'static str> {
    let mut missing = Vec::new();
    if format.unsigned || format.code.is_some() {
        return missing;
    }
    let list = format.grammar != GrammarWord::Plain;
    let mut need = |there: bool, what| {
        if !there {
            missing.push(what);
        }
    };
    need(
        format.header.is_some() || format.member.is_some(),
        "signature.header (the name of the header that carries the signature)",
    );
    need(
        format.signed.is_some(),
        "signature.signed (for example [\"{body}\"] or [\"{timestamp}\", \".\", \"{body}\"])",
    );
    if list {
        need(format.item_separator.is_some(), "signature.item_separator (for example \",\")");
        need(format.key_separator.is_some(), "signature.key_separator (for example \"=\")");
        need(!format.versions.is_empty(), "signature.versions (for example [signature.versions.v1])");
    } else {
        need(format.mac.is_some(), "signature.mac (hmac-sha256, hmac-sha512, hmac-sha1 or ed25519)");
        need(
            format.key.is_some(),
            "signature.key (utf8, base64 or hex: how the secret's text becomes key bytes)",
        );
        need(format.encoding.is_some(), "signature.encoding (hex or base64: how the signature is written)");
    }
    missing
}

/// Checks `[signature]`, of which nothing is missing.
pub(crate) fn compile(format: &SignatureFormat) -> Result<Signature, Mistake> {
    let at = Place::of("signature");
    let place = place(format, &at)?;
    if !format.certificate_hosts.0.is_empty() && format.code.is_none() {
        return Err(at.key("certificate_hosts").mistake("only a contract with `code` takes this"));
    }
    let grammar = grammar(format, &at)?;
    let mut names = match place {
        SignaturePlace::Header => {
            vec![header(format.header.as_deref().unwrap_or_default(), &at.key("header"))?]
        }
        _ => Vec::new(),
    };
    let timestamp = match &format.timestamp {
        None => None,
        Some(place) => Some(timestamp(place, &grammar, &mut names, &at.key("timestamp"))?),
    };
    let signed = match place {
        SignaturePlace::Header | SignaturePlace::Member(_) => signed(format, &place, &mut names, &at)?,
        SignaturePlace::Code { .. } | SignaturePlace::Nowhere => Vec::new(),
    };
    let age = age(format, timestamp.is_some(), &at)?;
    if format.repeatable && matches!(grammar, Grammar::List { .. }) {
        return Err(at
            .key("repeatable")
            .mistake("only plain signatures can be repeated; a list holds several"));
    }
    let key_id = match &format.key_id {
        None if format.grammar == GrammarWord::Triples => Some(KeyIdPlace::Entry),
        None => None,
        Some(key) => {
            let at = at.key("key_id");
            let name = key.header.as_deref().ok_or_else(|| at.mistake("write { header = \"...\" }"))?;
            Some(KeyIdPlace::Header(number(header(name, &at.key("header"))?, &mut names)))
        }
    };
    for (n, name) in format.require_headers.iter().enumerate() {
        number(header(name, &at.key("require_headers").index(n))?, &mut names);
    }
    if !matches!(place, SignaturePlace::Header) && !names.is_empty() {
        return Err(at.mistake("other headers belong to a signature that stands in a header"));
    }
    let families = families(format, names, &at)?;
    let schemes = match place {
        SignaturePlace::Header | SignaturePlace::Member(_) => schemes(format, &at)?,
        SignaturePlace::Code { .. } | SignaturePlace::Nowhere => Vec::new(),
    };
    Ok(Signature {
        place,
        families,
        grammar,
        repeatable: format.repeatable,
        timestamp,
        signed,
        age,
        schemes,
        require_body: format.require_body,
        header_list: format.header_list.clone(),
        key_id,
        uncovered: format.uncovered.0.clone(),
    })
}

fn grammar(format: &SignatureFormat, at: &Place) -> Result<Grammar, Mistake> {
    let list_only = [("item_separator", &format.item_separator), ("key_separator", &format.key_separator)];
    let plain_only = [("prefix", &format.prefix), ("optional_prefix", &format.optional_prefix)];
    match format.grammar {
        GrammarWord::Plain => {
            if let Some((name, _)) = list_only.iter().find(|(_, value)| value.is_some()) {
                return Err(at
                    .key(name)
                    .mistake("only a list has separators; write grammar = \"list\" or remove it"));
            }
            match (&format.prefix, &format.optional_prefix) {
                (Some(_), Some(_)) => {
                    Err(at.key("optional_prefix").mistake("write prefix or optional_prefix"))
                }
                (Some(prefix), None) => Ok(Grammar::Plain { prefix: prefix.clone(), required: true }),
                (None, prefix) => {
                    Ok(Grammar::Plain { prefix: prefix.clone().unwrap_or_default(), required: false })
                }
            }
        }
        GrammarWord::List | GrammarWord::Triples => {
            if let Some((name, _)) = plain_only.iter().find(|(_, value)| value.is_some()) {
                return Err(at.key(name).mistake("only a plain signature has a prefix; a list has versions"));
            }
            for (name, value) in list_only {
                if value.as_ref().is_some_and(String::is_empty) {
                    return Err(at.key(name).mistake("a separator has at least one character"));
                }
            }
            let text = |value: &Option<String>| value.clone().unwrap_or_default();
            let (item, key) = (text(&format.item_separator), text(&format.key_separator));
            Ok(match format.grammar {
                GrammarWord::Triples => Grammar::Triples { item, key },
                _ => Grammar::List { item, key },
            })
        }
    }
}

fn header(name: &str, at: &Place) -> Result<String, Mistake> {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(token) {
        return Err(at.mistake("a header's name, such as X-Signature"));
    }
    Ok(name.to_ascii_lowercase())
}

/// The number of the header of that name, which becomes one of the required ones.
fn number(name: String, names: &mut Vec<String>) -> usize {
    names.iter().position(|have| *have == name).unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    })
}

fn timestamp(
    place: &TimestampFormat,
    grammar: &Grammar,
    names: &mut Vec<String>,
    at: &Place,
) -> Result<Timestamped, Mistake> {
    let stands = match (&place.key, &place.header, grammar) {
        (Some(key), None, Grammar::List { .. }) => Ok(TimestampPlace::Key(key.clone())),
        (Some(_), None, _) => {
            Err(at.mistake("a plain signature has no keys; write { header = \"...\" } or grammar = \"list\""))
        }
        (None, Some(name), _) => Ok(TimestampPlace::Header(number(header(name, &at.key("header"))?, names))),
        _ => Err(at.mistake("write either { key = \"t\" } or { header = \"...\" }")),
    };
    Ok((stands?, place.unit))
}

fn signed(
    format: &SignatureFormat,
    place: &SignaturePlace,
    names: &mut Vec<String>,
    at: &Place,
) -> Result<Vec<Part>, Mistake> {
    let (parts, timed) = (format.signed.as_deref().unwrap_or_default(), format.timestamp.is_some());
    let in_body = matches!(place, SignaturePlace::Member(_));
    let at = at.key("signed");
    let mut signed = Vec::with_capacity(parts.len());
    for (n, text) in parts.iter().enumerate() {
        let at = at.index(n);
        signed.push(match text.as_str() {
            "{body}" => Part::Body,
            "{timestamp}" if timed => Part::Timestamp,
            "{timestamp}" => {
                return Err(at.mistake("signature.timestamp has to say where the timestamp stands"));
            }
            "{header_names}" if format.header_list.is_some() => Part::HeaderNames,
            "{header_values}" if format.header_list.is_some() => Part::HeaderValues,
            _ => named(text, format, names, &at)?,
        });
    }
    if in_body {
        if signed.iter().any(|part| !matches!(part, Part::Member(_) | Part::Literal(_))) {
            return Err(at.mistake("a signature in the body covers members ({member:path}) and fixed text"));
        }
        return Ok(signed);
    }
    if let Some(list) = &format.header_list
        && (list.key.is_empty() || list.separator.is_empty())
    {
        return Err(at.mistake("header_list = { key = \"h\", separator = \" \", join = \".\" }"));
    }
    if format.header_list.is_some()
        && !(signed.contains(&Part::HeaderNames) && signed.contains(&Part::HeaderValues))
    {
        return Err(at.mistake("header_list signs nothing without {header_names} and {header_values}"));
    }
    if signed.iter().any(|part| matches!(part, Part::Member(_))) {
        return Err(at.mistake("members are signed only where the signature is one: signature.member"));
    }
    if signed.iter().filter(|part| **part == Part::Body).count() != 1 {
        return Err(at.mistake("{body} has to be signed, once: what is not covered proves nothing"));
    }
    if timed && !signed.contains(&Part::Timestamp) {
        return Err(at.mistake("the timestamp is not signed, so its age would prove nothing: add {timestamp}, or remove signature.timestamp"));
    }
    if signed.contains(&Part::Header(0)) {
        return Err(at.mistake("the signature's own header cannot be signed"));
    }
    Ok(signed)
}

/// `{header:name}`, `{member:path}`, `{value:name}` or fixed text.
fn named(text: &str, format: &SignatureFormat, names: &mut Vec<String>, at: &Place) -> Result<Part, Mistake> {
    let braced = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    match braced.and_then(|inner| inner.split_once(':')) {
        Some(("header", name)) => Ok(Part::Header(number(header(name, at)?, names))),
        Some(("member", path)) => Ok(Part::Member(pointer(path, at)?)),
        Some(("value", name)) => match format.values.get(name) {
            Some(value) if !value.is_empty() => Ok(Part::Literal(value.clone())),
            _ => Err(at.mistake(format!(
                "the source has to state what is signed here: signature.values = {{ {name} = \"...\" }}"
            ))),
        },
        _ if text.is_empty() || text.contains(['{', '}']) => Err(at.mistake(
            "a part is {body}, {timestamp}, {header:name}, {member:path}, {value:name}, \
             or fixed text without braces",
        )),
        _ => Ok(Part::Literal(text.to_owned())),
    }
}

fn age(format: &SignatureFormat, timed: bool, at: &Place) -> Result<Option<Age>, Mistake> {
    let limits = [("max_age_s", format.max_age_s), ("max_future_s", format.max_future_s)];
    for (name, limit) in limits {
        let Some(limit) = limit else { continue };
        if !timed {
            return Err(at
                .key(name)
                .mistake("only a signed timestamp has an age; state signature.timestamp, or remove it"));
        }
        if !(1..=AGE_LIMIT_MAX_S).contains(&limit) {
            return Err(at.key(name).mistake(format!(
                "seconds, from 1 to {AGE_LIMIT_MAX_S}; 0 does not switch the limit off, nothing does"
            )));
        }
    }
    let max_age_s = format.max_age_s.unwrap_or(MAX_AGE_DEFAULT_S);
    Ok(timed.then_some(Age { max_age_s, max_future_s: format.max_future_s }))
}

/// The header names as they stand, then once for each alias of a prefix. Families are never mixed in a request.
fn families(format: &SignatureFormat, names: Vec<String>, at: &Place) -> Result<Vec<Vec<String>>, Mistake> {
    let mut families = vec![names];
    for (prefix, aliases) in &format.aliases {
        let at = at.key("aliases").key(prefix);
        let prefix = header(prefix, &at)?;
        if !families[0].first().is_some_and(|name| name.starts_with(&prefix)) {
            return Err(at.mistake("signature.header does not begin with this prefix"));
        }
        for alias in &aliases.0 {
            let alias = header(alias, &at)?;
            let renamed = families[0].iter().map(|name| match name.strip_prefix(&prefix) {
                Some(rest) => format!("{alias}{rest}"),
                None => name.clone(),
            });
            let renamed = renamed.collect();
            families.push(renamed);
        }
    }
    Ok(families)
}

fn schemes(format: &SignatureFormat, at: &Place) -> Result<Vec<Scheme>, Mistake> {
    let list = format.grammar != GrammarWord::Plain;
    if !list {
        if !format.versions.is_empty() {
            return Err(at.key("versions").mistake("only a list has versions; write grammar = \"list\""));
        }
        return Ok(vec![scheme(String::new(), format.mac, format.key.as_ref(), format.encoding, at)?]);
    }
    for (name, stated) in [
        ("mac", format.mac.is_some()),
        ("key", format.key.is_some()),
        ("encoding", format.encoding.is_some()),
    ] {
        if stated {
            return Err(at.key(name).mistake("in a list this belongs to a version: [signature.versions.v1]"));
        }
    }
    let mut schemes = Vec::new();
    for (version, one) in &format.versions {
        let at = at.key("versions").key(version);
        if matches!(&format.timestamp, Some(TimestampFormat { key: Some(key), .. }) if key == version) {
            return Err(at.mistake("this key is the timestamp's"));
        }
        schemes.push(scheme(version.clone(), one.mac, one.key.as_ref(), one.encoding, &at)?);
    }
    Ok(schemes)
}

fn scheme(
    version: String,
    mac: Option<MacKind>,
    key: Option<&KeyFormat>,
    encoding: Option<SignatureEncoding>,
    at: &Place,
) -> Result<Scheme, Mistake> {
    let (Some(mac), Some(key), Some(encoding)) = (mac, key, encoding) else {
        return Err(at.mistake("state mac, key and encoding"));
    };
    let key_at = at.key("key");
    if key.prefix.is_some() && key.encoding == KeyEncoding::Utf8 {
        return Err(key_at.key("prefix").mistake("a utf8 key is the whole text, its prefix included"));
    }
    if key.require_prefix && key.prefix.is_none() {
        return Err(key_at.key("require_prefix").mistake("state the prefix"));
    }
    if (mac == MacKind::Static) != (encoding == SignatureEncoding::Text) {
        return Err(at.key("encoding").mistake("\"text\" is for mac = \"static\", and nothing else is"));
    }
    if mac == MacKind::Ed25519 && key.encoding == KeyEncoding::Utf8 {
        return Err(key_at.mistake("an ed25519 public key is 32 bytes in base64 or hex"));
    }
    Ok(Scheme { version, mac, key: key.clone(), encoding })
}
