//! A document, its archives and its lines as version 1 wrote them: they open for ever. The files are never changed; a
//! new version gets files of its own beside these.

use std::sync::Arc;

use object_store::memory::InMemory;
use object_store::{ObjectStore, ObjectStoreExt};
use paidonce_ledger::{Ledger, Policy, invariants};
use paidonce_store::{DocumentStore, LineError, Store, StoreErrorKind, read_line, write_lines};

use super::unprobed;

const DOCUMENT: &[u8] = include_bytes!("../../fixtures/document-1/document");
/// Each by its name, which is the digest of its contents.
const ARCHIVES: [(&str, &[u8]); 2] = [
    (
        "7d66e9a3d68044268826fea4170a501adccc5c8149652636b64cc300597b35dd",
        include_bytes!("../../fixtures/document-1/archive-1"),
    ),
    (
        "d79cc61d9a7abac68d4413f884b55b4e003df13100091f8835db31cd2ecd0e46",
        include_bytes!("../../fixtures/document-1/archive-2"),
    ),
];
const LINES: &str = include_str!("../../fixtures/document-1/lines.ndjson");

fn lines(ledger: &Ledger) -> String {
    let mut text = Vec::new();
    write_lines::<LineError>(ledger, |line| {
        text.extend_from_slice(line);
        Ok(())
    })
    .unwrap();
    String::from_utf8(text).unwrap()
}

fn open(document: &[u8]) -> Result<DocumentStore, paidonce_store::StoreError> {
    let place = Arc::new(InMemory::new());
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
        for (name, archive) in ARCHIVES {
            place.put(&format!("paidonce.archive/{name}").into(), archive.to_vec().into()).await.unwrap();
        }
        place.put(&"paidonce".into(), document.to_vec().into()).await.unwrap();
    });
    let place: Arc<dyn ObjectStore> = place;
    DocumentStore::on_objects(place, "paidonce", &unprobed())
}

#[test]
fn a_document_of_version_1_opens_with_everything_in_it() {
    let ledger = open(DOCUMENT).unwrap().snapshot().unwrap();
    assert!(ledger.tasks.rows().len() * ledger.cases.rows().len() * ledger.api_keys.rows().len() > 0);
    assert_eq!(lines(&ledger), LINES);
    assert_eq!(invariants::check_settled(&ledger, &Policy::default()), []);
}

#[test]
fn lines_of_version_1_are_read() {
    let mut ledger = Ledger::whole();
    LINES.lines().for_each(|line| ledger.load_row(read_line(line.as_bytes()).unwrap()));
    assert_eq!(lines(&ledger), LINES);
}

#[test]
fn a_damaged_document_is_refused_wherever_the_damage_is() {
    for at in (0..DOCUMENT.len()).step_by(7) {
        let mut damaged = DOCUMENT.to_vec();
        damaged[at] ^= 0x10;
        match open(&damaged) {
            // zstd's frame has a few bits that mean nothing.
            Ok(store) => assert_eq!(lines(&store.snapshot().unwrap()), LINES, "byte {at}"),
            Err(error) => assert_eq!(error.kind(), StoreErrorKind::Corrupt, "byte {at}: {error}"),
        }
    }
}

#[test]
fn a_newer_document_and_what_is_none_are_refused() {
    let newer = [b"paidonce-document 2\n", &DOCUMENT[20..]].concat();
    let error = open(&newer).err().unwrap();
    assert!(error.to_string().contains("newer"), "{error}");
    let error = open(b"<html>not a ledger</html>").err().unwrap();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    assert!(error.to_string().contains("is no"), "{error}");
}
