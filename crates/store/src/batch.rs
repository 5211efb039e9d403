//! The loop that every store runs: load, decide, load more if something was missing, until each command has a reply.

use paidonce_ledger::{Command, Keys, Ledger, Policy, Reply, Timestamp};

use crate::Result;
use crate::error::{StoreError, StoreErrorKind};

/// How often a batch may ask for more before that is a bug.
const ROUNDS_MAX: usize = 32;

/// Where rows come from: the one thing in which stores differ while a batch is decided.
pub(crate) trait Fetch {
    /// Puts everything under `keys` into `ledger` and marks each key as loaded, under lock where there are locks,
    /// in the keys' own order.
    fn fetch(&mut self, keys: &Keys, ledger: &mut Ledger) -> Result<()>;
}

/// Fetches `keys` and everything they lead to.
pub(crate) fn load(from: &mut dyn Fetch, keys: Keys, ledger: &mut Ledger) -> Result<()> {
    let mut wanted: Keys = keys.into_iter().filter(|key| !ledger.is_loaded(key)).collect();
    while !wanted.is_empty() {
        from.fetch(&wanted, ledger)?;
        wanted = ledger.implied();
    }
    Ok(())
}

/// Decides a batch on freshly loaded rows. The ledger's changes are the caller's to flush.
pub(crate) fn decide(
    from: &mut dyn Fetch,
    batch: &[Command],
    now: Timestamp,
    policy: &Policy,
) -> Result<(Vec<Reply>, Ledger)> {
    let mut wanted: Keys = batch.iter().flat_map(Command::keys).collect();
    for _ in 0..ROUNDS_MAX {
        let mut ledger = Ledger::unloaded();
        load(from, wanted.clone(), &mut ledger)?;
        let mut replies = Vec::with_capacity(batch.len());
        let mut missing = Keys::new();
        for command in batch {
            match ledger.execute(command, now, policy) {
                // The rest is not tried: a command must see what the one before it did.
                Reply::Need(keys) => {
                    missing = keys;
                    break;
                }
                reply => replies.push(reply),
            }
        }
        if missing.is_empty() {
            return Ok((replies, ledger));
        }
        wanted.extend(missing);
    }
    Err(StoreError::new(StoreErrorKind::Internal, "a batch asked for more rows without end"))
}
