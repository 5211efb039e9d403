//! `explain`: the sentence that a support person passes on.

use super::Place;

#[test]
fn paid_and_not_granted_says_what_is_missing_and_what_to_run() {
    let place = Place::new("off");
    place.place_order();
    let serving = place.serve();
    assert_eq!(place.pay(&serving, &[]).code, 0);
    let ran = place.run(&["explain", "1001"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for text in ["payment_intent.succeeded evt_1", "Paid, not granted yet", "next: paidonce serve"] {
        assert!(ran.out.contains(text), "{text}: {}", ran.out);
    }
}

#[test]
fn granted_says_so() {
    let place = Place::new("on");
    place.place_order();
    let serving = place.serve();
    assert_eq!(place.pay(&serving, &[]).code, 0);
    place
        .wait_for(&["orders", "show", "1001"], |order| !order["entitlements"].as_array().unwrap().is_empty());
    let ran = place.run(&["explain", "1001"]);
    assert!(ran.out.contains("Granted; paid") && ran.out.contains("granted to c1"), "{}", ran.out);
    let json = place.json(&["explain", "1001"]);
    assert_eq!(json["order"], "1001");
    assert!(json["timeline"].as_array().unwrap().len() >= 4, "{json}");
    assert!(json["next"].is_null());
}
