//! The outbox's rows: tasks, and what came of each try.

use std::sync::Arc;

use paidonce_ledger::{
    Attempt, AttemptKey, Body, EffectName, Lease, Occasion, Request, Task, TaskKey, TaskKind, TaskState,
    Unit, Work,
};

use super::Kind::{self, Blob, Int, Text};
use super::shape::in_tables;
use super::word::parse_subject;
use super::{
    Column, Reader, Shape, Stored, blob, corrupt, count, int, maybe, owned, subject_columns, text, time,
};
use crate::Result;

/// The key columns of a task, which an attempt's key begins with.
const KEYS: usize = 7;

/// A task's key columns, in order.
pub(crate) fn key_columns(key: &TaskKey) -> Vec<Column<'_>> {
    let (kind, account, id) = subject_columns(&key.subject);
    vec![
        text(kind),
        owned(account),
        text(id),
        text(key.kind().as_str()),
        owned(key.unit().map(|unit| unit.to_string()).unwrap_or_default()),
        text(key.effect().map_or("", EffectName::as_str)),
        owned(key.occasion().map(ToString::to_string).unwrap_or_default()),
    ]
}

fn read_key(from: &mut Reader<'_>) -> Result<TaskKey> {
    let (kind, account, id) = (from.text()?, from.text()?, from.text()?);
    let subject =
        parse_subject(&kind, &account, &id).ok_or_else(|| corrupt(format!("a task of {kind} {id:?}")))?;
    let kind = from.parse(TaskKind::parse)?;
    let (unit, effect, occasion) = (from.text()?, from.text()?, from.text()?);
    let work = work(kind, &unit, &effect, &occasion);
    let work = work.ok_or_else(|| corrupt(format!("a {} task of {id:?}", kind.as_str())))?;
    Ok(TaskKey { subject, work })
}

fn work(kind: TaskKind, unit: &str, effect: &str, occasion: &str) -> Option<Work> {
    Some(match kind {
        TaskKind::Lookup => Work::Lookup,
        TaskKind::Grant => Work::Grant(Unit::parse(unit)?),
        TaskKind::Sync => Work::Sync { unit: Unit::parse(unit)?, effect: effect.parse().ok()? },
        TaskKind::Send => Work::Send {
            unit: Unit::parse(unit)?,
            effect: effect.parse().ok()?,
            occasion: Occasion::parse(occasion)?,
        },
    })
}

/// Where a task that a worker has to do is looked for: 1, else 0.
fn active(state: TaskState) -> i64 {
    i64::from(state.active())
}

impl Stored for Task {
    type Key = TaskKey;
    const SHAPE: Shape = Shape {
        table: "task",
        columns: &[
            ("subject_kind", Text),
            ("subject_account", Text),
            ("subject_id", Text),
            ("kind", Text),
            ("unit", Text),
            ("effect", Text),
            ("occasion", Text),
            ("handle", Text),
            ("state", Text),
            ("active", Int),
            ("created_at", Int),
            ("due_at", Int),
            ("attempts", Int),
            ("order_revision", Int),
            ("delivered", Int),
            ("version", Int),
            ("lease_owner", Text),
            ("lease_until", Int),
            ("sent_revision", Int),
            ("sent_body", Blob),
            ("sent_at", Int),
            ("sent_unsure", Int),
            ("trace", Text),
        ],
        keys: KEYS,
        fixed: &["handle"],
    };

    in_tables!(tasks);

    fn write<'a>(key: &'a TaskKey, row: &'a Self) -> Result<Vec<Column<'a>>> {
        let (lease, request) = (row.lease.as_ref(), row.request.as_ref());
        let mut columns = key_columns(key);
        columns.extend([
            owned(key.handle()),
            text(row.state.as_str()),
            int(active(row.state)),
            time(row.created_at),
            time(row.due_at),
            int(row.attempts.into()),
            count(row.order_revision),
            count(row.delivered),
            count(row.version),
            maybe(lease, |lease| text(lease.owner.as_str())),
            maybe(lease, |lease| time(lease.until)),
            maybe(request, |request| count(request.revision)),
            maybe(request, |request| blob(request.body.bytes())),
            maybe(request, |request| time(request.first_at)),
            maybe(request, |request| int(request.uncertain.into())),
            maybe(row.trace.as_deref(), text),
        ]);
        Ok(columns)
    }

    fn read(from: &mut Reader<'_>) -> Result<(TaskKey, Self)> {
        let key = read_key(from)?;
        let (_handle, state, _active) = (from.text()?, from.parse(TaskState::parse)?, from.int()?);
        let (created_at, due_at, attempts) = (from.time()?, from.time()?, from.number()?);
        let (order_revision, delivered, version) = (from.number()?, from.number()?, from.number()?);
        let (owner, until) = (from.maybe_id()?, from.maybe_time()?);
        let lease = owner.zip(until).map(|(owner, until)| Lease { owner, until });
        let request = read_request(from)?;
        let trace = from.trace()?;
        let row = Self {
            state,
            created_at,
            due_at,
            attempts,
            order_revision,
            delivered,
            version,
            lease,
            request,
            trace,
        };
        Ok((key, row))
    }
}

fn read_request(from: &mut Reader<'_>) -> Result<Option<Request>> {
    let (revision, body) = (from.maybe_int()?, from.maybe_blob()?);
    let (first_at, unsure) = (from.maybe_time()?, from.maybe_int()?);
    let (Some(revision), Some(body), Some(first_at)) = (revision, body, first_at) else { return Ok(None) };
    let revision = u64::try_from(revision).map_err(|_| corrupt("a number out of range"))?;
    Ok(Some(Request { revision, body: Body::new(body.to_vec()), first_at, uncertain: unsure == Some(1) }))
}

impl Stored for Attempt {
    type Key = AttemptKey;
    const SHAPE: Shape = Shape { table: "attempt", columns: &ATTEMPT, keys: KEYS + 1, fixed: &[] };

    in_tables!(attempts);

    fn write<'a>(key: &'a AttemptKey, row: &'a Self) -> Result<Vec<Column<'a>>> {
        let mut columns = key_columns(&key.task);
        columns.extend([
            count(key.version),
            text(row.owner.as_str()),
            time(row.at),
            count(row.took_ms),
            text(&row.outcome),
            text(&row.detail),
        ]);
        Ok(columns)
    }

    fn read(from: &mut Reader<'_>) -> Result<(AttemptKey, Self)> {
        let key = AttemptKey { task: read_key(from)?, version: from.number()? };
        let (owner, at, took_ms) = (from.id()?, from.time()?, from.number()?);
        let (outcome, detail): (Arc<str>, Arc<str>) = (from.text()?.into(), from.text()?.into());
        Ok((key, Self { owner, at, took_ms, outcome, detail }))
    }
}

const ATTEMPT: [(&str, Kind); 13] = [
    ("subject_kind", Text),
    ("subject_account", Text),
    ("subject_id", Text),
    ("kind", Text),
    ("unit", Text),
    ("effect", Text),
    ("occasion", Text),
    ("version", Int),
    ("owner", Text),
    ("at", Int),
    ("took_ms", Int),
    ("outcome", Text),
    ("detail", Text),
];
