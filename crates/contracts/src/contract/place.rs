//! Where a signature stands: in a header, in the body, in a module of Rust, or nowhere.

use super::format::{Grammar as GrammarWord, SignatureFormat};
use super::mistake::{Mistake, Place};
use super::plan::pointer;
use super::signature::SignaturePlace;
use crate::code::Code;

/// The one place that the contract states.
pub(super) fn place(format: &SignatureFormat, at: &Place) -> Result<SignaturePlace, Mistake> {
    if let Some(code) = format.code {
        return by_code(format, code, at);
    }
    let stated = [format.header.is_some(), format.member.is_some(), format.unsigned];
    if stated.iter().filter(|stated| **stated).count() != 1 {
        return Err(at.mistake("state one of: header, member, code, unsigned = true"));
    }
    let Some(text) = &format.member else {
        return Ok(if format.unsigned { SignaturePlace::Nowhere } else { SignaturePlace::Header });
    };
    if format.timestamp.is_some() || format.grammar != GrammarWord::Plain || format.prefix.is_some() {
        return Err(at.key("member").mistake("a signature in the body is plain, without a timestamp"));
    }
    Ok(SignaturePlace::Member(pointer(text, &at.key("member"))?))
}

/// Everything but `code` and what belongs to it has to be absent: it would be passed over.
fn by_code(format: &SignatureFormat, code: Code, at: &Place) -> Result<SignaturePlace, Mistake> {
    let stated = format.header.is_some()
        || format.member.is_some()
        || format.unsigned
        || format.signed.is_some()
        || format.timestamp.is_some()
        || format.mac.is_some()
        || format.key.is_some()
        || format.encoding.is_some()
        || format.max_age_s.is_some()
        || format.max_future_s.is_some()
        || !format.versions.is_empty();
    if stated {
        return Err(at.key("code").mistake("the code says all of the signature; remove the other members"));
    }
    let known = code.values();
    if let Some(name) = format.values.keys().find(|name| !known.iter().any(|(known, _)| known == name)) {
        let known: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        return Err(at.key("values").key(name).mistake(format!("this code takes: [{}]", known.join(", "))));
    }
    let hosts = &format.certificate_hosts.0;
    let plain = |host: &String| {
        host.contains('.')
            && host
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-".contains(&byte))
    };
    if let Some(host) = hosts.iter().find(|host| !plain(host)) {
        return Err(at.key("certificate_hosts").mistake(format!("{host:?} is no lower-case host name")));
    }
    if hosts.is_empty() == (code == Code::PayPal) {
        let problem = "state the hosts for the code that fetches a certificate, and for no other";
        return Err(at.key("certificate_hosts").mistake(problem));
    }
    Ok(SignaturePlace::Code { code, values: format.values.clone(), hosts: hosts.clone() })
}
