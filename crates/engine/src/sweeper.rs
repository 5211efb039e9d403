//! The sweeper: finds what time has made due by asking the store, and has each swept by a command (P10).
//!
//! It decides nothing. What a sweep does is the ledger's, and a second sweep of the same is a no-op, so that any number
//! of processes may sweep.

use std::future::Future;
use std::time::Duration;

use paidonce_ledger::{Command, Key, Timestamp};
use paidonce_store::{OrderFilter, PAGE_MAX, Page, Result as StoreResult, Stale};

use crate::engine::Engine;

/// How the sweeper works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SweeperSettings {
    /// How long to wait between looks.
    pub poll: Duration,
    /// How many of each kind to take at a look.
    pub take: usize,
}

impl Default for SweeperSettings {
    fn default() -> Self {
        Self { poll: Duration::from_secs(5), take: 256 }
    }
}

/// Sweeps until `stop` ends.
pub async fn sweep(engine: Engine, settings: SweeperSettings, stop: impl Future<Output = ()>) {
    tokio::pin!(stop);
    let mut seen = Seen::default();
    loop {
        let full = seen.look(&engine, settings.take).await.unwrap_or(false);
        let rest = async {
            if !full {
                engine.clock().sleep(settings.poll).await;
            }
        };
        tokio::select! {
            () = &mut stop => return,
            () = rest => {}
        }
    }
}

/// Up to when payments were looked at that find no order: they stay unbound, so that each is looked at once.
struct Seen(Timestamp);

impl Default for Seen {
    fn default() -> Self {
        Self(Timestamp(i64::MIN))
    }
}

impl Seen {
    /// One look. Answers whether there may be more at once.
    async fn look(&mut self, engine: &Engine, take: usize) -> StoreResult<bool> {
        let now = engine.now();
        let to = engine.policy().unbound_after_ms.map(|ms| now.plus_ms(-ms));
        let unbound = to.map(|to| (self.0, to));
        let configured = engine.policy().configured();
        let stale = Stale { expired_by: now, unbound, configured, limit: take };
        let keys = engine.query(move |store| store.stale(&stale)).await?;
        let payments = keys.iter().filter(|key| matches!(key, Key::Payment(_))).count();
        let orders = keys.len() - payments;
        let swept = submit(engine, keys.into_iter().collect()).await;
        // A full look at payments may have left some: the next one begins where this one did, and what was swept
        // already changes nothing. (Their times are not the sweeper's to know.)
        if let Some(to) = to.filter(|_| swept && payments < take) {
            self.0 = to;
        }
        Ok(swept && orders >= take)
    }
}

/// Answers whether all of them were swept.
async fn submit(engine: &Engine, keys: Vec<Key>) -> bool {
    let mut sweeps = tokio::task::JoinSet::new();
    for key in keys {
        let engine = engine.clone();
        sweeps.spawn(async move { engine.submit(Command::Sweep(key)).await.is_ok() });
    }
    let mut all = true;
    while let Some(swept) = sweeps.join_next().await {
        all &= swept.unwrap_or(false);
    }
    all
}

/// Sweeps every order there is: what a changed policy decides otherwise is decided now. Answers how many there were.
///
/// # Errors
/// The store cannot be read.
pub async fn sweep_all(engine: &Engine, mut progress: impl FnMut(u64)) -> StoreResult<u64> {
    let (mut page, mut done) = (Page::first(PAGE_MAX), 0_u64);
    loop {
        let asked = page.clone();
        let listed = engine.query(move |store| store.orders(&OrderFilter::default(), &asked)).await?;
        done += listed.rows.len() as u64;
        submit(engine, listed.rows.into_iter().map(Key::Order).collect()).await;
        progress(done);
        match listed.next {
            Some(next) => page.after = Some(next),
            None => return Ok(done),
        }
    }
}
