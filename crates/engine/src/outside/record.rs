//! Writing down what came of a try. If that fails, the write is tried again, never the call.

use std::time::Duration;

use paidonce_ledger::{Command, Refusal, Reply, Settle, TaskKey};

use super::Outside;
use super::failpoint::{Point, at};
use super::stats::Stats;
use crate::committer::SubmitError;
use crate::destination::Answer;
use crate::engine::Engine;

/// What is kept of an answer for people, in characters.
const DETAIL_MAX: usize = 500;

/// What came of a try, and how long it took.
pub(super) struct Tried {
    pub(super) answer: Answer,
    pub(super) took: Duration,
}

impl Outside {
    pub(super) async fn record(&self, engine: &Engine, task: &TaskKey, version: u64, tried: Tried) {
        let Tried { answer, took } = tried;
        self.stats.attempted(&answer.outcome);
        let detail: String = answer.detail.chars().take(DETAIL_MAX).collect();
        let settle = Settle {
            task: task.clone(),
            version,
            outcome: answer.outcome,
            took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            detail: detail.into(),
        };
        at(Point::Recording);
        match self.write(engine, Command::Settle(settle)).await {
            // Settled by us, or by whoever was faster: either way it is recorded.
            Some(Reply::Settled(_)) => at(Point::Recorded),
            Some(Reply::Refused(Refusal::LeaseLost)) => Stats::add(&self.stats.lease_losses), // P9
            _ => Stats::add(&self.stats.unrecorded),
        }
    }

    /// Submits a command until it is answered, at most `writes_max` times: each finds its own trace.
    pub(super) async fn write(&self, engine: &Engine, command: Command) -> Option<Reply> {
        for tried in 1..=self.settings.writes_max {
            match engine.submit(command.clone()).await {
                Ok(reply) => return Some(reply),
                Err(SubmitError::Stopped) => return None,
                Err(SubmitError::Full | SubmitError::Store(_)) => {
                    engine.clock().sleep(pause(tried)).await;
                }
            }
        }
        None
    }
}

/// 20 ms, doubled at each try, at most a second.
fn pause(tried: u32) -> Duration {
    Duration::from_millis((20_u64 << tried.min(6)).min(1_000))
}
