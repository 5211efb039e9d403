//! The crash matrix: the process is killed at every step of a try, and afterwards everything has been told, with the same
//! bytes under the same keys, and nothing was granted twice.
//!
//! Two rounds a point. `PAIDONCE_CRASHES=20` does twenty, and holds each to its time: on a machine that does nothing else.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

use super::receiver::{Act, Call, Receiver};
use crate::cli::{PAID, Place};
use crate::shop::EFFECT_SECRET;

/// How long after a start nothing may be left to do: the lease, and five seconds.
const AT_REST: Duration = Duration::from_secs(1 + 5);

/// How many rounds, if not two.
const ROUNDS: &str = "PAIDONCE_CRASHES";

fn is_long() -> bool {
    std::env::var_os(ROUNDS).is_some()
}

fn rounds() -> usize {
    std::env::var(ROUNDS).map_or(2, |rounds| rounds.parse().expect("a number of rounds"))
}

/// A shop that tells grants and keeps a copy, under leases of a second.
pub(super) fn place(receiver: &Receiver) -> Place {
    let place = Place::new("on");
    place.write("effect-secret", EFFECT_SECRET);
    let config = std::fs::read_to_string(place.path("paidonce.toml")).unwrap();
    let config =
        config.replace("[workers]\n", "[policy]\nafter_refund = \"revoke\"\n[workers]\nlease_s = 1\n");
    let effect = |name: &str, what: &str| {
        format!(
            "\n[[effect]]\nname = \"{name}\"\nkind = \"http\"\nurl = \"{}\"\nsecret = \"file:effect-secret\"\n\
             timeout_s = 1\nallow_private = true\n{what}\n",
            receiver.url()
        )
    };
    let effects = effect("till", "on = [\"entitlement_granted\"]") + &effect("copy", "sync = true");
    place.write("paidonce.toml", &(config + &effects));
    place
}

/// Places and pays the order of a round. The server may die before it answers: the payment is committed by then.
fn buy(place: &Place, public: &str, round: usize) {
    let (id, reference) = (format!("o{round}"), format!("stripe=pi_{round}"));
    let add = ["orders", "add", "--id", &id, "--customer", "c1", "--line", "ebook", "--total", "19.90 EUR"];
    let ran = place.run(&[&add[..], &["--reference", &reference]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let body = PAID.replace("evt_1", &format!("evt_{round}")).replace("pi_1", &format!("pi_{round}"));
    place.write("paid.json", &body.replace("ch_1", &format!("ch_{round}")));
    place.run(&["send", "paid.json", "--source", "stripe", "--url", &format!("http://{public}/in/stripe")]);
}

fn by_key(calls: &[Call]) -> BTreeMap<&str, Vec<&Call>> {
    let mut keys = BTreeMap::<_, Vec<_>>::new();
    calls.iter().for_each(|call| keys.entry(call.key()).or_default().push(call));
    keys
}

/// What must hold of the calls of one round, whatever was killed when.
fn check(calls: &[Call], point: &str) {
    let keys = by_key(calls);
    assert_eq!(keys.len(), 2, "one message and one copy: {keys:#?}");
    for calls in keys.values() {
        assert!(
            calls.iter().all(|call| call.is_genuine() && call.body == calls[0].body),
            "{point}: {calls:#?}"
        );
    }
    let most = keys.values().map(Vec::len).max();
    match point {
        // Nothing had left.
        "claimed" | "prepared" => assert_eq!(most, Some(1), "{point}: {keys:#?}"),
        "during" | "answered" | "recording" => assert_eq!(most, Some(2), "{point}: {keys:#?}"),
        _ => {}
    }
}

/// Kills the server at a point, as often as there are rounds, and looks at what the next one makes of it.
fn matrix(point: &'static str) {
    let hold = Arc::new(AtomicBool::new(false));
    let holds = hold.clone();
    let receiver =
        Receiver::new(move |_, _| if holds.swap(false, SeqCst) { Act::Hold } else { Act::Say(200) });
    let place = place(&receiver);
    for round in 1..=rounds() {
        let before = receiver.calls().len();
        let during = point == "during";
        hold.store(during, SeqCst);
        let mut serving = place.serve_with(&[("PAIDONCE_FAILPOINT", point)]);
        buy(&place, &serving.public, round);
        if during {
            receiver.wait_for(before + 1);
            serving.kill();
        }
        let status = serving.ended();
        assert_eq!(status.signal(), Some(if during { 9 } else { 6 }), "{point}: {status:?}");
        receiver.release();
        let (serving, started) = (place.serve(), Instant::now());
        let order = format!("o{round}");
        place.wait_for(&["tasks", "list", "--order", &order], |tasks| {
            let rows = tasks["rows"].as_array().unwrap();
            rows.len() == 3 && rows.iter().all(|task| task["state"] == "done")
        });
        let took = started.elapsed();
        assert!(!is_long() || took < AT_REST, "{point}: at rest after {took:?}");
        drop(serving);
        check(&receiver.calls()[before..], point);
    }
    let granted = place.json(&["entitlements", "list", "--limit", "500"]);
    assert_eq!(granted["rows"].as_array().unwrap().len(), rounds());
    let audit = place.run(&["audit"]);
    assert_eq!(audit.code, 0, "{}{}", audit.out, audit.err);
    assert_eq!(place.json(&["cases", "list"])["rows"], serde_json::json!([]));
}

#[test]
fn p10_killed_with_the_lease_and_nothing_prepared() {
    matrix("claimed");
}

#[test]
fn p11_killed_before_the_call() {
    matrix("prepared");
}

#[test]
fn p11_killed_during_the_call() {
    matrix("during");
}

#[test]
fn p11_killed_after_the_answer() {
    matrix("answered");
}

#[test]
fn p11_killed_before_the_record() {
    matrix("recording");
}

#[test]
fn p11_killed_after_the_record() {
    matrix("recorded");
}
