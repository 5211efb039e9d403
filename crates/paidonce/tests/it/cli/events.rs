//! `events` and `cases`: what was received, and what is held.

use std::sync::Arc;

use paidonce_contracts::{Contract, Stored};
use paidonce_ledger::{
    Account, Body, Command, Event, EventKey, EventOutcome, Mode, Policy, Receive, SourceName, Timestamp,
};
use paidonce_store::{SqliteOptions, SqliteStore, Store};

use super::{PAID, Place};

#[test]
fn an_event_is_listed_shown_and_printed_as_it_came() {
    let place = Place::new("off");
    place.place_order();
    let serving = place.serve();
    place.pay(&serving, &["--times", "2"]);
    let listed = place.json(&["events", "list", "--source", "stripe"]);
    assert_eq!(listed["rows"][0]["id"], "evt_1");
    assert_eq!(listed["rows"][0]["duplicates"], 1);
    let shown = place.run(&["events", "show", "evt_1"]);
    assert!(shown.out.contains("payment   pi_1") && !shown.out.contains("latest_charge"), "{}", shown.out);
    assert_eq!(place.run(&["events", "show", "evt_1", "--body"]).out, PAID);
}

#[test]
fn a_case_is_listed_and_shown_by_its_short_name() {
    let place = Place::new("off");
    let serving = place.serve();
    place.write("other.json", "not json");
    let url = format!("http://{}/in/stripe", serving.public);
    assert_eq!(place.run(&["send", "other.json", "--source", "stripe", "--url", &url]).code, 0);
    let listed = place.json(&["cases", "list"]);
    assert_eq!(listed["rows"][0]["reason"], "unreadable");
    let handle = listed["rows"][0]["handle"].as_str().unwrap().to_owned();
    let shown = place.run(&["cases", "show", &handle]);
    assert!(shown.out.contains("reason  unreadable") && shown.out.contains("state   open"), "{}", shown.out);
}

/// The payment of an order, received two days ago by a shop that keeps bodies for one.
fn paid_long_ago() -> Place {
    let place = Place::new("off");
    let config = std::fs::read_to_string(place.path("paidonce.toml")).unwrap();
    place.write("paidonce.toml", &format!("[policy]\nbody_retention_days = 1\n{config}"));
    place.place_order();
    let name = |text: &str| text.parse().unwrap();
    let account = Account { provider: name("stripe"), name: name("main"), mode: Mode::Test };
    let key = EventKey { account: account.clone(), id: "evt_1".parse().unwrap() };
    let source: SourceName = "stripe".parse().unwrap();
    let body = Body::new(PAID.as_bytes());
    // The contract reads rows only.
    let row = Event {
        source: source.clone(),
        kind: Arc::from(""),
        outcome: EventOutcome::Ignored,
        payment: None,
        content: body.digest(),
        body,
        dropped_at: None,
        received_at: Timestamp(0),
        duplicates: 0,
        last_at: Timestamp(0),
        trace: None,
    };
    let notice = Contract::builtin("stripe", None).unwrap().read_stored(&Stored::of(&key, &row));
    let receive = Receive { source, account, notices: vec![notice], trace: None };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let then = Timestamp(i64::try_from(now).unwrap() - 2 * 86_400_000);
    let store = SqliteStore::open(place.path("test.db"), SqliteOptions::default()).unwrap();
    store.commit(&[Command::Receive(receive)], then, &Policy::default()).unwrap();
    place
}

#[test]
fn a_body_that_was_dropped_is_said_to_be_wherever_it_was_shown() {
    let place = paid_long_ago();
    let shown = |args: &[&str]| place.run(&[&["events", "show", "evt_1"], args].concat());
    assert_eq!(shown(&["--body"]).out, PAID);
    assert_eq!(place.json(&["sweep"])["swept"], 1);
    assert_eq!(place.json(&["sweep"])["swept"], 0, "once");
    let digest = Body::new(PAID.as_bytes()).digest().to_hex();
    let text = shown(&[]).out;
    assert!(text.contains("body      dropped at 2") && text.contains(&digest), "{text}");
    let body = shown(&["--body"]);
    assert_eq!((body.code, body.out.as_str()), (1, ""));
    assert!(body.err.contains("the body of event evt_1 was dropped at 2"), "{}", body.err);
    let story = place.run(&["explain", "1001"]).out;
    assert!(story.contains("evt_1: its body was dropped") && story.contains("Paid"), "{story}");
    let again = place.json(&["events", "reprocess", "--event", "evt_1"]);
    let row = &again["rows"][0];
    assert_eq!((&row["becomes"], &row["changes"]), (&"applied".into(), &false.into()), "{again:#}");
    assert!(row["detail"].as_str().unwrap().contains("its body was dropped at 2"), "{again:#}");
    assert_eq!(place.json(&["audit"])["violations"], serde_json::json!([]));
}

#[test]
fn a_server_drops_bodies_whose_time_is_over_and_still_knows_their_events() {
    let place = paid_long_ago();
    let key = place.json(&["keys", "add", "shop"])["key"].as_str().unwrap().to_owned();
    let serving = place.serve();
    let listed = place.wait_for(&["events", "list"], |list| !list["rows"][0]["body_dropped_at"].is_null());
    assert!(listed["rows"][0]["body_bytes"].is_null(), "{listed:#}");
    let url = format!("http://{}", serving.api);
    let remote = ["--json", "--server", &url, "--key", "env:PAIDONCE_TEST_KEY", "events", "list"];
    let remote = place.run_with(&remote, &[("PAIDONCE_TEST_KEY", &key)]);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&remote.out).unwrap(), listed);
    // P2: Stripe sends it once more.
    let sent = place.pay(&serving, &[]);
    assert!(sent.code == 0 && sent.out.contains("duplicate"), "{}{}", sent.out, sent.err);
    let listed = place.json(&["events", "list"]);
    assert_eq!(
        (&listed["rows"][0]["duplicates"], &listed["rows"][0]["body_bytes"]),
        (&1.into(), &serde_json::Value::Null)
    );
}
