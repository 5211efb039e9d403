//! Freshness: K03, on signed timestamps, on both sides.

use paidonce_contracts::{Refused, Secret};

use crate::support::{Headers, NOW, contract, signed, source, stripe, verify};

const BODY: &[u8] = br#"{"id":"evt_1","type":"x"}"#;

fn stripe_header(timestamps: &str) -> Headers {
    let headers = signed(&stripe(), "whsec_test_secret", "", BODY);
    let signature = headers[0].1.split_once(",v1=").unwrap().1;
    vec![("Stripe-Signature".to_owned(), format!("{timestamps},v1={signature}"))]
}

/// B14: a small future allowance, a larger past one, arithmetic that cannot overflow, one `t` only.
#[test]
fn b14_one_sided_skew() {
    let limited = source("stripe", "[signature]\nmax_future_s = 60", &["whsec_test_secret"]);
    let at = |seconds: i64| {
        let headers =
            limited.contract().sign(&Secret::new("whsec_test_secret"), "", BODY, NOW + seconds).unwrap();
        verify(&limited, &headers, BODY, NOW)
    };
    assert_eq!(at(-299), Ok(0));
    assert_eq!(at(-300), Ok(0));
    assert_eq!(at(-301), Err(Refused::TimestampTooOld { age_s: 301 }));
    assert_eq!(at(5), Ok(0));
    assert_eq!(at(60), Ok(0));
    assert_eq!(at(299), Err(Refused::TimestampInFuture { ahead_s: 299 }));
    assert_eq!(at(3600), Err(Refused::TimestampInFuture { ahead_s: 3600 }));
    let malformed = Err(Refused::MalformedTimestamp);
    assert_eq!(verify(&limited, &stripe_header("t=-1700000000"), BODY, NOW), malformed);
    assert_eq!(verify(&limited, &stripe_header("t=17000000000000000000"), BODY, NOW), malformed);
    assert_eq!(verify(&limited, &stripe_header("t=01700000000"), BODY, NOW), malformed);
    let repeated = format!("t={NOW},t={NOW}");
    assert_eq!(verify(&limited, &stripe_header(&repeated), BODY, NOW), Err(Refused::MalformedHeader));
    assert_eq!(verify(&limited, &stripe_header(&format!("t={NOW}")), BODY, NOW), Ok(0));
}

/// No clock of the host, however wrong, makes the arithmetic panic.
#[test]
fn clocks_of_any_value_are_survived() {
    let headers = stripe_header(&format!("t={NOW}"));
    assert!(verify(&stripe(), &headers, BODY, i64::MAX).is_err());
    assert!(
        verify(&stripe(), &headers, BODY, i64::MIN).is_ok(),
        "Stripe's libraries do not limit the future"
    );
    let limited = source("stripe", "[signature]\nmax_future_s = 60", &["whsec_test_secret"]);
    assert_eq!(
        verify(&limited, &headers, BODY, i64::MIN),
        Err(Refused::TimestampInFuture { ahead_s: i64::MAX })
    );
}

/// B15: the limit is on without being asked for, and zero is no way to switch it off.
#[test]
fn b15_a_year_old_replay_is_refused_and_the_limit_cannot_be_zero() {
    let headers = signed(&stripe(), "whsec_test_secret", "", BODY);
    let year = 31_536_000;
    assert_eq!(verify(&stripe(), &headers, BODY, NOW + year), Err(Refused::TimestampTooOld { age_s: year }));
    for overlay in
        ["[signature]\nmax_age_s = 0", "[signature]\nmax_future_s = 0", "[signature]\nmax_age_s = -1"]
    {
        let error =
            paidonce_contracts::Contract::builtin("stripe", Some(&overlay.parse().unwrap())).unwrap_err();
        assert!(error.to_string().contains("0 does not switch the limit off"), "{error}");
    }
    assert!(contract("stripe", "[signature]\nmax_age_s = 600").event_types().count() > 10);
}

/// A forged timestamp is told from a genuine old one: the clock is only consulted about what was signed.
#[test]
fn a_forged_old_request_is_a_mismatch() {
    let headers = stripe_header("t=1600000000");
    assert_eq!(verify(&stripe(), &headers, BODY, NOW), Err(Refused::SignatureMismatch));
}
