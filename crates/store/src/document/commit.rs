//! The document's commit: execute on the copy at hand, write if nobody has written since, start again if somebody has.
//! Who won is only ever decided by reading the document: what the server answers may be the answer to a twin.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use paidonce_ledger::{Changes, Command, Digest, Policy, Reply, Timestamp};

use super::archive;
use super::backing::Put;
use super::format::{Document, Head};
use super::{DocumentStore, Held};
use crate::{Result, StoreError, StoreErrorKind};

/// How often a batch is tried while others win.
const TRIES_MAX: u32 = 24;

/// The longest pause between two tries.
const PAUSE_MAX_MS: u64 = 200;

/// What a batch makes of one version of the document.
struct Next {
    replies: Vec<Reply>,
    document: Document,
    changes: Changes,
}

/// The tries of one commit: each may still win after its answer was lost.
#[derive(Default)]
struct Tries {
    made: Vec<(String, Vec<Reply>)>,
    unknown: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Tries {
    /// The replies of the try that the document says has won.
    fn won(&mut self, head: &Head) -> Option<Vec<Reply>> {
        let won = self.made.iter().position(|(attempt, _)| head.recent.contains(attempt))?;
        Some(self.made.swap_remove(won).1)
    }

    /// An error after these tries. Once the outcome of one is not known, nothing else is known either.
    fn failed(self, error: StoreError) -> StoreError {
        match self.unknown {
            None => error,
            Some(cause) => StoreError::new(
                StoreErrorKind::Unknown,
                "the answer to a write was lost, and whether it was stored could not be read: it is safe to try again",
            )
            .caused_by(cause),
        }
    }
}

impl DocumentStore {
    pub(super) fn commit_batch(
        &self,
        batch: &[Command],
        now: Timestamp,
        policy: &Policy,
    ) -> Result<Vec<Reply>> {
        let mut tries = Tries::default();
        match self.try_commit(batch, now, policy, &mut tries) {
            Ok(replies) => Ok(replies),
            Err(error) => Err(tries.failed(error)),
        }
    }

    fn try_commit(
        &self,
        batch: &[Command],
        now: Timestamp,
        policy: &Policy,
        tries: &mut Tries,
    ) -> Result<Vec<Reply>> {
        let mut base = self.at_hand()?;
        for round in 0..TRIES_MAX {
            let mut next = self.decide(&base, batch, now, policy)?;
            if next.changes.is_empty() {
                // Nothing to write, but only if nobody has written: what was answered must be true now.
                let current = self.fresh()?;
                if current.version == base.version {
                    return Ok(next.replies);
                }
                base = current;
                continue;
            }
            let attempt = format!("{}-{}", self.writer, self.attempts.fetch_add(1, Ordering::Relaxed));
            next.document.head = base.document.head.next(&attempt);
            let bytes = self.encode(&mut next)?;
            let size = bytes.len();
            self.break_on_purpose()?;
            match self.backing.put("", bytes, base.version.as_ref()) {
                Put::Done(version) => {
                    let held = Held { version: Some(version), document: next.document, size };
                    self.install(Some(&base), Arc::new(held));
                    return Ok(next.replies);
                }
                Put::Moved => tries.made.push((attempt, next.replies)),
                Put::Unknown(cause) => {
                    tries.unknown = Some(cause);
                    tries.made.push((attempt, next.replies));
                }
            }
            base = self.fresh()?;
            if let Some(replies) = tries.won(&base.document.head) {
                return Ok(replies);
            }
            std::thread::sleep(self.pause(round));
        }
        Err(StoreError::new(
            StoreErrorKind::Busy,
            "too many processes write the document at once: none of this was stored, try again",
        ))
    }

    fn decide(&self, base: &Held, batch: &[Command], now: Timestamp, policy: &Policy) -> Result<Next> {
        let mut document = base.document.clone();
        let execute = |command: &Command| document.ledger.execute(command, now, policy);
        let replies: Vec<_> = batch.iter().map(execute).collect();
        if replies.iter().any(|reply| matches!(reply, Reply::Need(_))) {
            return Err(StoreError::new(StoreErrorKind::Internal, "a whole ledger asked for more rows"));
        }
        let changes = document.ledger.take_changes();
        // A body that was dropped is looked for nowhere.
        let dropped = changes
            .events
            .iter()
            .filter(|change| change.after.as_ref().is_some_and(|e| e.dropped_at.is_some()));
        dropped.for_each(|change| drop(document.archived.remove(&change.key)));
        Ok(Next { replies, document, changes })
    }

    /// The bytes, if there is room for them.
    fn encode(&self, next: &mut Next) -> Result<Vec<u8>> {
        archive::move_out(&*self.backing, &mut next.document, self.limit.bodies)?;
        let bytes = next.document.encode()?;
        self.limit.admit(bytes.len(), &next.changes)?;
        self.tell_if_near(bytes.len());
        Ok(bytes)
    }

    /// Longer with each try, and different for each writer, so that those that met do not meet again.
    fn pause(&self, round: u32) -> Duration {
        let longest = (4_u64 << round.min(6)).min(PAUSE_MAX_MS) * 1_000;
        let attempt = self.attempts.load(Ordering::Relaxed).to_be_bytes();
        let Digest([a, b, c, d, ..]) = Digest::of_parts([self.writer.as_bytes(), &attempt]);
        Duration::from_micros(u64::from(u32::from_be_bytes([a, b, c, d])) % longest)
    }

    #[cfg(feature = "conformance")]
    fn break_on_purpose(&self) -> Result<()> {
        if self.breaks.load(Ordering::SeqCst) {
            return Err(StoreError::new(StoreErrorKind::Unavailable, "broken on purpose"));
        }
        Ok(())
    }

    #[cfg(not(feature = "conformance"))]
    fn break_on_purpose(&self) -> Result<()> {
        Ok(())
    }
}
