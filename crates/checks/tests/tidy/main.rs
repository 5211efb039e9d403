//! Tidy tests: habits of the house that a compiler does not hold, and benchmarks that must still fit. Each rule is a function from a file's text to what
//! is wrong with it, and is shown to fail on a bad text beside its definition.

mod naive;
mod promise;
mod rule;
mod tree;

use rule::Rule;
use tree::{File, files};

/// Applies a rule to every file that `takes` says; fails with all findings at once.
fn hold(rule: Rule, takes: fn(&File) -> bool) {
    let taken: Vec<_> = files().into_iter().filter(takes).collect();
    assert!(!taken.is_empty(), "the rule looks at no file at all");
    let found: Vec<_> = taken
        .iter()
        .flat_map(|file| rule(file).into_iter().map(|what| format!("{}: {what}", file.path)))
        .collect();
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn every_source_file_says_what_it_is() {
    hold(rule::begins_with_its_purpose, File::is_source);
}

#[test]
fn no_source_file_holds_two_things() {
    hold(rule::is_short, File::is_source);
}

#[test]
fn no_file_or_module_has_a_name_that_says_nothing() {
    hold(rule::is_named_for_something, File::is_rust);
}

#[test]
fn nothing_is_left_to_do() {
    hold(rule::is_finished, File::is_rust);
}

#[test]
fn the_ledger_is_pure() {
    hold(rule::is_pure, |file| file.path.starts_with("crates/ledger/src/"));
}

#[test]
fn no_file_knows_the_machine_it_was_written_on() {
    hold(rule::names_no_machine, |_| true);
}

#[test]
fn dependencies_come_from_the_public_registry() {
    hold(rule::comes_from_the_registry, |file| file.path.ends_with("Cargo.lock"));
}

#[test]
fn every_promise_names_guards_that_exist() {
    let file = files().into_iter().find(|file| file.path == "PROMISES.md");
    let file = file.expect("PROMISES.md is the list of promises, and stands at the root");
    let found = promise::broken(&file.text, |path| {
        let path = tree::root().join(path);
        path.exists().then(|| std::fs::read_to_string(path).unwrap_or_default())
    });
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}
