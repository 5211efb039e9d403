//! What a person does: each command on the store itself and through `--server`, with its name and reason in the audit.

use paidonce_ledger::{OrderId, TaskKey, Unit};
use serde_json::Value;

use super::{Place, Ran, Serving};

/// One of the two ways to the ledger.
struct Way<'a> {
    place: &'a Place,
    global: Vec<String>,
    key: String,
    by: &'static str,
}

impl Way<'_> {
    fn run(&self, args: &[&str]) -> Ran {
        let global: Vec<_> = self.global.iter().map(String::as_str).collect();
        self.place.run_with(&[&global[..], args].concat(), &[("PAIDONCE_TEST_KEY", &self.key)])
    }

    fn json(&self, args: &[&str]) -> Value {
        let ran = self.run(&[&["--json"], args].concat());
        assert_eq!(ran.code, 0, "{} {args:?}: {}", self.by, ran.err);
        serde_json::from_str(&ran.out).unwrap()
    }

    /// The newest row of the audit.
    fn audited(&self, action: &str, subject: &str) {
        let log = self.json(&["audit", "log", "--limit", "1"]);
        let row = &log["rows"][0];
        assert_eq!((&row["by"], &row["action"]), (&self.by.into(), &action.into()), "{log:#}");
        assert_eq!((&row["subject"], &row["reason"]), (&subject.into(), &"as asked".into()), "{log:#}");
    }
}

/// Runs a test on a place of its own for each way, with a server that grants or does not.
fn both(grant: &str, test: impl Fn(&Way<'_>, &Serving)) {
    for remote in [false, true] {
        let place = Place::new(grant);
        place.place_order();
        let key = place.json(&["keys", "add", "shop"])["key"].as_str().unwrap().to_owned();
        let serving = place.serve();
        let url = format!("http://{}", serving.api);
        let global = ["--server", url.as_str(), "--key", "env:PAIDONCE_TEST_KEY"].map(str::to_owned);
        let global = if remote { global.to_vec() } else { Vec::new() };
        let by = if remote { "shop" } else { "tester" };
        test(&Way { place: &place, global, key, by }, &serving);
    }
}

fn send(place: &Place, serving: &Serving, body: &str) {
    place.write("body.json", body);
    let url = format!("http://{}/in/stripe", serving.public);
    let ran = place.run(&["send", "body.json", "--source", "stripe", "--url", &url]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
}

const WHY: [&str; 2] = ["--reason", "as asked"];

#[test]
fn cases_are_noted_accepted_and_rejected() {
    both("off", |way, serving| {
        send(way.place, serving, &super::PAID.replace("1990", "1000"));
        let open = way.json(&["cases", "list"]);
        let handle = open["rows"][0]["handle"].as_str().unwrap();
        let subject = format!("case {handle} amount_short order 1001");
        let noted = way.json(&["cases", "resolve", handle, "--note", WHY[0], WHY[1]]);
        assert_eq!(noted["open"], true);
        way.audited("resolve_case", &subject);
        let rejected = way.json(&["cases", "resolve", handle, "--reject", WHY[0], WHY[1]]);
        assert_eq!(rejected["resolution"]["note"], "rejected: as asked");
        way.audited("resolve_case", &subject);
        let again = way.run(&["cases", "resolve", handle, "--accept", WHY[0], WHY[1]]);
        assert_eq!((again.code, again.err.contains("ended before")), (1, true), "{}", again.err);
        let none = way.run(&["cases", "resolve", "000000000000", "--accept", WHY[0], WHY[1]]);
        assert_eq!((none.code, none.err.contains("there is no")), (1, true), "{}", none.err);
    });
}

#[test]
fn a_payment_is_bound() {
    both("off", |way, serving| {
        let other = ["orders", "add", "--id", "1002", "--line", "ebook", "--total", "19.90 EUR"];
        assert_eq!(way.run(&other).code, 0);
        let hint = way.json(&["orders", "show", "1002"])["hint"].as_str().unwrap().to_owned();
        send(way.place, serving, &super::PAID.replace("{}", &format!("{{\"paidonce\":\"{hint}\"}}")));
        let open = way.json(&["cases", "list"]);
        assert_eq!(open["rows"][0]["reason"], "names_two_orders", "{open:#}");
        let handle = open["rows"][0]["handle"].as_str().unwrap();
        let bound = way.json(&["cases", "resolve", handle, "--bind", "1002", WHY[0], WHY[1]]);
        assert_eq!(bound["open"], false);
        way.audited("resolve_case", &format!("case {handle} names_two_orders payment stripe/main/test pi_1"));
        assert_eq!(way.json(&["orders", "show", "1002"])["standing"], "paid");
        assert_eq!(way.json(&["orders", "show", "1001"])["standing"], "unpaid");
    });
}

#[test]
fn a_task_is_stopped_and_retried() {
    both("off", |way, serving| {
        let grant = TaskKey::grant(OrderId::new("1001").unwrap(), Unit::Order).handle();
        assert_eq!(way.run(&["tasks", "cancel", &grant, WHY[0], WHY[1]]).code, 1, "there is none yet");
        assert_eq!(way.place.pay(serving, &[]).code, 0);
        let stopped = way.json(&["tasks", "cancel", &grant, WHY[0], WHY[1]]);
        assert_eq!(stopped["task"]["state"], "stopped");
        way.audited("cancel_task", "order 1001 order grant");
        assert_eq!(way.json(&["tasks", "list", "--state", "stopped"])["rows"][0]["order"], "1001");
        let retried = way.json(&["tasks", "retry", &grant, WHY[0], WHY[1]]);
        assert_eq!(retried["task"]["state"], "pending");
        way.audited("retry_task", "order 1001 order grant");
    });
}

#[test]
fn an_entitlement_is_taken_back_and_given_back() {
    both("on", |way, serving| {
        let none = way.run(&["entitlements", "revoke", "1001", WHY[0], WHY[1]]);
        assert_eq!((none.code, none.err.contains("nothing is granted")), (1, true), "{}", none.err);
        assert_eq!(way.place.pay(serving, &[]).code, 0);
        way.place.wait_for(&["entitlements", "list"], |list| !list["rows"].as_array().unwrap().is_empty());
        let revoked = way.json(&["entitlements", "revoke", "1001", WHY[0], WHY[1]]);
        assert_eq!(
            (&revoked["rows"][0]["active"], &revoked["rows"][0]["revoked_by"]),
            (&false.into(), &way.by.into())
        );
        way.audited("revoke_entitlement", "order 1001 order");
        let shown = way.run(&["orders", "show", "1001"]).out;
        assert!(shown.contains(&format!("revoked by {}", way.by)), "{shown}");
        let given = way.json(&["entitlements", "reinstate", "1001", "order", WHY[0], WHY[1]]);
        assert_eq!(
            (&given["rows"][0]["active"], &given["rows"][0]["kept_by"]),
            (&true.into(), &way.by.into())
        );
        way.audited("reinstate_entitlement", "order 1001 order");
    });
}

#[test]
fn an_order_is_cancelled_and_revived() {
    both("off", |way, _| {
        assert_eq!(way.json(&["orders", "cancel", "1001", WHY[0], WHY[1]])["state"], "cancelled");
        way.audited("cancel_order", "order 1001");
        assert_eq!(way.json(&["orders", "revive", "1001", WHY[0], WHY[1]])["state"], "open");
        way.audited("revive_order", "order 1001");
        assert_eq!(way.run(&["orders", "revive", "404", WHY[0], WHY[1]]).code, 1);
    });
}

#[test]
fn money_outside_is_noted_and_taken_back() {
    both("off", |way, _| {
        let receipt = ["--id", "receipt-7", "--money", "19.90 EUR", WHY[0], WHY[1]];
        let run = |command: &str| way.json(&[&["orders", command, "1001"], &receipt[..]].concat());
        let early = way.run(&[&["orders", "unmark-paid", "1001"], &receipt[..]].concat());
        assert_eq!((early.code, early.err.contains("no such payment")), (1, true), "{}", early.err);
        assert_eq!(run("mark-paid")["standing"], "paid");
        way.audited("mark_paid_outside", "order 1001 receipt-7 19.90 EUR");
        let cash = ["--id", "cash-1", "--money", "4.90 EUR", "--payment", "receipt-7", WHY[0], WHY[1]];
        let refunded = way.json(&[&["orders", "mark-refunded", "1001"], &cash[..]].concat());
        assert_eq!(refunded["standing"], "part_refunded");
        way.audited("mark_refunded_outside", "order 1001 cash-1 4.90 EUR");
        assert_eq!(run("unmark-paid")["standing"], "refunded");
        way.audited("reverse_paid_outside", "order 1001 receipt-7 19.90 EUR");
        let unknown = ["--id", "c", "--money", "1 EUR", "--payment", "strip=pi_1", WHY[0], WHY[1]];
        let ran = way.run(&[&["orders", "mark-refunded", "1001"], &unknown[..]].concat());
        assert_eq!((ran.code, ran.err.contains("stripe")), (2, true), "{}", ran.err);
    });
}

#[test]
fn without_a_reason_or_with_two_decisions_nothing_is_asked() {
    let place = Place::new("off");
    place.place_order();
    let before = place.json(&["audit", "log"]);
    for args in [
        &["cases", "resolve", "x", "--accept"][..],
        &["cases", "resolve", "x", "--reason", "r"],
        &["cases", "resolve", "x", "--accept", "--note", "--reason", "r"],
        &["cases", "resolve", "x", "--accept", "--bind", "1001", "--reason", "r"],
        &["tasks", "cancel", "1001"],
        &["entitlements", "revoke", "1001"],
        &["entitlements", "reinstate", "1001", "--reason", " "],
        &["orders", "cancel", "1001", "--reason", ""],
        &["orders", "revive", "1001", "--reason", "two\nlines"],
        &["orders", "mark-paid", "1001", "--id", "r", "--money", "1 EUR"],
        &["orders", "mark-refunded", "1001", "--id", "r", "--money", "1 EUR", "--reason", "r"],
        &["orders", "mark-paid", "1001", "--id", "r", "--money", "0 EUR", "--reason", "r"],
        &["events", "reprocess", "--apply"],
        &["events", "reprocess", "--source", "strip"],
    ] {
        let ran = place.run(args);
        assert_eq!(ran.code, 2, "{args:?}: {}{}", ran.out, ran.err);
    }
    assert_eq!(place.json(&["audit", "log"]), before);
}
