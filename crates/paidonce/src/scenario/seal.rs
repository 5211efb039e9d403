//! How a notification is signed: as it should be, or in one of the ways that must not pass.

use paidonce_contracts::{Contract, Secret, SecretError};

/// A way of signing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seal {
    /// With the source's secret, now.
    Genuine,
    /// With a secret that the source does not have.
    WrongSecret,
    /// With the source's secret; then the body is changed.
    Tampered,
    /// Not at all.
    Unsigned,
    /// With the source's secret, so many seconds ago.
    SecondsAgo(i64),
    /// With two secrets, as a provider does after a roll: one that the source no longer has, and its own.
    Rolled,
}

/// A request's body and the headers that the contract asks for.
pub(crate) struct Sealed {
    /// Header lines.
    pub(crate) headers: Vec<(String, String)>,
    /// The bytes to send.
    pub(crate) body: Vec<u8>,
}

/// Signs `body` for a source.
///
/// # Errors
/// The source's secret cannot sign, or there is none.
pub(crate) fn seal(
    seal: Seal,
    contract: &Contract,
    (own, foreign): (&Secret, &Secret),
    (id, body): (&str, Vec<u8>),
    now_unix_s: i64,
) -> Result<Sealed, SecretError> {
    let sign = |secret: &Secret, at| contract.sign(secret, id, &body, at);
    let headers = match seal {
        Seal::Genuine | Seal::Tampered => sign(own, now_unix_s)?,
        Seal::WrongSecret => sign(foreign, now_unix_s)?,
        Seal::Unsigned => Vec::new(),
        Seal::SecondsAgo(age_s) => sign(own, now_unix_s - age_s)?,
        Seal::Rolled => rolled(sign(foreign, now_unix_s)?, &sign(own, now_unix_s)?),
    };
    let body = if seal == Seal::Tampered { tamper(body) } else { body };
    Ok(Sealed { headers, body })
}

/// The signatures of both in one header: `t=..,v1=old` and `t=..,v1=new` become `t=..,v1=old,v1=new`.
fn rolled(old: Vec<(String, String)>, new: &[(String, String)]) -> Vec<(String, String)> {
    let join = |((name, old), (_, new)): ((String, String), &(String, String))| {
        let candidate = new.split_once(',').map_or(new.as_str(), |(_, candidate)| candidate);
        (name, format!("{old},{candidate}"))
    };
    old.into_iter().zip(new).map(join).collect()
}

/// Changes one byte, and leaves JSON as JSON where it can: the last digit becomes another one.
pub(crate) fn tamper(mut body: Vec<u8>) -> Vec<u8> {
    match body.iter_mut().rev().find(|byte| byte.is_ascii_digit()) {
        Some(digit) => *digit = if *digit == b'9' { b'8' } else { *digit + 1 },
        None => body.push(b' '),
    }
    body
}

#[cfg(test)]
mod tests {
    use paidonce_contracts::Verifier;

    use super::*;

    const NOW: i64 = 1_700_000_000;

    fn passes(how: Seal) -> bool {
        let contract = Contract::builtin("stripe", None).unwrap();
        let (own, foreign) = (Secret::new("whsec_own"), Secret::new("whsec_foreign"));
        let verifier = Verifier::new(&contract, std::slice::from_ref(&own)).unwrap();
        let body = br#"{"id":"evt_1"}"#.to_vec();
        let sealed = seal(how, &contract, (&own, &foreign), ("evt_1", body), NOW).unwrap();
        let headers: Vec<_> =
            sealed.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        verifier.verify(&headers, &sealed.body, NOW).is_ok()
    }

    #[test]
    fn only_what_is_genuine_passes() {
        assert!(passes(Seal::Genuine));
        assert!(passes(Seal::Rolled));
        for how in [Seal::WrongSecret, Seal::Tampered, Seal::Unsigned, Seal::SecondsAgo(600)] {
            assert!(!passes(how), "{how:?}");
        }
    }
}
