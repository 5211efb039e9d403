//! `paidonce sweep`: does now what time has made due; with `--all` also applies the present policy to every order.

use clap::Args;
use paidonce_engine::Clock as _;
use paidonce_ledger::{Command, Key, Keys};
use paidonce_store::{Bodies, OldBodies, OrderFilter, PAGE_MAX, Page, Stale};
use serde::Serialize;

use super::context::Context;
use super::transport::Direct;
use crate::clock::SystemClock;
use crate::output::{Exit, Failure};

/// Which.
#[derive(Debug, Args)]
pub(super) struct SweepArgs {
    /// Every order, not only what is due: after `[policy]` was changed.
    #[arg(long)]
    all: bool,
}

/// How many were swept.
#[derive(Debug, Serialize)]
struct Swept {
    swept: usize,
}

pub(super) fn run(args: &SweepArgs, context: &Context) -> Result<Exit, Failure> {
    let direct = context.direct()?;
    let mut swept = due(&direct)?;
    if args.all {
        swept += all(&direct)?;
    }
    context.output.show(&Swept { swept }, |swept| format!("Swept {}.", swept.swept));
    Ok(Exit::Ok)
}

fn due(direct: &Direct) -> Result<usize, Failure> {
    let (now, policy) = (SystemClock.now(), direct.policy());
    let unbound = policy.unbound_after_ms.map(|ms| (paidonce_ledger::Timestamp(i64::MIN), now.plus_ms(-ms)));
    let configured = policy.configured();
    let stale = Stale { expired_by: now, unbound, configured, limit: usize::MAX };
    Ok(submit(direct, direct.store().stale(&stale)?)? + bodies(direct)?)
}

/// Every body whose time is over, page by page.
fn bodies(direct: &Direct) -> Result<usize, Failure> {
    let Some(retention_ms) = direct.policy().body_retention_ms else { return Ok(0) };
    let by = SystemClock.now().plus_ms(-retention_ms);
    let (mut after, mut swept) = (paidonce_ledger::Timestamp(i64::MIN), 0);
    loop {
        let wanted = Bodies { after, by, walk: 16 * PAGE_MAX, limit: PAGE_MAX };
        let OldBodies { events, to } = direct.store().old_bodies(&wanted)?;
        let full = events.len() >= PAGE_MAX;
        swept += submit(direct, events.into_iter().map(Key::Event).collect())?;
        if !full && to >= by {
            return Ok(swept);
        }
        after = to;
    }
}

fn all(direct: &Direct) -> Result<usize, Failure> {
    let (mut page, mut swept) = (Page::first(PAGE_MAX), 0);
    loop {
        let listed = direct.store().orders(&OrderFilter::default(), &page)?;
        swept += submit(direct, listed.rows.into_iter().map(Key::Order).collect())?;
        match listed.next {
            Some(next) => page.after = Some(next),
            None => return Ok(swept),
        }
    }
}

fn submit(direct: &Direct, keys: Keys) -> Result<usize, Failure> {
    let swept = keys.len();
    for key in keys {
        direct.submit(Command::Sweep(key))?;
    }
    Ok(swept)
}
