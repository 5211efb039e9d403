//! Building sources, signing deliveries by the contract's own data, and printing what was read.

use std::fmt::Write as _;

use paidonce_contracts::{Contract, Delivery, Refused, Secret, Verifier};
use paidonce_ledger::{CaptureState, DisputeState, Fact, FactKey, Money, Notice, Reading, RefundState};

/// The time of all tests that do not care.
pub(crate) const NOW: i64 = 1_700_000_000;

/// A request's headers.
pub(crate) type Headers = Vec<(String, String)>;

/// A shipped contract with an overlay, written as TOML.
pub(crate) fn contract(name: &str, overlay: &str) -> Contract {
    let overlay: toml::Table = overlay.parse().unwrap();
    Contract::builtin(name, Some(&overlay)).unwrap_or_else(|error| panic!("{error}"))
}

/// A source of a shipped contract.
pub(crate) fn source(name: &str, overlay: &str, secrets: &[&str]) -> Verifier {
    let secrets: Vec<_> = secrets.iter().map(|text| Secret::new(*text)).collect();
    Verifier::new(&contract(name, overlay), &secrets).unwrap()
}

/// A Stripe source with one secret.
pub(crate) fn stripe() -> Verifier {
    source("stripe", "", &["whsec_test_secret"])
}

/// The headers of a genuine delivery at [`NOW`].
pub(crate) fn signed(verifier: &Verifier, secret: &str, id: &str, body: &[u8]) -> Headers {
    verifier.contract().sign(&Secret::new(secret), id, body, NOW).unwrap()
}

/// Verifies at `now`; the reason if it is refused.
pub(crate) fn verify(
    verifier: &Verifier,
    headers: &Headers,
    body: &[u8],
    now: i64,
) -> Result<usize, Refused> {
    let lines: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    verifier.verify(&lines, body, now).map(|verified| verified.secret_position())
}

/// Verifies and reads a genuine delivery.
pub(crate) fn delivery(verifier: &Verifier, headers: &Headers, body: &[u8]) -> Delivery {
    let lines: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    verifier.verify(&lines, body, NOW).unwrap().read()
}

/// Signs, verifies and reads; the notices.
pub(crate) fn notices(verifier: &Verifier, secret: &str, body: &[u8]) -> Vec<Notice> {
    match delivery(verifier, &signed(verifier, secret, "msg_1", body), body) {
        Delivery::Events(notices) => notices,
        Delivery::Test => panic!("a test notification"),
    }
}

/// The one notice of a body.
pub(crate) fn notice(verifier: &Verifier, secret: &str, body: impl AsRef<[u8]>) -> Notice {
    let mut notices = notices(verifier, secret, body.as_ref());
    assert_eq!(notices.len(), 1);
    notices.remove(0)
}

/// Why a notice is unreadable; empty if it is not.
pub(crate) fn why(notice: &Notice) -> &str {
    match &notice.reading {
        Reading::Unreadable(why) => why,
        _ => "",
    }
}

/// A notice as text that a finance person can read.
pub(crate) fn show(notice: &Notice) -> String {
    let mut text = format!("{} {}", notice.id, notice.kind);
    if let Some(account) = &notice.account {
        write!(text, " of {account}").unwrap();
    }
    if let Some(mode) = notice.mode {
        write!(text, " ({mode})").unwrap();
    }
    match &notice.reading {
        Reading::Ignored => text.push_str("\nignored"),
        Reading::Unreadable(why) => write!(text, "\nunreadable: {why}").unwrap(),
        Reading::Facts(claims) => {
            write!(text, "\npayment {}", claims.payment).unwrap();
            claims.references.iter().for_each(|id| write!(text, "\nreference {id}").unwrap());
            claims.hints.iter().for_each(|hint| write!(text, "\nhint {hint}").unwrap());
            claims.facts.iter().for_each(|fact| write!(text, "\n{}", show_fact(fact)).unwrap());
        }
    }
    text
}

/// A fact as one line.
pub(crate) fn show_fact(fact: &Fact) -> String {
    let rank = fact.value.rank;
    let what = match &fact.key {
        FactKey::Captured { id, .. } => format!("captured {id} {:?}", CaptureState::of_rank(rank)),
        FactKey::Refunded { id, .. } => format!("refunded {id} {:?}", RefundState::of_rank(rank)),
        FactKey::Disputed { id, stage, .. } => {
            format!("disputed {id} stage {stage} {:?}", DisputeState::of_rank(rank))
        }
        FactKey::AttemptFailed(event) => format!("attempt_failed by {event}"),
        other => other.kind().to_owned(),
    };
    match (fact.key.unit(), fact.value.amount_minor) {
        (Some(unit), Some(amount)) => format!("{what} {}", Money::new(amount, unit.clone()).unwrap()),
        (None, None) => what,
        (unit, amount) => panic!("half a sum of money: {unit:?} {amount:?}"),
    }
}

/// Compares line by line, so that a failure shows the difference.
pub(crate) fn check(notice: &Notice, expect: &str) {
    let expect: Vec<&str> = expect.trim().lines().map(str::trim).collect();
    assert_eq!(show(notice).lines().collect::<Vec<_>>(), expect);
}
