//! `events` and `cases`: what was received, and what is held.

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
