//! The sweeper: finds what time has made due by asking the store, and has each swept by a command (P10).
//!
//! It decides nothing. What a sweep does is the ledger's, and a second sweep of the same is a no-op, so that any number
//! of processes may sweep.

use std::future::Future;
use std::time::Duration;

use paidonce_ledger::{Command, Key, Keys, Timestamp};
use paidonce_store::{Bodies, OldBodies, OrderFilter, PAGE_MAX, Page, Result as StoreResult, Stale};

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

/// So often the search for old bodies begins again with the first event.
const BODIES_AGAIN_MS: i64 = 86_400_000;

/// Events that one look walks past, for each body that it may take.
const WALK: usize = 16;

/// Before everything.
const FIRST: Timestamp = Timestamp(i64::MIN);

/// Up to when things were looked at that stay as they are, so that each is looked at once.
struct Seen {
    /// Payments that find no order.
    unbound: Timestamp,
    /// Events' bodies.
    bodies: Timestamp,
    /// When the search for bodies last began with the first event.
    bodies_since: Option<Timestamp>,
}

impl Default for Seen {
    fn default() -> Self {
        Self { unbound: FIRST, bodies: FIRST, bodies_since: None }
    }
}

impl Seen {
    /// One look. Answers whether there may be more at once.
    async fn look(&mut self, engine: &Engine, take: usize) -> StoreResult<bool> {
        let more = self.stale(engine, take).await?;
        Ok(self.bodies(engine, take).await? || more)
    }

    async fn stale(&mut self, engine: &Engine, take: usize) -> StoreResult<bool> {
        let now = engine.now();
        let to = engine.policy().unbound_after_ms.map(|ms| now.plus_ms(-ms));
        let unbound = to.map(|to| (self.unbound, to));
        let configured = engine.policy().configured();
        let stale = Stale { expired_by: now, unbound, configured, limit: take };
        let keys = engine.query(move |store| store.stale(&stale)).await?;
        let payments: Keys = keys.iter().filter(|key| matches!(key, Key::Payment(_))).cloned().collect();
        let (orders, full) = (keys.len() - payments.len(), payments.len() >= take);
        // A full look at payments may have left some, the last of which may be of the same millisecond as the next.
        let seen = if full { before_last(engine, payments).await?.max(self.unbound.plus_ms(1)) } else { now };
        let swept = submit(engine, keys.into_iter().collect()).await;
        if let Some(to) = to.filter(|_| swept) {
            self.unbound = seen.min(to);
        }
        Ok(swept && (orders >= take || full))
    }

    /// Each look goes on where the last one ended: what was dropped, and what never is, is walked past once. An event whose
    /// case ends after that is found when the walk begins again, within a day, and it is days that retention counts in.
    async fn bodies(&mut self, engine: &Engine, take: usize) -> StoreResult<bool> {
        let Some(retention_ms) = engine.policy().body_retention_ms else { return Ok(false) };
        let (now, after) = (engine.now(), self.bodies);
        let by = now.plus_ms(-retention_ms);
        let wanted = Bodies { after, by, walk: WALK * take, limit: take };
        let OldBodies { events, to } = engine.query(move |store| store.old_bodies(&wanted)).await?;
        let full = events.len() >= take;
        let swept = submit(engine, events.into_iter().map(Key::Event).collect()).await;
        if swept {
            self.bodies = to;
        }
        let since = *self.bodies_since.get_or_insert(now);
        if self.bodies >= by && since.plus_ms(BODIES_AGAIN_MS) <= now {
            (self.bodies, self.bodies_since) = (FIRST, Some(now));
        }
        Ok(swept && full)
    }
}

/// Right before the last of these payments was first heard of.
async fn before_last(engine: &Engine, payments: Keys) -> StoreResult<Timestamp> {
    let ledger = engine.query(move |store| store.load(&payments)).await?;
    let last = ledger.payments.rows().values().map(|payment| payment.first_at).max();
    Ok(last.map_or(FIRST, |last| last.plus_ms(-1)))
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
