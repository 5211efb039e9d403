//! `entitlements`: may this customer have this?

use super::Place;

#[test]
fn check_answers_by_its_exit_code() {
    let place = Place::new("on");
    place.place_order();
    let check = ["entitlements", "check", "--customer", "c1", "--sku", "ebook"];
    let no = place.run(&check);
    assert_eq!((no.code, no.out.starts_with("No: ")), (1, true), "{}", no.out);
    let serving = place.serve();
    place.pay(&serving, &[]);
    place.wait_for(&["entitlements", "list"], |list| !list["rows"].as_array().unwrap().is_empty());
    let yes = place.run(&check);
    assert_eq!((yes.code, yes.out.starts_with("Yes: ")), (0, true), "{}", yes.out);
    assert_eq!(place.json(&check)["entitled"], true);
}
