//! Exports as files: every kind of damage is named by its line, and what version 1 wrote is read for ever.

use paidonce_store::{
    Export, FileError, ImportOptions, MemoryStore, Store, StoreError, export, import, read,
};

/// What `paidonce export` wrote in version 1. Never changed.
const VERSION_1: &str = include_str!("../fixtures/export-1.ndjson");

fn parsed(text: &str) -> Result<Export, FileError> {
    read(&mut text.as_bytes(), &mut |_, _| {})
}

fn line_of(error: Result<Export, FileError>) -> usize {
    match error {
        Err(FileError::Line { line, .. }) => line,
        other => panic!("no line is blamed: {other:?}"),
    }
}

#[test]
fn an_export_of_version_1_is_read_imported_and_written_the_same() {
    let from = parsed(VERSION_1).unwrap();
    assert_eq!(from.summary.rows + 2, VERSION_1.lines().count());
    let (store, options) =
        (MemoryStore::new(), ImportOptions { rows_a_commit: 10, now: paidonce_ledger::Timestamp(0) });
    import(&store, &from, &options, &mut |_| {}).unwrap();
    let mut again = Vec::new();
    export(&store.snapshot().unwrap(), &mut again, &mut |_| {}).unwrap();
    assert_eq!(String::from_utf8(again).unwrap(), VERSION_1);
}

#[test]
fn a_damaged_line_is_named_with_its_number() {
    let lines: Vec<_> = VERSION_1.lines().collect();
    for (at, line) in lines.iter().enumerate().take(lines.len() - 1) {
        let mut damaged = lines.clone();
        let half = &line[..line.len() / 2];
        damaged[at] = half;
        assert_eq!(line_of(parsed(&format!("{}\n", damaged.join("\n")))), at + 1);
    }
}

#[test]
fn a_line_that_names_what_is_not_known_is_named() {
    for (from, to) in [
        ("\"table\":\"payments\"", "\"table\":\"pavements\""),
        ("\"first_at\"", "\"first_by\""),
        ("\"amount_minor\":\"1000\"", "\"amount_minor\":1000"),
    ] {
        let at = 1 + VERSION_1.lines().position(|line| line.contains(from)).unwrap();
        assert_eq!(line_of(parsed(&VERSION_1.replacen(from, to, 1))), at, "{to}");
    }
}

#[test]
fn a_body_that_is_not_what_its_digest_says_is_named() {
    let at = 1 + VERSION_1.lines().position(|line| line.contains("\"text\":\"evt_1 ")).unwrap();
    assert_eq!(line_of(parsed(&VERSION_1.replacen("\"text\":\"evt_1 ", "\"text\":\"evt_9 ", 1))), at);
}

#[test]
fn a_file_that_was_cut_anywhere_is_refused() {
    for (at, _) in VERSION_1.match_indices('\n').skip(1) {
        for cut in [at, at + 1] {
            // The last two cuts leave everything.
            if cut < VERSION_1.len() - 1 {
                line_of(parsed(&VERSION_1[..cut]));
            }
        }
    }
}

#[test]
fn rows_that_were_left_out_or_changed_are_noticed_at_the_end() {
    let mut lines: Vec<_> = VERSION_1.lines().collect();
    let api_key = lines.iter().position(|line| line.contains("\"api_keys\"")).unwrap();
    let changed = VERSION_1.replacen("\"scope\":\"operate\"", "\"scope\":\"admin\"", 1);
    assert!(matches!(parsed(&changed), Err(FileError::Whole(what)) if what.contains("changed")));
    lines.remove(api_key);
    assert!(
        matches!(parsed(&(lines.join("\n") + "\n")), Err(FileError::Whole(what)) if what.contains("rows"))
    );
}

#[test]
fn a_newer_file_and_what_is_none_are_refused() {
    let newer = VERSION_1.replacen("\"version\":1", "\"version\":2", 1);
    let Err(FileError::Line { line: 1, what }) = parsed(&newer) else { panic!("it was read") };
    assert!(what.contains("newer"), "{what}");
    assert_eq!(line_of(parsed("order,total\n1001,10\n")), 1);
    assert_eq!(line_of(parsed("")), 1);
}

/// A store that others write to while an import runs.
struct Disturbed(MemoryStore, std::sync::atomic::AtomicBool);

impl Disturbed {
    fn disturb(&self) {
        use paidonce_ledger::testing::{eur, place};
        use paidonce_ledger::{Command, Policy, Timestamp};
        if !self.1.swap(true, std::sync::atomic::Ordering::SeqCst) {
            let order = Command::PlaceOrder(place("theirs", &eur("1"), &[]));
            self.0.commit(&[order], Timestamp(5), &Policy::default()).unwrap();
        }
    }
}

#[test]
fn an_import_beside_a_running_server_does_not_pass_as_the_same() -> Result<(), StoreError> {
    let from = parsed(VERSION_1).unwrap();
    let store = Disturbed(MemoryStore::new(), false.into());
    let options = ImportOptions { rows_a_commit: 10, now: paidonce_ledger::Timestamp(0) };
    let imported = import(&store.0, &from, &options, &mut |_| store.disturb());
    assert!(imported.is_err(), "{imported:?}");
    assert!(store.0.snapshot()?.len() > from.ledger.len());
    Ok(())
}
