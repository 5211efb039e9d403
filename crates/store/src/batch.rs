//! What every store does with a batch: load, decide, load more if something was missing, until each command has a
//! reply. It does no I/O: a store asks what to fetch, fetches it in its own way, blocking or not, and comes back.

use paidonce_ledger::{Command, Keys, Ledger, Policy, Reply, Timestamp};

use crate::Result;
use crate::error::{StoreError, StoreErrorKind};

/// How often a batch may ask for more before that is a bug.
const ROUNDS_MAX: usize = 32;

/// A batch on its way to its replies.
pub(crate) struct Deciding<'a> {
    batch: &'a [Command],
    now: Timestamp,
    policy: &'a Policy,
    /// Everything that is known to be needed. It only grows.
    wanted: Keys,
    ledger: Ledger,
    rounds: usize,
}

/// What a store has to do next.
pub(crate) enum Step {
    /// Put everything under these keys into [`Deciding::ledger`] and mark each as loaded, under lock where there
    /// are locks. Then ask again.
    Fetch(Keys),
    /// Flush the ledger's changes, commit, and only then answer.
    Flush(Vec<Reply>),
}

impl<'a> Deciding<'a> {
    pub(crate) fn new(batch: &'a [Command], now: Timestamp, policy: &'a Policy) -> Self {
        let wanted = batch.iter().flat_map(Command::keys).collect();
        Self { batch, now, policy, wanted, ledger: Ledger::unloaded(), rounds: 0 }
    }

    /// Forgets what was fetched, and keeps what was learned of what is needed: for the next try, which can then
    /// take its locks in order.
    #[cfg(any(feature = "postgres", feature = "mysql"))]
    pub(crate) fn restart(&mut self) {
        self.ledger = Ledger::unloaded();
        self.rounds = 0;
    }

    /// Where fetched rows go.
    pub(crate) fn ledger(&mut self) -> &mut Ledger {
        &mut self.ledger
    }

    /// What was decided, to be flushed.
    pub(crate) fn into_ledger(self) -> Ledger {
        self.ledger
    }

    /// What to do next.
    ///
    /// # Errors
    /// A bug: the batch asks for more without end.
    pub(crate) fn step(&mut self) -> Result<Step> {
        while self.rounds < ROUNDS_MAX {
            self.rounds += 1;
            let missing = missing(&self.wanted, &self.ledger);
            if !missing.is_empty() {
                self.wanted.extend(missing.iter().cloned());
                return Ok(Step::Fetch(missing));
            }
            match self.execute() {
                Ok(replies) => return Ok(Step::Flush(replies)),
                Err(keys) => {
                    self.wanted.extend(keys);
                    // Decided afresh on freshly loaded rows: nothing of the try that fell short remains.
                    self.ledger = Ledger::unloaded();
                }
            }
        }
        Err(StoreError::new(StoreErrorKind::Internal, "a batch asked for more rows without end"))
    }

    fn execute(&mut self) -> Result<Vec<Reply>, Keys> {
        let mut replies = Vec::with_capacity(self.batch.len());
        for command in self.batch {
            match self.ledger.execute(command, self.now, self.policy) {
                // The rest is not tried: a command must see what the one before it did.
                Reply::Need(keys) => return Err(keys),
                reply => replies.push(reply),
            }
        }
        Ok(replies)
    }
}

/// What of `wanted`, and of everything that it leads to, is not loaded.
pub(crate) fn missing(wanted: &Keys, ledger: &Ledger) -> Keys {
    let missing: Keys = wanted.iter().filter(|key| !ledger.is_loaded(key)).cloned().collect();
    if missing.is_empty() { ledger.implied() } else { missing }
}

/// A store whose reads block.
#[cfg(feature = "sqlite")]
pub(crate) trait Fetch {
    /// Puts everything under `keys` into `ledger` and marks each key as loaded.
    fn fetch(&mut self, keys: &Keys, ledger: &mut Ledger) -> Result<()>;
}

/// Fetches `keys` and everything they lead to.
#[cfg(feature = "sqlite")]
pub(crate) fn load(from: &mut dyn Fetch, keys: &Keys, ledger: &mut Ledger) -> Result<()> {
    loop {
        let wanted = missing(keys, ledger);
        if wanted.is_empty() {
            return Ok(());
        }
        from.fetch(&wanted, ledger)?;
    }
}

/// Decides a batch on freshly loaded rows. The ledger's changes are the caller's to flush.
#[cfg(feature = "sqlite")]
pub(crate) fn decide(
    from: &mut dyn Fetch,
    batch: &[Command],
    now: Timestamp,
    policy: &Policy,
) -> Result<(Vec<Reply>, Ledger)> {
    let mut deciding = Deciding::new(batch, now, policy);
    loop {
        match deciding.step()? {
            Step::Fetch(keys) => from.fetch(&keys, deciding.ledger())?,
            Step::Flush(replies) => return Ok((replies, deciding.into_ledger())),
        }
    }
}
