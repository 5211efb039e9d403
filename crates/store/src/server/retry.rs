//! When a batch is tried again. Every try begins at BEGIN and reads everything again, because the writer that won may
//! have been this request's own twin.

use std::time::Duration;

use paidonce_ledger::{Command, Policy, Reply, Timestamp};

use crate::batch::Deciding;
use crate::grant_sql;
use crate::{Result, StoreError, StoreErrorKind};

/// How often a batch is tried while others keep changing what it rests on.
const TRIES_MAX: u32 = 8;

/// How often it is tried on a new connection while connections are lost before their COMMIT was sent.
const LOST_MAX: u32 = 3;

/// Runs `attempt` until it commits, or trying does not help.
///
/// # Errors
/// [`StoreErrorKind::Conflict`] after the last try: smaller batches may fare better. Of one grant whose merchant's
/// statement met it, [`StoreErrorKind::Merchant`]. [`StoreErrorKind::Unknown`]
/// is never tried here: whoever asked must know that the answer of the first try was lost.
pub(crate) fn commit(
    batch: &[Command],
    now: Timestamp,
    policy: &Policy,
    mut attempt: impl FnMut(&mut Deciding<'_>) -> Result<Vec<Reply>>,
) -> Result<Vec<Reply>> {
    let mut deciding = Deciding::new(batch, now, policy);
    let (mut conflicts, mut lost) = (0, 0);
    loop {
        let error = match attempt(&mut deciding) {
            Ok(replies) => return Ok(replies),
            Err(error) => error,
        };
        if !worth_another(&error, &mut conflicts, &mut lost) {
            return Err(if batch.len() == 1 { grant_sql::tried_enough(error) } else { error });
        }
        deciding.restart();
        // The first conflict is mostly a lock that was asked for out of order: the next try knows the order.
        std::thread::sleep(pause(conflicts + lost));
    }
}

fn worth_another(error: &StoreError, conflicts: &mut u32, lost: &mut u32) -> bool {
    match error.kind() {
        StoreErrorKind::Conflict => {
            *conflicts += 1;
            *conflicts < TRIES_MAX
        }
        StoreErrorKind::Unavailable => {
            *lost += 1;
            *lost < LOST_MAX
        }
        _ => false,
    }
}

/// None before the second try, then up to 5 ms, doubled at each try, at most 160 ms. Spread by the thread, so that
/// two that collided do not collide again.
fn pause(tried: u32) -> Duration {
    use std::hash::{BuildHasher, RandomState};
    if tried < 2 {
        return Duration::ZERO;
    }
    let most_us = 5_000_u64 << (tried - 2).min(5);
    Duration::from_micros(RandomState::new().hash_one(tried) % most_us)
}

#[cfg(test)]
mod tests {
    use super::*;
    use paidonce_ledger::testing::id;
    use paidonce_ledger::{TaskKey, Unit};

    fn fails(kind: StoreErrorKind) -> (u32, StoreErrorKind) {
        let (policy, mut tries) = (Policy::default(), 0);
        let result = commit(&[], Timestamp(0), &policy, |_| {
            tries += 1;
            Err(StoreError::new(kind, "on purpose"))
        });
        (tries, result.unwrap_err().kind())
    }

    #[test]
    fn conflicts_and_lost_connections_are_tried_again_and_unknown_outcomes_never() {
        assert_eq!(fails(StoreErrorKind::Conflict), (TRIES_MAX, StoreErrorKind::Conflict));
        assert_eq!(fails(StoreErrorKind::Unavailable), (LOST_MAX, StoreErrorKind::Unavailable));
        assert_eq!(fails(StoreErrorKind::Unknown), (1, StoreErrorKind::Unknown));
        assert_eq!(fails(StoreErrorKind::Full), (1, StoreErrorKind::Full));
    }

    #[test]
    fn p10_a_merchants_conflict_is_theirs_after_the_last_try_and_nobody_elses_is() {
        let commit_of = |batch: &[Command]| {
            let (policy, mut tries) = (Policy::default(), 0);
            let result = commit(batch, Timestamp(0), &policy, |_| {
                tries += 1;
                Err(StoreError::new(StoreErrorKind::Conflict, "deadlock").of_merchants())
            });
            (tries, result.unwrap_err().kind())
        };
        let grant = || Command::Grant(TaskKey::grant(id("o_1"), Unit::Order));
        assert_eq!(commit_of(&[grant()]), (TRIES_MAX, StoreErrorKind::Merchant));
        // Others were in the batch: it is halved first, and never decides their fate.
        assert_eq!(commit_of(&[grant(), grant()]), (TRIES_MAX, StoreErrorKind::Conflict));
    }

    #[test]
    fn pauses_grow_and_end() {
        assert_eq!((pause(0), pause(1)), (Duration::ZERO, Duration::ZERO));
        assert!((2..40).all(|tried| pause(tried) < Duration::from_millis(160)));
    }
}
