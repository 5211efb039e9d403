//! Finding the signed headers of a request, and taking the signature's header apart.
//!
//! It believes nothing: what comes out are claims, which `Verifier::matching_secret` then tries.

use super::time::seconds;
use super::{Refused, SIGNATURES_MAX};
use crate::contract::format::HeaderListFormat;
use crate::contract::signature::{Grammar, KeyIdPlace, Signature, TimestampPlace};

/// The most headers that a signature lists. Providers list three.
const LISTED_MAX: usize = 16;

/// The headers of one request that the contract names.
pub(super) struct Located<'a> {
    /// By the contract's numbers. Number 0 is the (first) signature header.
    pub(super) headers: Vec<&'a [u8]>,
    /// Further lines of the signature header, where the contract allows them.
    repeated: Vec<&'a [u8]>,
}

/// What the signature's header says.
pub(super) struct Claim<'a> {
    /// The timestamp's text, which is what is signed, and its value.
    pub(super) timestamp: Option<(&'a str, i64)>,
    /// Signatures that count.
    pub(super) signatures: Vec<Signed<'a>>,
    /// The names of the headers that are signed, where the contract has such a list, and their values, joined.
    pub(super) header_names: &'a str,
    pub(super) header_values: Vec<u8>,
}

/// One signature that counts.
pub(super) struct Signed<'a> {
    /// The scheme's number.
    pub(super) scheme: usize,
    pub(super) text: &'a str,
    /// Whose key made it, where the contract says how that is said.
    pub(super) key_id: Option<&'a str>,
}

/// Finds the headers. The first family whose signature is there provides all of them: families never mix.
pub(super) fn locate<'a>(
    signature: &Signature,
    headers: &[(&'a str, &'a [u8])],
) -> Result<Located<'a>, Refused> {
    let family =
        signature.families.iter().find(|family| lines(headers, &family[0]).any(|value| !value.is_empty()));
    let family = family.ok_or(Refused::MissingSignature)?;
    let mut located = Located { headers: Vec::with_capacity(family.len()), repeated: Vec::new() };
    for (number, name) in family.iter().enumerate() {
        let mut values = lines(headers, name);
        let value = values.next().filter(|value| !value.is_empty()).ok_or(Refused::MissingHeader)?;
        located.headers.push(value);
        for again in values {
            if number > 0 || !signature.repeatable {
                return Err(Refused::MalformedHeader);
            }
            located.repeated.push(again);
        }
    }
    Ok(located)
}

/// All lines of the header of that name.
fn lines<'h, 'a>(headers: &'h [(&'a str, &'a [u8])], name: &'h str) -> impl Iterator<Item = &'a [u8]> {
    headers.iter().filter(move |(have, _)| have.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
}

/// Takes the signature's header apart.
pub(super) fn claim<'a>(
    signature: &Signature,
    located: &Located<'a>,
    headers: &[(&'a str, &'a [u8])],
) -> Result<Claim<'a>, Refused> {
    let text = |value: &'a [u8]| std::str::from_utf8(value).map_err(|_| Refused::MalformedHeader);
    let mut claim = Claim {
        timestamp: None,
        signatures: Vec::with_capacity(2),
        header_names: "",
        header_values: Vec::new(),
    };
    let mut timestamp = match &signature.timestamp {
        Some((TimestampPlace::Header(number), _)) => Some(text(located.headers[*number])?),
        _ => None,
    };
    let first = text(located.headers[0])?;
    match &signature.grammar {
        Grammar::Plain { prefix, required } => {
            plain(first, prefix, *required, &mut claim)?;
            for again in &located.repeated {
                plain(text(again)?, prefix, *required, &mut claim)?;
            }
        }
        Grammar::List { item, key } => {
            let timestamp_key = match &signature.timestamp {
                Some((TimestampPlace::Key(key), _)) => Some(key.as_str()),
                _ => None,
            };
            list(first, signature, (item, key), timestamp_key, &mut timestamp, &mut claim)?;
        }
        Grammar::Triples { item, key } => triples(first, signature, (item, key), &mut claim)?,
    }
    if let Some(KeyIdPlace::Header(number)) = &signature.key_id {
        let id = text(located.headers[*number])?;
        claim.signatures.iter_mut().for_each(|signed| signed.key_id = Some(id));
    }
    if let Some(list) = &signature.header_list {
        listed(list, headers, &mut claim)?;
    }
    if let Some((_, unit)) = &signature.timestamp {
        // An absent or empty one in a list means that the list is none.
        let text = timestamp.filter(|text| !text.is_empty()).ok_or(Refused::MalformedHeader)?;
        claim.timestamp = Some((text, seconds(text, *unit)?));
    }
    if claim.signatures.is_empty() {
        return Err(Refused::NoSignatureOfExpectedScheme);
    }
    Ok(claim)
}

fn plain<'a>(text: &'a str, prefix: &str, required: bool, claim: &mut Claim<'a>) -> Result<(), Refused> {
    let signature = match text.strip_prefix(prefix) {
        Some(rest) => rest,
        None if required => return Err(Refused::MalformedHeader),
        None => text,
    };
    push(claim, 0, signature, None)
}

fn list<'a>(
    text: &'a str,
    signature: &Signature,
    (item_separator, key_separator): (&str, &str),
    timestamp_key: Option<&str>,
    timestamp: &mut Option<&'a str>,
    claim: &mut Claim<'a>,
) -> Result<(), Refused> {
    let mut any = false;
    for item in text.split(item_separator) {
        let Some((key, value)) = item.split_once(key_separator) else { continue };
        any = true;
        if timestamp_key == Some(key) {
            if timestamp.replace(value).is_some() {
                return Err(Refused::MalformedHeader);
            }
        } else if signature.header_list.as_ref().is_some_and(|list| list.key == key) {
            if !claim.header_names.is_empty() {
                return Err(Refused::MalformedHeader);
            }
            claim.header_names = value;
        } else if let Some(scheme) = signature.schemes.iter().position(|scheme| scheme.version == key) {
            push(claim, scheme, value, None)?;
        }
        // Other versions are neither believed nor an error: never a downgrade, never a broken upgrade.
    }
    if any { Ok(()) } else { Err(Refused::MalformedHeader) }
}

/// `keyId/SHA256/signature,keyId/SHA256/signature`.
fn triples<'a>(
    text: &'a str,
    signature: &Signature,
    (item_separator, key_separator): (&str, &str),
    claim: &mut Claim<'a>,
) -> Result<(), Refused> {
    let mut any = false;
    for item in text.split(item_separator) {
        let Some((id, rest)) = item.split_once(key_separator) else { continue };
        let Some((version, value)) = rest.split_once(key_separator) else { continue };
        any = true;
        if let Some(scheme) = signature.schemes.iter().position(|scheme| scheme.version == version) {
            push(claim, scheme, value, Some(id))?;
        }
    }
    if any { Ok(()) } else { Err(Refused::MalformedHeader) }
}

/// The values of the headers that the signature's own header says it covers, each there exactly once.
fn listed<'a>(
    list: &HeaderListFormat,
    headers: &[(&'a str, &'a [u8])],
    claim: &mut Claim<'a>,
) -> Result<(), Refused> {
    if claim.header_names.is_empty() {
        // The signature covers a list with a name at least: an emptied one is not what was signed.
        return Err(Refused::SignatureMismatch);
    }
    for (n, name) in claim.header_names.split(list.separator.as_str()).enumerate() {
        if n == LISTED_MAX {
            return Err(Refused::MalformedHeader);
        }
        if n > 0 {
            claim.header_values.extend_from_slice(list.join.as_bytes());
        }
        let mut values = lines(headers, name);
        claim.header_values.extend_from_slice(values.next().ok_or(Refused::MissingHeader)?);
        if values.next().is_some() {
            return Err(Refused::MalformedHeader);
        }
    }
    Ok(())
}

fn push<'a>(
    claim: &mut Claim<'a>,
    scheme: usize,
    text: &'a str,
    key_id: Option<&'a str>,
) -> Result<(), Refused> {
    if claim.signatures.len() == SIGNATURES_MAX {
        return Err(Refused::MalformedHeader);
    }
    claim.signatures.push(Signed { scheme, text, key_id });
    Ok(())
}
