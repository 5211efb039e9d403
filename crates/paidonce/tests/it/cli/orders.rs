//! `orders` and `references`: place, list, show, cancel.

use super::Place;

#[test]
fn an_order_is_placed_listed_and_shown() {
    let place = Place::new("on");
    place.place_order();
    let listed = place.run(&["orders", "list"]);
    assert!(listed.out.contains("1001") && listed.out.contains("unpaid"), "{}", listed.out);
    let shown = place.run(&["orders", "show", "1001"]);
    assert!(shown.out.contains("19.90 EUR") && shown.out.contains("stripe/main/test pi_1"), "{}", shown.out);
    let json = place.json(&["orders", "show", "1001"]);
    assert_eq!(json["id"], "1001");
    assert_eq!(json["standing"], "unpaid");
    assert_eq!(json["total"]["amount"], "19.90");
    assert_eq!(json["lines"][0]["sku"], "ebook");
    let json = place.json(&["orders", "list", "--customer", "c1"]);
    assert_eq!(json["rows"][0]["id"], "1001");
    assert!(json["next"].is_null());
    assert!(place.json(&["orders", "list", "--customer", "c2"])["rows"].as_array().unwrap().is_empty());
}

#[test]
fn the_same_order_again_is_the_same_and_another_content_is_refused() {
    let place = Place::new("on");
    place.place_order();
    place.place_order();
    let other = place.run(&["orders", "add", "--id", "1001", "--line", "ebook", "--total", "5.00 EUR"]);
    assert_eq!(other.code, 1);
    assert!(other.err.contains("order_exists"), "{}", other.err);
}

#[test]
fn an_order_without_an_id_gets_one() {
    let place = Place::new("on");
    let placed = place.json(&["orders", "add", "--line", "ebook", "--total", "500 JPY"]);
    assert!(placed["id"].as_str().unwrap().starts_with("ord_"));
    assert!(placed["hint"].as_str().unwrap().starts_with("po_"));
}

#[test]
fn an_order_is_cancelled_with_a_reason() {
    let place = Place::new("on");
    place.place_order();
    assert_eq!(place.run(&["orders", "cancel", "1001"]).code, 2);
    let cancelled = place.json(&["orders", "cancel", "1001", "--reason", "changed their mind"]);
    assert_eq!(cancelled["state"], "cancelled");
    assert_eq!(cancelled["standing"], "closed");
}

#[test]
fn what_is_not_there_is_said_so() {
    let place = Place::new("on");
    for args in [["orders", "show", "404"], ["cases", "show", "404"], ["events", "show", "404"]] {
        let ran = place.run(&args);
        assert_eq!(ran.code, 1, "{args:?}");
        assert!(ran.err.contains("there is no") && ran.err.contains("do: "), "{}", ran.err);
    }
}

#[test]
fn bad_money_and_unknown_sources_are_usage_errors() {
    let place = Place::new("on");
    for total in ["19.905 EUR", "-1 EUR", "19.90", "19.90 XYZ"] {
        let total = format!("--total={total}");
        let ran = place.run(&["orders", "add", "--line", "ebook", &total]);
        assert_eq!(ran.code, 2, "{total}: {}", ran.err);
    }
    let ran = place.run(&["orders", "add", "--line", "e", "--total", "1 EUR", "--reference", "strip=pi_1"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("stripe"), "{}", ran.err);
}

#[test]
fn a_reference_is_registered_afterwards_and_belongs_to_one_order() {
    let place = Place::new("on");
    place.place_order();
    let order = place.json(&["references", "add", "1001", "stripe=cs_1"]);
    assert_eq!(order["references"].as_array().unwrap().len(), 2);
    place.json(&["orders", "add", "--id", "1002", "--line", "ebook", "--total", "1.00 EUR"]);
    let taken = place.run(&["references", "add", "1002", "stripe=cs_1"]);
    assert_eq!(taken.code, 1);
    assert!(taken.err.contains("reference_taken"), "{}", taken.err);
}
