//! `send`: like a provider, and like somebody who is none.

use super::Place;

#[test]
fn every_way_of_sending_is_answered_as_it_must() {
    let place = Place::new("off");
    place.place_order();
    let serving = place.serve();
    let dropped = place.pay(&serving, &["--drop-response"]);
    assert_eq!(dropped.code, 0, "{}", dropped.err);
    assert!(dropped.out.contains("not read"), "{}", dropped.out);
    let again = place.pay(&serving, &[]);
    assert!(again.out.contains("duplicate") || again.out.contains("200"), "{}", again.out);
    let many = place.pay(&serving, &["--times", "3", "--concurrent", "4"]);
    assert_eq!(many.code, 0, "{}", many.err);
    assert_eq!(many.out.lines().count(), 13, "{}", many.out);
    for forged in [&["--tamper"][..], &["--at", "600"]] {
        let ran = place.pay(&serving, forged);
        assert_eq!(ran.code, 1, "{}", ran.out);
        assert!(ran.out.contains("401"), "{}", ran.out);
    }
    assert_eq!(place.json(&["events", "list"])["rows"][0]["duplicates"], 13);
}

#[test]
fn a_server_that_is_not_there_is_unavailable() {
    let place = Place::new("off");
    place.write("paid.json", super::PAID);
    let url = "http://127.0.0.1:1/in/stripe";
    let ran = place.run(&["send", "paid.json", "--source", "stripe", "--url", url]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    let ran = place.run(&["send", "paid.json", "--source", "strip", "--url", url]);
    assert_eq!(ran.code, 2, "{}", ran.err);
}
