//! `config`, and what every command says about a wrong one.

use super::Place;

#[test]
fn a_misspelt_key_is_refused_with_its_line_and_a_suggestion() {
    let place = Place::empty();
    place.write("paidonce.toml", "[server]\npublc = \"127.0.0.1:0\"\n");
    let ran = place.run(&["config", "check"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("paidonce.toml:2") && ran.err.contains("public"), "{}", ran.err);
}

#[test]
fn a_missing_configuration_says_what_to_do() {
    let ran = Place::empty().run(&["orders", "list"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("paidonce init"), "{}", ran.err);
}

#[test]
fn a_missing_secret_is_found_by_check_and_not_needed_by_orders() {
    let place = Place::new("on");
    let text = std::fs::read_to_string(place.path("paidonce.toml")).unwrap();
    place.write("paidonce.toml", &text.replace("PAIDONCE_TEST_SECRET", "PAIDONCE_TEST_NOT_SET"));
    let ran = place.run(&["config", "check"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("PAIDONCE_TEST_NOT_SET"), "{}", ran.err);
    place.place_order();
}

#[test]
fn show_names_secrets_by_their_place() {
    let ran = Place::new("on").run(&["config", "show"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("env:PAIDONCE_TEST_SECRET"), "{}", ran.out);
    assert!(!ran.out.contains("whsec_of_these_tests"));
}

#[test]
fn a_store_that_cannot_be_opened_is_unavailable() {
    let place = Place::new("on");
    let text = std::fs::read_to_string(place.path("paidonce.toml")).unwrap();
    place.write("paidonce.toml", &text.replace("sqlite:test.db", "sqlite:no/such/folder/test.db"));
    let ran = place.run(&["orders", "list"]);
    assert_eq!(ran.code, 4, "{}", ran.err);
}

#[test]
fn a_store_in_memory_is_the_servers_own() {
    let place = Place::new("on");
    let text = std::fs::read_to_string(place.path("paidonce.toml")).unwrap();
    place.write("paidonce.toml", &text.replace("sqlite:test.db", "memory:"));
    let ran = place.run(&["orders", "list"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--server"), "{}", ran.err);
}

#[test]
fn p14_a_stores_address_is_shown_without_its_password() {
    for url in [
        "postgres://me:canary@127.0.0.1:1/db",
        "mysql://me:canary@127.0.0.1:1/db",
        "nats://me:can@ary@127.0.0.1:1/b",
    ] {
        let place = Place::new("on");
        let text = std::fs::read_to_string(place.path("paidonce.toml")).unwrap();
        place.write("paidonce.toml", &text.replace("sqlite:test.db", url));
        let (shown, listed) = (place.run(&["config", "show"]), place.run(&["orders", "list"]));
        assert_eq!((shown.code, listed.code), (0, 4), "{}{}", shown.err, listed.err);
        let said = [shown.out, shown.err, listed.out, listed.err].concat();
        assert!(said.contains("://127.0.0.1:1/"), "{said}");
        assert!(!said.contains("ary"), "{said}");
    }
}

#[test]
fn a_stores_address_may_stand_in_the_environment_or_in_a_file() {
    let place = Place::new("on");
    let text = std::fs::read_to_string(place.path("paidonce.toml")).unwrap();
    place.write("paidonce.toml", &text.replace("sqlite:test.db", "env:PAIDONCE_TEST_STORE"));
    let ran = place.run(&["orders", "list"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("PAIDONCE_TEST_STORE is not set"), "{}", ran.err);
    let ran = place.run_with(&["orders", "list"], &[("PAIDONCE_TEST_STORE", "sqlite:elsewhere.db")]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(place.path("elsewhere.db").exists());
    place.write("address", "sqlite:third.db\n");
    place.write("paidonce.toml", &text.replace("sqlite:test.db", "file:address"));
    assert_eq!(place.run(&["orders", "list"]).code, 0);
    assert!(place.path("third.db").exists());
}
