//! The rules. Words that a rule looks for are written in two parts, so that this file does not break it.

use crate::tree::File;

/// What is wrong with a file, one line each.
pub(crate) type Rule = fn(&File) -> Vec<String>;

/// The most lines that a file may have before it holds two things.
const LINES_MAX: usize = 500;

const EMPTY_NAMES: &[&str] =
    &["utils", "util", "helpers", "helper", "common", "manager", "managers", "types", "misc"];

const UNFINISHED: &[&str] =
    &[concat!("todo", "!("), concat!("unimplemented", "!("), concat!("#[ig", "nore"), concat!("FIX", "ME")];

/// What a pure decision cannot use: floats, unordered maps, clocks, sockets, files, threads, randomness, waiting.
const IMPURE: &[&str] = &[
    "f32",
    "f64",
    "HashMap",
    "HashSet",
    "SystemTime",
    "Instant",
    "std::net",
    "std::fs",
    "std::thread",
    "std::env",
    "rand",
    "async",
    "await",
];

const MACHINE: &[&str] = &[concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/wo", "rk/")];

/// The one place that dependencies come from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

pub(crate) fn begins_with_its_purpose(file: &File) -> Vec<String> {
    let good = file
        .text
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("//! "))
        .is_some_and(|text| text.len() > 3);
    if good { vec![] } else { vec!["the first line must be //! and what the file is".to_owned()] }
}

pub(crate) fn is_short(file: &File) -> Vec<String> {
    let lines = file.text.lines().count();
    if lines <= LINES_MAX { vec![] } else { vec![format!("{lines} lines: it holds two things")] }
}

pub(crate) fn is_named_for_something(file: &File) -> Vec<String> {
    let modules = file.text.lines().filter_map(|line| {
        let line = line.trim_start();
        let after =
            line.split_once("mod ").filter(|(before, _)| before.is_empty() || before.starts_with("pub"))?.1;
        Some(after.split([';', ' ', '{']).next().unwrap_or_default())
    });
    let names = modules.chain([file.name()]);
    names.filter(|name| EMPTY_NAMES.contains(name)).map(|name| format!("{name} says nothing")).collect()
}

pub(crate) fn is_finished(file: &File) -> Vec<String> {
    lines_with(&file.text, UNFINISHED, |line, word| line.contains(word))
}

pub(crate) fn is_pure(file: &File) -> Vec<String> {
    lines_with(&file.text, IMPURE, |line, word| has_word(code(line), word))
}

pub(crate) fn names_no_machine(file: &File) -> Vec<String> {
    let begins = |line: &str, path: &str| {
        // In the middle of an address it is somebody else's path.
        line.match_indices(path).any(|(at, _)| {
            !line[..at].ends_with(|before: char| before.is_alphanumeric() || ".-_}>".contains(before))
        })
    };
    lines_with(&file.text, MACHINE, begins)
}

pub(crate) fn comes_from_the_registry(file: &File) -> Vec<String> {
    let sources = file.text.lines().filter_map(|line| line.strip_prefix("source = "));
    let other = sources.filter(|source| source.trim_matches('"') != REGISTRY);
    other.map(|source| format!("{source} is not the public registry")).collect()
}

fn lines_with(text: &str, words: &[&str], holds: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let numbered = text.lines().zip(1..);
    let found = numbered.flat_map(|(line, number)| words.iter().map(move |word| (line, number, *word)));
    let found = found.filter(|(line, _, word)| holds(line, word));
    found.map(|(_, number, word)| format!("line {number} has {word:?}")).collect()
}

/// The line without its comment. (The ledger has no text with `//` in it; if it had, this would only see less.)
fn code(line: &str) -> &str {
    line.split_once("//").map_or(line, |(code, _)| code)
}

/// Whether a word stands there, and not only as part of another one. A number may precede it: `1f64`.
fn has_word(line: &str, word: &str) -> bool {
    let letter = |c: char| c.is_alphabetic() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        !before.ends_with(letter) && !after.starts_with(|c: char| letter(c) || c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rule: Rule, path: &str, text: &str) -> usize {
        rule(&File { path: path.to_owned(), text: text.to_owned() }).len()
    }

    #[test]
    fn a_file_without_its_purpose_is_found() {
        assert_eq!(found(begins_with_its_purpose, "a.rs", "//! What it is.\n"), 0);
        for bad in ["", "use std::fmt;\n//! Late.\n", "//!\n", "//! x\n", "// A comment.\n"] {
            assert_eq!(found(begins_with_its_purpose, "a.rs", bad), 1, "{bad:?}");
        }
    }

    #[test]
    fn a_long_file_is_found() {
        assert_eq!(found(is_short, "a.rs", &"\n".repeat(500)), 0);
        assert_eq!(found(is_short, "a.rs", &"\n".repeat(501)), 1);
    }

    #[test]
    fn empty_names_are_found() {
        assert_eq!(
            found(is_named_for_something, "crates/x/src/batch.rs", "mod order;\n// mod types of\n"),
            0
        );
        assert_eq!(found(is_named_for_something, "crates/x/src/utils.rs", ""), 1);
        assert_eq!(found(is_named_for_something, "crates/x/src/common/mod.rs", ""), 1);
        let modules = "mod helpers;\npub(crate) mod types {\n    pub mod manager;\n";
        assert_eq!(found(is_named_for_something, "crates/x/src/lib.rs", modules), 3);
    }

    #[test]
    fn unfinished_work_is_found() {
        let bad =
            ["fn a() { to", "do!() }\n#[ig", "nore]\n#[ig", "nore = \"slow\"]\n// FIX", "ME\n"].concat();
        assert_eq!(found(is_finished, "a.rs", &bad), 4);
        assert_eq!(found(is_finished, "a.rs", "// What is to do is in the issue.\n"), 0);
    }

    #[test]
    fn impurity_is_found() {
        let good =
            "// async and f64 in a comment\nlet operand = 1; let ignored_f64 = my_rand; fn grand() {}\n";
        assert_eq!(found(is_pure, "a.rs", good), 0);
        for bad in [
            "let a: f64 = 1.0;",
            "let a = 1f32;",
            "use std::collections::HashMap;",
            "use std::collections::{BTreeMap, HashSet};",
            "std::time::Instant::now()",
            "SystemTime::now()",
            "use std::net::TcpStream;",
            "std::fs::read(path)",
            "std::thread::spawn(f)",
            "rand::random()",
            "async fn a() {}",
            "a.await",
            "std::env::var(\"A\")",
        ] {
            assert_eq!(found(is_pure, "a.rs", bad), 1, "{bad}");
        }
    }

    #[test]
    fn paths_of_a_machine_are_found() {
        let homes = [concat!("/ro", "ot/.cargo"), concat!("\"/ho", "me/me/x\""), concat!("(/wo", "rk/main)")];
        for bad in homes {
            assert_eq!(found(names_no_machine, "a.md", bad), 1, "{bad}");
        }
        let elsewhere = concat!("https://example.com/ho", "me/ and <T as X>/ro", "ot/");
        assert_eq!(found(names_no_machine, "a.md", elsewhere), 0);
    }

    #[test]
    fn other_registries_are_found() {
        let lock = format!("source = \"{REGISTRY}\"\nsource = \"registry+https://mirror.example/index\"\n");
        assert_eq!(found(comes_from_the_registry, "Cargo.lock", &lock), 1);
    }
}
