//! The document's bytes: one line that names the format's version, then a zstd frame with its head and one line for
//! each row. Every version that was ever released is read for ever.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::sync::Arc;

use paidonce_ledger::{Body, Digest, EventKey, Ledger, Row};
use serde::{Deserialize, Serialize};

use crate::line::{self, LineError};
use crate::{Result, StoreError, StoreErrorKind};

/// What the first line says before the version.
const DOCUMENT: &str = "paidonce-document";
const ARCHIVE: &str = "paidonce-archive";

/// The version that is written.
const VERSION: u32 = 1;

/// Attempts that a document remembers: whoever lost the answer to a write finds it among so many later ones.
const RECENT_MAX: usize = 64;

/// zstd's level. (Its default, 3, takes half as long again for a twentieth less.)
const LEVEL: i32 = 1;

/// Which commit a document is the outcome of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    /// Rises by one with every commit.
    pub(super) revision: u64,
    /// The last attempts that won, newest last. Each is its writer's name and a number.
    pub(super) recent: Vec<String>,
}

impl Head {
    /// The head of what `attempt` writes on top of this.
    pub(super) fn next(&self, attempt: &str) -> Self {
        let kept = self.recent.len().saturating_sub(RECENT_MAX - 1);
        let recent = self.recent.iter().skip(kept).cloned().chain([attempt.to_owned()]).collect();
        Self { revision: self.revision + 1, recent }
    }
}

/// Everything that one object holds.
#[derive(Debug, Clone, Default)]
pub(super) struct Document {
    pub(super) head: Head,
    /// All rows. Bodies that were moved to an archive have a digest and no bytes.
    pub(super) ledger: Ledger,
    /// Which archive holds the body of which event.
    pub(super) archived: BTreeMap<EventKey, Arc<str>>,
}

fn corrupt(what: impl Into<String>) -> StoreError {
    StoreError::new(StoreErrorKind::Corrupt, what)
}

fn unwritten(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::new(StoreErrorKind::Internal, "the document cannot be written out").caused_by(error)
}

impl From<LineError> for StoreError {
    fn from(error: LineError) -> Self {
        unwritten(error)
    }
}

fn compress(what: &str, text: &[u8]) -> Result<Vec<u8>> {
    let out = format!("{what} {VERSION}\n").into_bytes();
    let mut frame = zstd::stream::Encoder::new(out, LEVEL).map_err(unwritten)?;
    frame.include_checksum(true).map_err(unwritten)?;
    frame.write_all(text).map_err(unwritten)?;
    frame.finish().map_err(unwritten)
}

/// The lines after the version's, each with its number.
fn lines(what: &str, bytes: &[u8]) -> Result<impl Iterator<Item = (usize, Result<Vec<u8>>)>> {
    let first = bytes.iter().position(|byte| *byte == b'\n').filter(|at| *at < 64);
    let (first, frame) = bytes.split_at(first.unwrap_or(0));
    let version =
        std::str::from_utf8(first).ok().and_then(|line| line.strip_prefix(what)?.trim().parse().ok());
    match version {
        Some(VERSION) => {}
        Some(newer) if newer > VERSION => {
            return Err(corrupt(format!(
                "the {what} is of version {newer}, written by a newer paidonce: update this one"
            )));
        }
        _ => return Err(corrupt(format!("the object is no {what}: name another one, or restore a backup"))),
    }
    let frame = zstd::stream::Decoder::new(frame.get(1..).unwrap_or_default())
        .map_err(|error| corrupt(format!("the {what} is damaged: restore a backup")).caused_by(error))?;
    let damaged = format!("the {what} is damaged: restore a backup");
    let read =
        move |line: std::io::Result<Vec<u8>>| line.map_err(|error| corrupt(damaged.clone()).caused_by(error));
    Ok((2..).zip(BufReader::new(frame).split(b'\n').map(read)))
}

impl Document {
    pub(super) fn encode(&self) -> Result<Vec<u8>> {
        let mut text = serde_json::to_vec(&self.head).map_err(unwritten)?;
        text.push(b'\n');
        line::write_all(&self.ledger, &self.archived, &mut text)?;
        compress(DOCUMENT, &text)
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self> {
        let mut document = Self::default();
        let mut names: BTreeMap<String, Arc<str>> = BTreeMap::new();
        for (number, text) in lines(DOCUMENT, bytes)? {
            let text = text?;
            let wrong = |error: &dyn std::fmt::Display| {
                corrupt(format!("the document's line {number} cannot be read: {error}"))
            };
            if number == 2 {
                document.head = serde_json::from_slice(&text).map_err(|error| wrong(&error))?;
                continue;
            }
            let read = line::read(&text).map_err(|error| wrong(&error))?;
            if let (Row::Event(key, _), Some(archive)) = (&read.row, read.archive) {
                let name = names.entry(archive).or_insert_with_key(|name| Arc::from(name.as_str()));
                document.archived.insert(key.clone(), name.clone());
            }
            document.ledger.load_row(read.row);
        }
        Ok(document)
    }
}

/// The bytes of an archive of bodies, and its name: the digest of them, so that writing it twice is writing it once.
pub(super) fn encode_archive(bodies: &[Body]) -> Result<(Arc<str>, Vec<u8>)> {
    let mut text = Vec::new();
    bodies.iter().try_for_each(|body| line::write_body(body, &mut text))?;
    let bytes = compress(ARCHIVE, &text)?;
    Ok((Arc::from(Digest::of_bytes(&bytes).to_hex().as_str()), bytes))
}

pub(super) fn decode_archive(bytes: &[u8]) -> Result<BTreeMap<Digest, Body>> {
    let mut bodies = BTreeMap::new();
    for (number, text) in lines(ARCHIVE, bytes)? {
        let body = line::read_body(&text?).map_err(|error| {
            corrupt(format!("the archive's line {number} cannot be read")).caused_by(error)
        })?;
        bodies.insert(body.digest(), body);
    }
    Ok(bodies)
}
