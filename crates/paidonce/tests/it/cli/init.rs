//! `init`: everything to begin with, and nothing overwritten.

use super::Place;

#[test]
fn init_writes_a_configuration_a_store_and_one_key() {
    let place = Place::empty();
    let ran = place.run(&["init"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for word in ["pk_", "/in/stripe", "payment_intent.succeeded", "env:STRIPE_WEBHOOK_SECRET"] {
        assert!(ran.out.contains(word), "{word}: {}", ran.out);
    }
    let keys = place.json(&["keys", "list"]);
    assert_eq!(keys[0]["name"], "admin");
    assert_eq!(keys[0]["scope"], "admin");
    let checked = place.run_with(&["config", "check"], &[("STRIPE_WEBHOOK_SECRET", "whsec_x")]);
    assert_eq!(checked.code, 0, "{}", checked.err);
}

#[test]
fn init_twice_changes_nothing() {
    let place = Place::empty();
    assert_eq!(place.run(&["init"]).code, 0);
    place.write("paidonce.toml", "# mine\n");
    let ran = place.run(&["init"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("exists already") && ran.err.contains("do: "), "{}", ran.err);
    assert_eq!(std::fs::read_to_string(place.path("paidonce.toml")).unwrap(), "# mine\n");
}

#[test]
fn init_beside_an_old_store_keeps_its_key() {
    let place = Place::empty();
    assert_eq!(place.run(&["init"]).code, 0);
    std::fs::remove_file(place.path("paidonce.toml")).unwrap();
    let made = place.json(&["init"]);
    assert!(made["key"].is_null(), "{made}");
}
