//! A worker that stands still past its lease and then goes on (SIGSTOP, SIGCONT): another has done its work, a refund has
//! come between, and whatever the stale one says is refused.

use std::process::Command;
use std::time::{Duration, Instant};

use super::crash::place;
use super::receiver::{Act, Call, Receiver};
use crate::cli::{PAID, Serving};
use crate::wire;

fn signal(name: &str, serving: &Serving) {
    let status = Command::new("kill").args([name, &serving.pid().to_string()]).status().unwrap();
    assert!(status.success());
}

/// A figure of a server, read until it is so.
fn wait_for_figure(serving: &Serving, line: &str) {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let metrics = wire::request(serving.api.parse().unwrap(), "GET", "/metrics", &[], b"").body;
        if metrics.lines().any(|said| said == line) {
            return;
        }
        assert!(Instant::now() < until, "{line}\nis not in\n{metrics}");
    }
}

/// A receiver that takes nothing older than what it has.
#[derive(Default)]
struct Copy {
    revision: u64,
    active: bool,
}

impl Copy {
    fn take(&mut self, call: &Call) {
        if call.revision() > self.revision {
            let active = call.json()["entitlement"]["active"] == true;
            *self = Self { revision: call.revision(), active };
        }
    }
}

#[test]
fn p9_a_worker_that_stood_still_past_its_lease_can_record_nothing() {
    let receiver = Receiver::new(|before, _| if before == 0 { Act::Hold } else { Act::Say(200) });
    let place = place(&receiver);
    let config = std::fs::read_to_string(place.path("paidonce.toml")).unwrap();
    // Only the copy: what is told once has no newer state.
    let (head, copy) =
        (config.split("\n[[effect]]\nname = \"till\"").next().unwrap(), config.find("name = \"copy\""));
    place.write("paidonce.toml", &format!("{head}\n[[effect]]\n{}", &config[copy.unwrap()..]));
    place.place_order();
    let stale = place.serve();
    place.pay(&stale, &[]);
    receiver.wait_for(1);
    signal("-STOP", &stale);
    let other = place.serve();
    let synced = |tasks: &serde_json::Value| tasks["rows"][0]["state"] == "done";
    receiver.wait_for(2);
    place.wait_for(&["tasks", "list", "--kind", "sync"], synced);
    let refund = PAID
        .replace("evt_1", "evt_2")
        .replace("payment_intent.succeeded", "charge.refunded")
        .replace("\"id\":\"pi_1\"", "\"id\":\"ch_1\",\"payment_intent\":\"pi_1\"")
        .replace("\"object\":\"payment_intent\"", "\"object\":\"charge\"")
        .replace("\"amount_received\":1990", "\"amount_refunded\":1990");
    place.write("refund.json", &refund);
    let url = format!("http://{}/in/stripe", other.public);
    let sent = place.run(&["send", "refund.json", "--source", "stripe", "--url", &url]);
    assert_eq!(sent.code, 0, "{}{}", sent.out, sent.err);
    receiver.wait_for(3);
    place.wait_for(&["tasks", "list", "--kind", "sync"], synced);
    let before = place.json(&["tasks", "list"]);

    receiver.release();
    signal("-CONT", &stale);
    wait_for_figure(&stale, "paidonce_lease_losses_total{effect=\"copy\"} 1");
    assert_eq!(place.json(&["tasks", "list"]), before, "nothing of it was recorded");

    let calls = receiver.calls();
    assert_eq!(calls.len(), 3, "and nothing was sent after the deadline");
    let (first, again, revoked) = (&calls[0], &calls[1], &calls[2]);
    assert_eq!((first.key(), &first.body), (again.key(), &again.body));
    assert!(revoked.revision() > first.revision());
    // The stale one's call is the last that the receiver works off.
    let mut copy = Copy::default();
    [again, revoked, first].into_iter().for_each(|call| copy.take(call));
    assert!(!copy.active && copy.revision == revoked.revision());
    assert_eq!(place.run(&["audit"]).code, 0);
}
