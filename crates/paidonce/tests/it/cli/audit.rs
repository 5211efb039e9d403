//! `audit`: every promise, on the store as it is.

use super::Place;

#[test]
fn a_store_that_was_used_is_clean() {
    let place = Place::new("on");
    place.place_order();
    let serving = place.serve();
    place.pay(&serving, &["--concurrent", "8"]);
    let ran = place.run(&["audit"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("Every promise holds"), "{}", ran.out);
    let json = place.json(&["audit"]);
    assert_eq!(json["checked"]["orders"], 1);
    assert!(json["violations"].as_array().unwrap().is_empty());
}

#[test]
fn what_no_longer_holds_is_found_and_ends_with_3() {
    let place = Place::new("off");
    place.place_order();
    let serving = place.serve();
    place.pay(&serving, &[]);
    place.write("refund.json", REFUND);
    let url = format!("http://{}/in/stripe", serving.public);
    assert_eq!(place.run(&["send", "refund.json", "--source", "stripe", "--url", &url]).code, 0);
    drop(serving);
    assert_eq!(place.run(&["audit"]).code, 0);
    // Decided under the other policy, the grant would not be due.
    let text = std::fs::read_to_string(place.path("paidonce.toml")).unwrap();
    place.write("paidonce.toml", &format!("{text}\n[policy]\nrefund_blocks = \"any\"\n"));
    let ran = place.run(&["audit"]);
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("P8") && ran.out.contains("violation(s)"), "{}", ran.out);
}

const REFUND: &str = r#"{"id":"evt_2","object":"event","livemode":false,"type":"refund.created","data":{"object":
{"id":"re_1","object":"refund","amount":500,"charge":"ch_1","currency":"eur","payment_intent":"pi_1",
"status":"succeeded"}}}"#;

#[test]
fn the_log_tells_who_did_what_to_an_order_newest_first() {
    let place = Place::new("off");
    place.place_order();
    place.json(&["orders", "add", "--id", "1001 b", "--line", "ebook", "--total", "1.00 EUR"]);
    place.json(&["orders", "add", "--id", "10010", "--line", "ebook", "--total", "1.00 EUR"]);
    let serving = place.serve();
    place.write("short.json", &super::PAID.replace("1990", "1000"));
    let url = format!("http://{}/in/stripe", serving.public);
    assert_eq!(place.run(&["send", "short.json", "--source", "stripe", "--url", &url]).code, 0);
    let handle = place.json(&["cases", "list"])["rows"][0]["handle"].as_str().unwrap().to_owned();
    place.json(&["--by", "ann", "cases", "resolve", &handle, "--accept", "--reason", "goodwill"]);
    place.json(&["orders", "cancel", "1001 b", "--reason", "another order"]);
    let log = place.json(&["audit", "log", "--order", "1001"]);
    let actions: Vec<_> =
        log["rows"].as_array().unwrap().iter().map(|row| row["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["resolve_case", "place_order"], "{log:#}");
    assert_eq!((&log["rows"][0]["by"], &log["rows"][0]["reason"]), (&"ann".into(), &"goodwill".into()));
    assert_eq!(place.json(&["audit", "log"])["rows"].as_array().unwrap().len(), 5);
    assert_eq!(place.json(&["audit", "log", "--limit", "2"])["rows"].as_array().unwrap().len(), 2);
    assert_eq!(place.json(&["audit", "log", "--who", "ann"])["rows"].as_array().unwrap().len(), 1);
    assert!(place.run(&["audit", "log", "--order", "none"]).out.contains("Nobody did anything"));
    assert!(place.run(&["audit", "log"]).out.contains("another order"));
}
