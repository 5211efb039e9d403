//! `events reprocess`: events that came while a contract was wrong, and what becomes of them once it is mended.

use paidonce_ledger::Ledger;
use paidonce_store::{SqliteOptions, SqliteStore, Store};
use serde_json::Value;

use super::{Place, Ran, Serving};

/// A contract that looks for the payment where it is not, and has not learnt one type.
const WRONG: &str = r#"format = 1
provider = "kiosk"
title = "The kiosk's own"
docs = []
[signature]
header = "X-Signature"
grammar = "plain"
signed = ["{body}"]
mac = "hmac-sha256"
key = "utf8"
encoding = "hex"
[read]
id = "id"
type = "type"
payment = "payment.number"
hints = ["payment.order"]
[money]
shape = "decimal"
currency = "payment.currency"
[[event]]
type = "paid"
facts = [{ kind = "captured", state = "settled", amount = "payment.amount" }]
[acknowledge]
status = 200
"#;

const LEARNT: &str = r#"
[[event]]
type = "returned"
facts = [{ kind = "refunded", state = "succeeded", id = "refund.id", amount = "refund.amount" }]
"#;

fn kiosk() -> Place {
    let place = Place::empty();
    place.write("kiosk.toml", WRONG);
    place.write(
        "paidonce.toml",
        "[server]\npublic = \"127.0.0.1:0\"\n[store]\nurl = \"sqlite:test.db\"\n[log]\nlevel = \"warn\"\n\
         [[source]]\nname = \"kiosk\"\ncontract_file = \"kiosk.toml\"\naccount = \"main\"\nmode = \"test\"\n\
         hints = \"own_ids\"\nsecrets = [\"env:PAIDONCE_TEST_SECRET\"]\n",
    );
    for id in ["1001", "1002"] {
        let add = ["orders", "add", "--id", id, "--line", "ebook", "--total", "19.90 EUR"];
        assert_eq!(place.run(&add).code, 0);
    }
    place
}

fn mend(place: &Place) {
    let learnt = WRONG.replace("[acknowledge]", &format!("{LEARNT}[acknowledge]"));
    place.write("kiosk.toml", &learnt.replace("payment.number", "payment.id"));
}

fn send(place: &Place, serving: &Serving, kind: &str, number: u32, more: &str) {
    let payment = format!(r#"{{"id":"p{number}","order":"{number}","amount":"19.90","currency":"EUR"}}"#);
    place.write(
        "body.json",
        &format!(r#"{{"id":"{kind}-{number}","type":"{kind}","payment":{payment}{more}}}"#),
    );
    let url = format!("http://{}/in/kiosk", serving.public);
    let ran = place.run(&["send", "body.json", "--source", "kiosk", "--url", &url]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
}

/// Two orders are paid, and one of them gets its money back; nothing of it can be read.
fn misread(place: &Place) {
    let serving = place.serve();
    send(place, &serving, "paid", 1001, "");
    send(place, &serving, "paid", 1002, "");
    send(place, &serving, "returned", 1002, r#","refund":{"id":"r1","amount":"19.90"}"#);
    send(place, &serving, "greeting", 1001, "");
}

fn snapshot(place: &Place) -> Ledger {
    SqliteStore::open(place.path("test.db"), SqliteOptions::default()).unwrap().snapshot().unwrap()
}

fn row<'a>(read: &'a Value, id: &str) -> &'a Value {
    let rows = read["rows"].as_array().unwrap();
    rows.iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("no {id}: {read:#}"))
}

fn looks_right(dry: &Value) {
    assert_eq!((&dry["applied"], &dry["looked_at"]), (&false.into(), &4.into()), "{dry:#}");
    assert_eq!(dry["rows"].as_array().unwrap().len(), 3, "the greeting stays ignored: {dry:#}");
    let paid = row(dry, "paid-1001");
    assert_eq!((&paid["before"], &paid["becomes"]), (&"unreadable".into(), &"accepted".into()));
    assert_eq!((&paid["order"], &paid["standing"]["after"]), (&"1001".into(), &"paid".into()));
    assert_eq!(paid["tasks"][0]["state"], "pending");
    assert_eq!(
        (&paid["cases"][0]["reason"], &paid["cases"][0]["open"]),
        (&"unreadable".into(), &false.into())
    );
    let returned = row(dry, "returned-1002");
    // Alone, it is the refund of a payment that has no money yet and no way to its order but its hint.
    assert_eq!((&returned["before"], &returned["changes"]), (&"ignored".into(), &true.into()), "{dry:#}");
}

fn applied_right(place: &Place, done: &Value, by: &str) {
    assert_eq!(done["applied"], true);
    assert_eq!(row(done, "paid-1001")["becomes"], "accepted", "{done:#}");
    assert_eq!(place.json(&["orders", "show", "1001"])["standing"], "paid");
    assert_eq!(place.json(&["orders", "show", "1002"])["standing"], "refunded");
    assert!(place.json(&["cases", "list"])["rows"].as_array().unwrap().is_empty());
    let log = place.json(&["audit", "log"]);
    let again: Vec<_> =
        log["rows"].as_array().unwrap().iter().filter(|row| row["action"] == "reprocess").collect();
    assert_eq!(again.len(), 3, "{log:#}");
    for row in again {
        assert_eq!((&row["by"], &row["reason"]), (&by.into(), &"the contract is mended".into()));
    }
}

const DRY: [&str; 3] = ["events", "reprocess", "--ignored"];
const APPLY: [&str; 6] =
    ["events", "reprocess", "--ignored", "--apply", "--reason", "the contract is mended"];

#[test]
fn on_the_store_a_mended_contract_pays_and_grants_what_was_stored() {
    let place = kiosk();
    misread(&place);
    let before = snapshot(&place);
    assert_eq!(place.json(&["events", "reprocess"])["rows"][0]["becomes"], "unreadable", "not mended yet");
    mend(&place);
    looks_right(&place.json(&DRY));
    let text = place.run(&DRY);
    for part in
        ["unpaid -> paid", "ends unreadable", "grant order pending", "4 event(s) looked at, 3 would change"]
    {
        assert!(text.out.contains(part), "{part}: {}", text.out);
    }
    assert!(snapshot(&place) == before, "a dry run changes nothing");
    applied_right(&place, &place.json(&APPLY), "tester");
    let after = snapshot(&place);
    let again = place.json(&APPLY);
    assert!(again["rows"].as_array().unwrap().is_empty(), "{again:#}");
    assert!(snapshot(&place) == after, "a second time changes nothing");
    // Whatever was committed beside the server is granted when it runs.
    let _serving = place.serve();
    place.wait_for(&["entitlements", "list"], |list| list["rows"][0]["order"] == "1001");
    assert_eq!(place.json(&["audit"])["violations"], Value::Array(Vec::new()));
}

#[test]
fn a_server_that_was_started_again_does_the_same() {
    let place = kiosk();
    let key = place.json(&["keys", "add", "shop"])["key"].as_str().unwrap().to_owned();
    misread(&place);
    mend(&place);
    let serving = place.serve();
    let url = format!("http://{}", serving.api);
    let remote = |args: &[&str]| -> Ran {
        let global = ["--server", &url, "--key", "env:PAIDONCE_TEST_KEY"];
        place.run_with(&[&global[..], args].concat(), &[("PAIDONCE_TEST_KEY", &key)])
    };
    let read = |args: &[&str]| -> Value {
        let ran = remote(&[&["--json"], args].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        serde_json::from_str(&ran.out).unwrap()
    };
    let before = snapshot(&place);
    looks_right(&read(&DRY));
    assert_eq!(remote(&DRY).out, place.run(&DRY).out, "both ways tell the same");
    assert!(snapshot(&place) == before);
    applied_right(&place, &read(&APPLY), "shop");
    place.wait_for(&["entitlements", "list"], |list| list["rows"][0]["order"] == "1001");
    let after = snapshot(&place);
    assert!(read(&APPLY)["rows"].as_array().unwrap().is_empty());
    assert!(snapshot(&place) == after);
    assert_eq!(remote(&["events", "reprocess", "--event", "nobody"]).code, 1);
}
