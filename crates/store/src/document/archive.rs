//! Bodies of old events, in objects that never change. The document keeps the events themselves, and so every identity
//! that a redelivery is recognised by.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use paidonce_ledger::{Body, Digest, Event, EventKey, Ledger};

use super::backing::{Backing, Found, Put};
use super::format::{self, Document};
use crate::line::is_elsewhere;
use crate::{Result, StoreError, StoreErrorKind};

/// Archives that are kept in memory, because whoever reads one old event reads its neighbours next.
const CACHED_MAX: usize = 8;

type Bodies = Arc<BTreeMap<Digest, Body>>;

/// The archives that were read last, newest last.
#[derive(Default)]
pub(super) struct Archives(Mutex<Vec<(Arc<str>, Bodies)>>);

fn object(name: &str) -> String {
    format!("archive/{name}")
}

impl Archives {
    fn get(&self, backing: &dyn Backing, name: &Arc<str>) -> Result<Bodies> {
        let cached = |held: &[(Arc<str>, Bodies)]| {
            held.iter().find(|(known, _)| known == name).map(|(_, bodies)| bodies.clone())
        };
        if let Some(bodies) = cached(&self.0.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(bodies);
        }
        let Found::Here(_, bytes) = backing.read(&object(name), None)? else {
            let what = format!("the archive {name} beside the document is gone: restore it from a backup");
            return Err(StoreError::new(StoreErrorKind::Corrupt, what));
        };
        let bodies = Arc::new(format::decode_archive(&bytes)?);
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.len() >= CACHED_MAX {
            held.remove(0);
        }
        held.push((name.clone(), bodies.clone()));
        Ok(bodies)
    }

    /// The body of an event that may lie in an archive.
    pub(super) fn body(
        &self,
        backing: &dyn Backing,
        document: &Document,
        key: &EventKey,
        event: &Event,
    ) -> Result<Body> {
        if !is_archived(event) {
            return Ok(event.body.clone());
        }
        let bodies = document.archived.get(key).map(|name| self.get(backing, name)).transpose()?;
        bodies.and_then(|bodies| bodies.get(&event.body.digest()).cloned()).ok_or_else(|| {
            StoreError::new(StoreErrorKind::Corrupt, format!("the body of event {key} is in no archive"))
        })
    }

    /// Gives every event of `ledger` its bytes.
    pub(super) fn fill(&self, backing: &dyn Backing, document: &Document, ledger: &mut Ledger) -> Result<()> {
        let empty: Vec<_> =
            ledger.events.rows().iter().filter(|(_, event)| is_archived(event)).map(clone).collect();
        for (key, event) in empty {
            let body = self.body(backing, document, &key, &event)?;
            ledger.events.load(key, Event { body, ..event });
        }
        Ok(())
    }
}

/// Whether an event's bytes lie in an archive. Those that were dropped lie nowhere that counts.
fn is_archived(event: &Event) -> bool {
    event.dropped_at.is_none() && is_elsewhere(&event.body)
}

fn clone((key, event): (&EventKey, &Event)) -> (EventKey, Event) {
    (key.clone(), event.clone())
}

/// Moves the bodies of the oldest processed events out of the document if those that it holds are more than
/// `bodies_max` bytes, until half of that is left.
pub(super) fn move_out(backing: &dyn Backing, document: &mut Document, bodies_max: usize) -> Result<()> {
    let here = |(_, event): &(&EventKey, &Event)| {
        event.outcome.processed() && event.dropped_at.is_none() && !is_elsewhere(&event.body)
    };
    let events = document.ledger.events.rows();
    let mut bytes: usize = events.iter().filter(here).map(|(_, event)| event.body.bytes().len()).sum();
    if bytes <= bodies_max {
        return Ok(());
    }
    let mut oldest: Vec<_> = events.iter().filter(here).map(clone).collect();
    oldest.sort_by(|(a, one), (b, two)| (one.received_at, a).cmp(&(two.received_at, b)));
    let mut chunk = Vec::new();
    let mut chunk_bytes = 0;
    for (key, event) in oldest {
        if bytes <= bodies_max / 2 {
            break;
        }
        let size = event.body.bytes().len();
        if chunk_bytes + size > bodies_max && !chunk.is_empty() {
            put(backing, document, std::mem::take(&mut chunk))?;
            chunk_bytes = 0;
        }
        bytes -= size;
        chunk_bytes += size;
        chunk.push((key, event));
    }
    put(backing, document, chunk)
}

/// Writes one archive, and only then lets go of the bytes. (A commit that fails afterwards leaves an archive that
/// nothing names, and the next try makes the same one.)
fn put(backing: &dyn Backing, document: &mut Document, events: Vec<(EventKey, Event)>) -> Result<()> {
    if events.is_empty() {
        return Ok(());
    }
    let bodies: Vec<_> = events.iter().map(|(_, event)| event.body.clone()).collect();
    let (name, bytes) = format::encode_archive(&bodies)?;
    match backing.put(&object(&name), bytes.clone(), None) {
        Put::Done(_) => {}
        Put::Moved | Put::Unknown(_) => check(backing, &name, &bytes)?,
    }
    for (key, event) in events {
        document.archived.insert(key.clone(), name.clone());
        let body = Body::with_digest([], event.body.digest());
        document.ledger.events.load(key, Event { body, ..event });
    }
    Ok(())
}

fn check(backing: &dyn Backing, name: &str, bytes: &[u8]) -> Result<()> {
    match backing.read(&object(name), None)? {
        Found::Here(_, there) if there == bytes => Ok(()),
        _ => {
            Err(StoreError::new(StoreErrorKind::Unavailable, "an archive of old bodies could not be written"))
        }
    }
}
