//! Secrets and headers: K02.

use paidonce_contracts::{Refused, SIGNATURES_MAX, Secret, SecretError, Verifier};

use crate::support::{Headers, NOW, contract, signed, source, stripe, verify};

const BODY: &[u8] = br#"{"id":"evt_1","type":"x"}"#;
const SVIX: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const PUBLIC: &str = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";

fn refused(name: &str, secret: &str) -> String {
    Verifier::new(&contract(name, ""), &[Secret::new(secret)]).unwrap_err().to_string()
}

/// B04, razorpay-node#163: a parsed value has no way in. The type says so: bytes, or it does not compile. What a
/// careless receiver would make of an object is a body like any other.
#[test]
fn b04_only_bytes_are_verified() {
    let headers = signed(&stripe(), "whsec_test_secret", "", b"[object Object]");
    assert_eq!(verify(&stripe(), &headers, BODY, NOW), Err(Refused::SignatureMismatch));
}

/// B07: two registrations on one URL, each with its secret.
#[test]
fn b07_each_of_two_secrets_is_accepted_and_attributed() {
    let both = source("stripe", "", &["whsec_platform", "whsec_connect"]);
    for (position, secret) in ["whsec_platform", "whsec_connect"].into_iter().enumerate() {
        assert_eq!(verify(&both, &signed(&both, secret, "", BODY), BODY, NOW), Ok(position));
    }
    let third = signed(&both, "whsec_other", "", BODY);
    assert_eq!(verify(&both, &third, BODY, NOW), Err(Refused::SignatureMismatch));
}

fn v1(verifier: &Verifier, secret: &str) -> String {
    signed(verifier, secret, "msg_1", BODY)[0]
        .1
        .rsplit(['=', ','])
        .find(|part| !part.is_empty())
        .unwrap()
        .to_owned()
}

/// B09: of two v1 values either may be the right one, whichever secrets are loaded.
#[test]
fn b09_rolled_secret_two_v1() {
    let both = source("stripe", "", &["whsec_old", "whsec_new"]);
    let (old, new) = (v1(&both, "whsec_old"), v1(&both, "whsec_new"));
    for values in [[&old, &new], [&new, &old]] {
        let header = format!("t={NOW},v1={},v1={},v0=junk", values[0], values[1]);
        let headers: Headers = vec![("stripe-signature".into(), header)];
        for secrets in [&["whsec_old"][..], &["whsec_new"], &["whsec_old", "whsec_new"]] {
            assert!(verify(&source("stripe", "", secrets), &headers, BODY, NOW).is_ok());
        }
        assert!(verify(&source("stripe", "", &["whsec_third"]), &headers, BODY, NOW).is_err());
    }
}

#[test]
fn more_signatures_than_are_tried_are_refused() {
    let verifier = stripe();
    let right = v1(&verifier, "whsec_test_secret");
    let with = |before: usize| {
        let junk = "v1=00,".repeat(before);
        verify(&verifier, &vec![("Stripe-Signature".into(), format!("t={NOW},{junk}v1={right}"))], BODY, NOW)
    };
    assert_eq!(with(SIGNATURES_MAX - 1), Ok(0));
    assert_eq!(with(SIGNATURES_MAX), Err(Refused::MalformedHeader));
}

/// B10: a secret has one form, and another is told where it is configured.
#[test]
fn b10_secret_encoding() {
    for secret in [format!("{SVIX}\n"), format!("v1,{SVIX}"), "not base64!".to_owned(), "whsec_".to_owned()] {
        let message = refused("standard-webhooks", &secret);
        assert!(message.contains("secret 1"), "{message}");
        assert!(message.contains("with \"whsec_\" in front or without (for v1)"), "{message}");
        assert!(!message.contains("MfKQ9r8G"), "{message}");
    }
    // The decoded key and the text are two keys: what one signs, the other refuses.
    let decoded = source("standard-webhooks", "", &[SVIX]);
    let text = source("standard-webhooks", "signature.versions.v1.key = 'utf8'", &[SVIX]);
    let headers = signed(&decoded, SVIX, "msg_1", BODY);
    assert!(verify(&decoded, &headers, BODY, NOW).is_ok());
    assert_eq!(verify(&text, &headers, BODY, NOW), Err(Refused::SignatureMismatch));
    let without = source("standard-webhooks", "", &["MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]);
    assert!(verify(&without, &headers, BODY, NOW).is_ok());
}

/// B11: no secret and no signature are both refusals, and an absent signature is like a forged one.
#[test]
fn b11_empty_or_absent_secret() {
    for name in ["stripe", "standard-webhooks", "generic-hmac"] {
        assert!(matches!(Verifier::new(&contract(name, ""), &[]), Err(SecretError::None { .. })));
        assert!(refused(name, "").starts_with("secret 1 is empty"));
    }
    assert!(refused("stripe", " ").contains("white space"));
    assert_eq!(verify(&stripe(), &Vec::new(), BODY, NOW), Err(Refused::MissingSignature));
    let empty: Headers = vec![("Stripe-Signature".into(), String::new())];
    assert_eq!(verify(&stripe(), &empty, BODY, NOW), Err(Refused::MissingSignature));
}

#[test]
fn a_public_key_only_verifies_and_is_never_a_shared_secret() {
    let contract = contract("standard-webhooks", "");
    let error = contract.sign(&Secret::new(PUBLIC), "msg_1", BODY, NOW).unwrap_err();
    assert!(error.to_string().contains("a public key only verifies"));
    assert!(refused("standard-webhooks", "whpk_AAAA").contains("32 bytes"));
    assert!(refused("standard-webhooks", "whsk_AAAA").contains("another kind"));
    // All zeros is a point of small order: everything would be its signature.
    let weak = format!("whpk_{}=", "A".repeat(43));
    assert!(refused("standard-webhooks", &weak).contains("ed25519"));
}

#[test]
fn repeated_headers_are_refused_unless_the_contract_says_that_they_repeat() {
    let verifier = stripe();
    let mut headers = signed(&verifier, "whsec_test_secret", "", BODY);
    headers.push(headers[0].clone());
    assert_eq!(verify(&verifier, &headers, BODY, NOW), Err(Refused::MalformedHeader));
    let once = source("generic-hmac", "", &["s"]);
    let many = source("generic-hmac", "[signature]\nrepeatable = true\noptional_prefix = 'sha256='", &["s"]);
    let right = signed(&once, "s", "", BODY)[0].1.clone();
    let headers: Headers = vec![("x-signature".into(), "sha256=00".into()), ("X-SIGNATURE".into(), right)];
    assert_eq!(verify(&many, &headers, BODY, NOW), Ok(0));
    assert_eq!(verify(&once, &headers, BODY, NOW), Err(Refused::MalformedHeader));
}

#[test]
fn a_required_prefix_is_required() {
    let verifier = source("generic-hmac", "[signature]\nprefix = 'sha256='", &["s"]);
    let mut headers = signed(&verifier, "s", "", BODY);
    assert!(headers[0].1.starts_with("sha256="));
    assert_eq!(verify(&verifier, &headers, BODY, NOW), Ok(0));
    headers[0].1 = headers[0].1.replace("sha256=", "");
    assert_eq!(verify(&verifier, &headers, BODY, NOW), Err(Refused::MalformedHeader));
    let bare = source("generic-hmac", "", &["s"]);
    assert_eq!(verify(&bare, &headers, BODY, NOW), Ok(0));
    headers[0].1.make_ascii_uppercase();
    let other = Err(Refused::SignatureMismatch);
    assert_eq!(
        verify(&bare, &headers, BODY, NOW),
        other,
        "no provider writes it so: it is not what was sent"
    );
    let any = source("generic-hmac", "[signature]\nencoding = 'hex-any-case'", &["s"]);
    assert_eq!(verify(&any, &headers, BODY, NOW), Ok(0), "unless the contract says so");
}

/// P14: nothing prints a secret.
#[test]
fn secrets_print_as_stars() {
    let secret = Secret::new("whsec_visible");
    assert_eq!(format!("{secret:?} {secret}"), "*** ***");
    let verifier = Verifier::new(&contract("stripe", ""), &[secret]).unwrap();
    assert!(!format!("{verifier:?}").contains("visible"));
}
