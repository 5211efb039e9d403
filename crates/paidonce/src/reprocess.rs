//! Stored events, read again by the current contracts: found, tried one by one on a ledger that is thrown away, and
//! submitted where that changes something. One event is one commit, and a second time finds nothing to change.
//!
//! It decides nothing: what an event means is its contract's, and what it does is the ledger's.

mod trial;
mod wanted;

use std::sync::Arc;

use paidonce_contracts::Stored;
use paidonce_engine::{Engine, SubmitError};
use paidonce_ledger::{
    Command, Event, EventKey, Notice, Reading, Received, Refusal, Reply, Reprocess, Stamp,
};
use paidonce_store::StoreError;

use crate::clock::rfc3339;
use crate::fresh;
use crate::http::dto::{ReadAgain, Reprocessed};
use crate::source::Readers;
use trial::Trial;
pub(crate) use wanted::Wanted;

/// Why it could not go on. What was committed until then stands, and repeating it does the rest.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error("there is no such event")]
    UnknownEvent,
    #[error("{0}")]
    Store(#[from] StoreError),
    #[error("{0}")]
    Submit(#[from] SubmitError),
}

/// Reads one page of stored events again.
///
/// Newest first, as they are listed: a refund is known before the capture that it takes back, so that nothing is
/// granted in between on money that has gone.
pub(crate) async fn reprocess(
    engine: &Engine,
    readers: &Readers,
    wanted: &Wanted,
    by: &Arc<str>,
) -> Result<Reprocessed, Fault> {
    let asked = wanted.clone();
    let found = engine.query(move |store| asked.find(store)).await?.ok_or(Fault::UnknownEvent)?;
    let (looked_at, mut rows) = (found.rows.len(), Vec::new());
    for (key, event) in found.rows {
        let row = one(engine, readers, wanted, by, (key, event)).await?;
        // A shop's other notifications are many, and stay what they are.
        if row.changes || row.becomes != Received::Ignored.as_str() {
            rows.push(row);
        }
    }
    Ok(Reprocessed { applied: wanted.apply, looked_at, rows, next: found.next })
}

async fn one(
    engine: &Engine,
    readers: &Readers,
    wanted: &Wanted,
    by: &Arc<str>,
    (key, event): (EventKey, Event),
) -> Result<ReadAgain, Fault> {
    if let Some(at) = event.dropped_at {
        let why = format!(
            "it was worked off, and its body was dropped at {}: nothing is left to read",
            rfc3339(at)
        );
        return Ok(unmoved(&key, &event, why));
    }
    let notice = match read(readers, &key, &event) {
        Ok(notice) => notice,
        Err(why) => return Ok(unmoved(&key, &event, why)),
    };
    let stamp = Stamp { id: fresh::command_id(), by: by.clone(), reason: wanted.reason.clone() };
    let (account, source) = (key.account.clone(), event.source.clone());
    let detail = why(&notice);
    let command = Command::Reprocess(Reprocess { stamp, source, account, notice });
    let (policy, now, tried) = (engine.policy().clone(), engine.now(), command.clone());
    let trial = engine.query(move |store| Trial::of(store, &tried, now, &policy)).await?;
    let row = ReadAgain { detail, ..unmoved(&key, &event, String::new()) };
    let row = trial.shown(row, engine.policy());
    if !wanted.apply || !row.changes {
        return Ok(row);
    }
    let reply = engine.submit(command).await?;
    let row = replied(row, &reply);
    tracing::info!(event = %key, outcome = row.becomes, order = row.order, by = &**by, "read again");
    Ok(row)
}

/// What became of it, if that differs from what was to be expected: another writer may have been faster.
fn replied(row: ReadAgain, reply: &Reply) -> ReadAgain {
    match reply {
        Reply::Received(replies) => match replies.first() {
            Some(reply) => ReadAgain {
                becomes: reply.received.as_str().to_owned(),
                order: reply.order.as_ref().map(ToString::to_string),
                ..row
            },
            None => row,
        },
        Reply::Refused(refusal) => refused(row, refusal),
        _ => row,
    }
}

fn refused(row: ReadAgain, refusal: &Refusal) -> ReadAgain {
    let (becomes, detail) = (row.before.clone(), Some(refusal.to_string()));
    ReadAgain { becomes, detail, changes: false, standing: None, ..row }
}

/// A row that stays as it is.
fn unmoved(key: &EventKey, event: &Event, why: String) -> ReadAgain {
    let before = event.outcome.as_str().to_owned();
    ReadAgain {
        source: event.source.to_string(),
        id: key.id.to_string(),
        kind: event.kind.to_string(),
        becomes: before.clone(),
        before,
        detail: Some(why),
        changes: false,
        order: None,
        standing: None,
        tasks: Vec::new(),
        entitlements: Vec::new(),
        cases: Vec::new(),
    }
}

/// The event as the contract of its source reads it now, or why nothing of it may be applied there.
fn read(readers: &Readers, key: &EventKey, event: &Event) -> Result<Notice, String> {
    let source = &event.source;
    let (account, contract) = readers
        .get(source.as_str())
        .ok_or_else(|| format!("there is no source {source} any more: nothing says how to read it"))?;
    if *account != key.account {
        return Err(format!("it is stored for {}; source {source} is for {account} now", key.account));
    }
    let notice = contract.read_stored(&Stored::of(key, event));
    // P6: as if it came now. What is genuine and not for this source moves nothing.
    if let Some(named) = notice.account.as_ref().filter(|named| **named != account.name) {
        return Err(format!("it names account {named}; source {source} is for {}", account.name));
    }
    if let Some(mode) = notice.mode.filter(|mode| *mode != account.mode) {
        return Err(format!("it is a {mode} event; source {source} is for {}", account.mode));
    }
    Ok(notice)
}

fn why(notice: &Notice) -> Option<String> {
    match &notice.reading {
        Reading::Unreadable(why) => Some(why.clone()),
        Reading::Ignored | Reading::Facts(_) => None,
    }
}
