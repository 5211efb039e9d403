//! What a command would do: run on the rows that a store loads for it, looked at, and thrown away.

use paidonce_ledger::{Changes, Command, Ledger, OrderId, Policy, Received, Reply, Standing, Timestamp};
use paidonce_store::{Result, Store, StoreError, StoreErrorKind};

use super::refused;
use crate::http::dto::{CaseShown, EntitlementShown, ReadAgain, StandingChange, TaskShown};

/// How often a command may ask for more rows before that is a bug.
const ROUNDS_MAX: usize = 32;

/// A command that was tried.
pub(super) struct Trial {
    before: Ledger,
    after: Ledger,
    changes: Changes,
    reply: Reply,
}

impl Trial {
    /// Tries a command on the store as it is.
    pub(super) fn of(store: &dyn Store, command: &Command, now: Timestamp, policy: &Policy) -> Result<Self> {
        let mut keys = command.keys();
        for _ in 0..ROUNDS_MAX {
            let before = store.load(&keys)?;
            let mut after = before.clone();
            match after.execute(command, now, policy) {
                Reply::Need(more) => keys.extend(more),
                reply => return Ok(Self { changes: after.take_changes(), before, after, reply }),
            }
        }
        Err(StoreError::new(StoreErrorKind::Internal, "a command asked for more rows without end"))
    }

    /// Writes what would change into the row of an event that was read again.
    pub(super) fn shown(&self, row: ReadAgain, policy: &Policy) -> ReadAgain {
        let reply = match &self.reply {
            Reply::Received(replies) => replies.first(),
            Reply::Refused(refusal) => return refused(row, refusal),
            _ => None,
        };
        let Some(reply) = reply else { return row };
        let kind = self.changes.events.first().and_then(|change| change.after.as_ref());
        let order = reply.order.as_ref();
        ReadAgain {
            kind: kind.map_or(row.kind, |event| event.kind.to_string()),
            becomes: reply.received.as_str().to_owned(),
            detail: row.detail.or_else(|| rejected(reply.received)),
            changes: self.changed(),
            order: order.map(ToString::to_string),
            standing: order.and_then(|id| self.standing(id, policy)),
            tasks: after(&self.changes.tasks, TaskShown::of),
            entitlements: after(&self.changes.entitlements, |(order, unit), row| {
                EntitlementShown::of(order, *unit, row)
            }),
            cases: after(&self.changes.cases, CaseShown::of),
            ..row
        }
    }

    /// Whether it does anything but leave its own trace.
    fn changed(&self) -> bool {
        let changes = self.changes.clone();
        !Changes { commands: Vec::new(), audits: Vec::new(), ..changes }.is_empty()
    }

    fn standing(&self, id: &OrderId, policy: &Policy) -> Option<StandingChange> {
        let word = |ledger: &Ledger| {
            let order = ledger.orders.get(id)?;
            let facts: Vec<_> =
                order.payments.iter().map(|key| (key.clone(), ledger.facts_of(key))).collect();
            Some(Standing::of(id, order, &facts, policy).word.as_str().to_owned())
        };
        Some(StandingChange { before: word(&self.before)?, after: word(&self.after)? })
    }
}

/// Rows that change, as they are then.
fn after<K, R, T>(changes: &[paidonce_ledger::Change<K, R>], shown: impl Fn(&K, &R) -> T) -> Vec<T> {
    changes.iter().filter_map(|change| Some(shown(&change.key, change.after.as_ref()?))).collect()
}

fn rejected(received: Received) -> Option<String> {
    let why = "its payment finds no order, and its source refuses such payments";
    (received == Received::Rejected).then(|| why.to_owned())
}
