//! The files of the repository, as text.

use std::path::{Path, PathBuf};

/// Folders that hold nothing we wrote.
const SKIPPED: &[&str] = &[".git", "node_modules", "target"];

/// One file of text.
pub(crate) struct File {
    /// From the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    pub(crate) fn is_rust(&self) -> bool {
        Path::new(&self.path).extension().is_some_and(|extension| extension == "rs")
    }

    /// A Rust file of one of the crates, tests left out.
    pub(crate) fn is_source(&self) -> bool {
        let mut parts = self.path.split('/');
        self.is_rust() && parts.next() == Some("crates") && parts.nth(1) == Some("src")
    }

    /// What the file or, for a `mod.rs`, its folder is called.
    pub(crate) fn name(&self) -> &str {
        let mut parts = self.path.trim_end_matches(".rs").rsplit('/');
        match parts.next() {
            Some("mod" | "main" | "lib") | None => parts.next().unwrap_or_default(),
            Some(name) => name,
        }
    }
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every file that is text, below the root.
pub(crate) fn files() -> Vec<File> {
    let (mut folders, mut files) = (vec![String::new()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).expect("a folder of the repository") {
            let entry = entry.expect("an entry of a folder");
            let name = entry.file_name().into_string().expect("names are UTF-8");
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            let kind = entry.file_type().expect("the kind of an entry");
            if kind.is_dir() && !SKIPPED.contains(&name.as_str()) {
                folders.push(path);
            } else if kind.is_file() {
                let Ok(text) = std::fs::read_to_string(entry.path()) else { continue };
                files.push(File { path, text });
            }
        }
    }
    files.sort_by(|one, two| one.path.cmp(&two.path));
    files
}

#[test]
fn names_are_the_files_or_the_folders() {
    let name = |path: &str| File { path: path.to_owned(), text: String::new() }.name().to_owned();
    assert_eq!(name("crates/store/src/sqlite/mod.rs"), "sqlite");
    assert_eq!(name("crates/store/src/batch.rs"), "batch");
    let source = |path: &str| File { path: path.to_owned(), text: String::new() }.is_source();
    assert!(source("crates/store/src/batch.rs"));
    assert!(!source("crates/store/tests/it/main.rs") && !source("bench/src/lib.rs"));
}
