//! `--help`, completions, contracts: what needs no configuration.

use super::Place;

#[test]
fn help_tells_the_commands_and_the_exit_codes() {
    let ran = Place::empty().run(&["--help"]);
    assert_eq!(ran.code, 0);
    for word in ["init", "serve", "demo", "send", "orders", "explain", "audit", "Exit codes:", "  3  "] {
        assert!(ran.out.contains(word), "{word}: {}", ran.out);
    }
}

#[test]
fn an_unknown_command_is_a_usage_error_with_a_suggestion() {
    let ran = Place::empty().run(&["order", "list"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("orders"), "{}", ran.err);
}

#[test]
fn completions_and_contracts_need_no_configuration() {
    let place = Place::empty();
    assert!(place.run(&["completions", "bash"]).out.contains("paidonce"));
    assert!(place.run(&["contract", "list"]).out.contains("stripe"));
    assert!(place.run(&["contract", "show", "stripe"]).out.contains("Stripe-Signature"));
    assert_eq!(place.run(&["contract", "show", "strype"]).code, 1);
}
