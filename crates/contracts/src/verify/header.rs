//! Finding the signed headers of a request, and taking the signature's header apart.
//!
//! It believes nothing: what comes out are claims, which `Verifier::matching_secret` then tries.

use super::{Refused, SIGNATURES_MAX};
use crate::contract::signature::{Grammar, Signature, TimestampPlace};

/// More digits than any second that matters, fewer than an `i64` can take.
const TIMESTAMP_DIGITS_MAX: usize = 15;

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
    /// Signatures that count: the scheme's number and the text.
    pub(super) signatures: Vec<(usize, &'a str)>,
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
pub(super) fn claim<'a>(signature: &Signature, located: &Located<'a>) -> Result<Claim<'a>, Refused> {
    let text = |value: &'a [u8]| std::str::from_utf8(value).map_err(|_| Refused::MalformedHeader);
    let mut claim = Claim { timestamp: None, signatures: Vec::with_capacity(2) };
    let mut timestamp = match &signature.timestamp {
        Some(TimestampPlace::Header(number)) => Some(text(located.headers[*number])?),
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
                Some(TimestampPlace::Key(key)) => Some(key.as_str()),
                _ => None,
            };
            list(first, signature, (item, key), timestamp_key, &mut timestamp, &mut claim)?;
        }
    }
    if signature.timestamp.is_some() {
        // An absent or empty one in a list means that the list is none.
        let text = timestamp.filter(|text| !text.is_empty()).ok_or(Refused::MalformedHeader)?;
        claim.timestamp = Some((text, seconds(text)?));
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
    push(claim, 0, signature)
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
        } else if let Some(scheme) = signature.schemes.iter().position(|scheme| scheme.version == key) {
            push(claim, scheme, value)?;
        }
        // Other versions are neither believed nor an error: never a downgrade, never a broken upgrade.
    }
    if any { Ok(()) } else { Err(Refused::MalformedHeader) }
}

fn push<'a>(claim: &mut Claim<'a>, scheme: usize, signature: &'a str) -> Result<(), Refused> {
    if claim.signatures.len() == SIGNATURES_MAX {
        return Err(Refused::MalformedHeader);
    }
    claim.signatures.push((scheme, signature));
    Ok(())
}

/// Plain digits, written in the one way that a number has.
fn seconds(text: &str) -> Result<i64, Refused> {
    let canonical = text == "0" || !text.starts_with('0');
    if text.len() > TIMESTAMP_DIGITS_MAX || !canonical || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Refused::MalformedTimestamp);
    }
    text.parse().map_err(|_| Refused::MalformedTimestamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_digits_in_their_one_form() {
        assert_eq!(seconds("1614265330"), Ok(1_614_265_330));
        assert_eq!(seconds("0"), Ok(0));
        for text in ["-5", "+5", "1.0", "1e9", " 1", "01", "٣", "99999999999999999999", "0x1", "1_000"] {
            assert_eq!(seconds(text), Err(Refused::MalformedTimestamp), "{text}");
        }
    }
}
