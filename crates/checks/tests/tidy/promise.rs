//! PROMISES.md: all promises are there, and what is said to guard them exists.

use std::collections::BTreeSet;

/// The promises of DESIGN, by number.
const PROMISES: u32 = 16;

/// What is wrong with the list. `read` gives the text of a path from the root, if there is such a path.
///
/// A guard is written in backticks: `crates/a/src/b.rs`, or with what is in the file: `crates/a/tests/b.rs::name`.
pub(crate) fn broken(list: &str, read: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let words = list.split(|c: char| !c.is_ascii_alphanumeric());
    let numbers = words.filter_map(|word| word.strip_prefix('P')?.parse::<u32>().ok());
    let named: BTreeSet<_> = numbers.collect();
    let mut found: Vec<_> =
        (1..=PROMISES).filter(|n| !named.contains(n)).map(|n| format!("P{n} is not in the list")).collect();
    found.extend(named.range(PROMISES + 1..).map(|n| format!("there is no promise P{n}")));
    let quoted = list.split('`').skip(1).step_by(2);
    let guards: Vec<_> = quoted.filter(|text| text.starts_with("crates/")).collect();
    if guards.is_empty() {
        found.push("no guard is named".to_owned());
    }
    for guard in guards {
        let (path, name) = guard.split_once("::").map_or((guard, None), |(path, name)| (path, Some(name)));
        match (read(path.trim_end_matches('/')), name) {
            (None, _) => found.push(format!("{path} does not exist")),
            (Some(text), Some(name)) if !text.contains(name) => found.push(format!("{path} has no {name}")),
            _ => {}
        }
    }
    found
}

#[test]
fn missing_promises_and_guards_are_found() {
    let read = |path: &str| (path == "crates/a/tests/b.rs").then(|| "fn p1_holds() {}".to_owned());
    let all: String = (1..=PROMISES).map(|n| format!("| P{n} |\n")).collect();
    let with = |guard: &str| broken(&format!("{all}`{guard}`"), read);
    assert_eq!(with("crates/a/tests/b.rs::p1_holds"), [""; 0]);
    assert_eq!(with("crates/a/tests/c.rs"), ["crates/a/tests/c.rs does not exist"]);
    assert_eq!(with("crates/a/tests/b.rs::p2_holds"), ["crates/a/tests/b.rs has no p2_holds"]);
    assert_eq!(broken(&all, read), ["no guard is named"]);
    let list = format!("{all} P17 `crates/a/tests/b.rs`").replace("| P4 |", "");
    assert_eq!(broken(&list, read), ["P4 is not in the list", "there is no promise P17"]);
}
