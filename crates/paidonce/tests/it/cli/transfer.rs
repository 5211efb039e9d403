//! `export` and `import`, between stores of every kind that is here, killed half way included.

use std::process::Stdio;

use paidonce_ledger::{Ledger, Policy, Timestamp};
use paidonce_store::{SqliteOptions, SqliteStore, Store, export, import, read, read_line};

use super::{Place, Ran};

/// What version 1 wrote: something in every table.
const VERSION_1: &str = include_str!("../../../../store/tests/fixtures/export-1.ndjson");

fn rows() -> usize {
    VERSION_1.lines().count() - 2
}

fn place() -> Place {
    let place = Place::new("on");
    place.write("old.ndjson", VERSION_1);
    place
}

fn succeeds(place: &Place, args: &[&str]) -> Ran {
    let ran = place.run(args);
    assert_eq!(ran.code, 0, "{args:?}: {}{}", ran.out, ran.err);
    ran
}

/// The document store's places that answer here. (The store crate's suite requires them; this looks at the program.)
fn remote() -> Option<String> {
    let server = std::env::var("PAIDONCE_TEST_NATS").unwrap_or_else(|_| "nats://127.0.0.1:4222".to_owned());
    let host = server.split_once("://").map_or(&*server, |(_, host)| host).trim_end_matches('/');
    let required = std::env::var("PAIDONCE_TEST_REQUIRE").is_ok_and(|value| value == "1");
    let reached = std::net::TcpStream::connect(host).is_ok();
    assert!(reached || !required, "NATS is required and does not answer at {host}");
    let since = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos();
    reached.then(|| format!("nats://{host}/paidonce-test/cli-{}-{since}", std::process::id()))
}

#[test]
fn an_export_goes_from_store_to_store_and_comes_back_the_same() {
    let place = place();
    let ran = succeeds(&place, &["import", "old.ndjson"]);
    assert!(ran.out.contains(&format!("{} rows", rows())) && ran.out.contains("compared"), "{}", ran.out);
    let stores = [Some("sqlite:other.db".to_owned()), remote()];
    for store in stores.into_iter().flatten() {
        succeeds(&place, &["export", "moved.ndjson"]);
        succeeds(&place, &["import", "moved.ndjson", "--store", &store, "--rows-a-commit", "20"]);
        let ran = succeeds(&place, &["export", "-", "--store", &store]);
        assert_eq!(ran.out, VERSION_1, "from {store}");
        assert!(ran.err.contains("digest"), "{}", ran.err);
    }
    assert_eq!(succeeds(&place, &["audit"]).code, 0);
}

#[test]
fn a_store_that_holds_something_else_is_refused() {
    let place = place();
    place.place_order();
    let ran = place.run(&["import", "old.ndjson"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("nothing was imported"), "{}", ran.err);
    assert_eq!(place.json(&["orders", "list"])["rows"].as_array().unwrap().len(), 1);
}

#[test]
fn a_damaged_line_is_named_and_nothing_is_imported() {
    let place = place();
    place.write("damaged.ndjson", &VERSION_1.replacen("\"quantity\":1", "\"quantity\":x", 1));
    let line = 1 + VERSION_1.lines().position(|line| line.contains("\"quantity\":1")).unwrap();
    let ran = place.run(&["import", "damaged.ndjson"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains(&format!("damaged.ndjson: line {line}: ")), "{}", ran.err);
    assert_eq!(place.json(&["orders", "list"])["rows"].as_array().unwrap().len(), 0);
}

fn there(place: &Place) -> Ledger {
    SqliteStore::open(place.path("test.db"), SqliteOptions::default()).unwrap().snapshot().unwrap()
}

/// The old export and thousands of answered commands: long enough to be killed in.
fn long() -> String {
    let mut ledger = read(&mut VERSION_1.as_bytes(), &mut |_, _| {}).unwrap().ledger;
    let command = VERSION_1.lines().find(|line| line.contains("\"key\":\"cancel-2001\"")).unwrap();
    for n in 0..4_000 {
        let line = command.replace("cancel-2001", &format!("cancel-{n}-more"));
        ledger.load_row(read_line(line.as_bytes()).unwrap());
    }
    let mut text = Vec::new();
    export(&ledger, &mut text, &mut |_| {}).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn an_import_that_is_killed_half_way_goes_on() {
    let place = place();
    let long = long();
    let rows = long.lines().count() - 2;
    place.write("long.ndjson", &long);
    let mut process = place
        .command(&["import", "long.ndjson", "--rows-a-commit", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // A reader that waits for nobody. While the file is made, it is held: nothing there yet.
    let commands_there = || -> rusqlite::Result<i64> {
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        let connection = rusqlite::Connection::open_with_flags(place.path("test.db"), flags)?;
        connection.query_row("SELECT count(*) FROM command", [], |row| row.get(0))
    };
    while commands_there().unwrap_or(0) < 10 {
        assert!(process.try_wait().unwrap().is_none(), "it ended before it could be killed");
    }
    process.kill().unwrap();
    process.wait().unwrap();
    let before = there(&place).len();
    assert!((10..rows).contains(&before), "{before} of {rows} rows were there when it was killed");
    let ran = succeeds(&place, &["import", "long.ndjson"]);
    assert!(ran.out.contains(&format!("({before} were there already)")), "{}", ran.out);
    assert_eq!(succeeds(&place, &["export", "-"]).out, long);
}

#[test]
fn what_the_program_exports_any_store_takes() {
    let place = place();
    succeeds(&place, &["import", "old.ndjson"]);
    succeeds(&place, &["export", "out.ndjson"]);
    let text = std::fs::read(place.path("out.ndjson")).unwrap();
    let export = read(&mut text.as_slice(), &mut |_, _| {}).unwrap();
    let memory = paidonce_store::MemoryStore::new();
    let options = paidonce_store::ImportOptions { rows_a_commit: 7, now: Timestamp(0) };
    import(&memory, &export, &options, &mut |_| {}).unwrap();
    assert_eq!(memory.snapshot().unwrap(), there(&place));
    assert_eq!(paidonce_ledger::invariants::check_settled(&export.ledger, &Policy::default()), []);
}
