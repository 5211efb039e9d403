//! Providers whose signature `sign` cannot write, by code or as a member of the body: each bit of each genuine vector,
//! flipped, is refused, or says the same as before.

use paidonce_contracts::{Contract, Delivery, vectors::Bench};
use paidonce_ledger::{Fact, Notice, Reading};

use crate::code::fixtures;

/// What would move anything: which payment, and its facts.
fn applied(delivery: Delivery) -> Vec<(String, Vec<Fact>)> {
    let Delivery::Events(notices) = delivery else { return Vec::new() };
    let of = |notice: Notice| match notice.reading {
        Reading::Facts(claims) if !claims.facts.is_empty() => {
            Some((format!("{:?}", claims.payment), claims.facts))
        }
        _ => None,
    };
    notices.into_iter().filter_map(of).collect()
}

/// Flips every `step`-th bit of the body and every bit of the headers. Answers how many were refused, and how many said
/// the same.
fn flip(provider: &str, step: usize) -> (usize, usize) {
    let (all, pems) = fixtures(provider);
    let contract = |settings: &toml::Table| Contract::builtin(provider, Some(settings));
    let bench = Bench { contract: &contract, certificates: &pems };
    let (mut refused, mut same) = (0, 0);
    for vector in all.iter().filter(|vector| vector.valid && !vector.attack && !vector.body().is_empty()) {
        if vector.scheme.as_deref().is_some_and(|scheme| scheme.contains("platform")) {
            continue;
        }
        let (verifier, certificates) =
            (vector.verifier(&bench).unwrap(), vector.certificates(&bench).unwrap());
        let read = |headers: &[(&str, &[u8])], body: &[u8]| {
            let verified = verifier.verify_with(headers, body, vector.now_unix_s(), &certificates);
            verified.ok().map(|verified| applied(verified.read()))
        };
        let genuine = read(&vector.headers(), vector.body()).unwrap_or_else(|| panic!("{}", vector.id));
        let mut count = |what: &str, said: Option<Vec<_>>| match said {
            None => refused += 1,
            Some(said) => {
                assert!(said.is_empty() || said == genuine, "{}: {what}: {said:?}", vector.id);
                same += 1;
            }
        };
        for bit in (0..vector.body().len() * 8).step_by(step) {
            let mut body = vector.body().to_vec();
            body[bit / 8] ^= 1 << (bit % 8);
            count(&format!("bit {bit} of the body"), read(&vector.headers(), &body));
        }
        for (n, (name, value)) in vector.headers().into_iter().enumerate() {
            for bit in 0..value.len() * 8 {
                let mut forged = value.to_vec();
                forged[bit / 8] ^= 1 << (bit % 8);
                let mut headers = vector.headers();
                headers[n].1 = &forged;
                count(&format!("bit {bit} of {name}"), read(&headers, vector.body()));
            }
        }
    }
    (refused, same)
}

#[test]
fn adyen_members_that_are_not_signed_change_no_fact() {
    let (refused, same) = flip("adyen", 1);
    assert!(refused > 1_000 && same > 0, "{refused} refused, {same} the same");
}

#[test]
fn every_bit_of_braintree_is_covered() {
    let (refused, same) = flip("braintree", 1);
    assert!(refused > 1_000, "{refused} refused, {same} the same");
}

/// Spaces between members are not covered, and mean nothing.
#[test]
fn every_value_of_nowpayments_is_covered() {
    let (refused, same) = flip("nowpayments", 1);
    assert!(refused > 1_000, "{refused} refused, {same} the same");
}

/// A sum of 32 bits notices each single one. (Each try costs an RSA verification: an odd step meets all positions.)
#[test]
fn paypal_notices_single_bits() {
    let (refused, _) = flip("paypal", 7);
    assert!(refused > 1_000, "{refused} refused");
}
