//! One try of a message: claim, render once, prepare, call outside any transaction, record.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use paidonce_ledger::{
    Body, Claimed, Command, Happening, Outcome, Prepare, Refusal, Reply, Request, Task, TaskKey,
};
use paidonce_store::Store;

use super::failpoint::{Point, at};
use super::record::Tried;
use super::stats::Stats;
use super::{Health, Outside};
use crate::clock::Clock;
use crate::destination::{Answer, Destination, News, Sending};
use crate::engine::Engine;
use crate::view::order_view;

/// How often a message is rendered anew because something newer became desired meanwhile. The next try goes on.
const RENDERS_MAX: usize = 4;

/// Why nothing was sent.
enum Unsent {
    /// Somebody else has the task by now: nothing is to be said.
    Lost,
    /// It is tried later, for this reason.
    Later(String),
    /// It is not tried again by itself, for this reason.
    Never(String),
}

impl Outside {
    pub(super) async fn send(&self, engine: &Engine, task: &TaskKey, to: &dyn Destination) -> Health {
        let begun = engine.clock().instant();
        let Some(claimed) = self.claim(engine, task).await else { return Health::Unasked };
        let deadline = self.deadline(begun);
        let (answer, health) = if claimed.ask {
            let answer = ask(engine, &claimed, to, deadline).await;
            let health = if answer.outcome == Outcome::Uncertain { Health::Failed } else { Health::Answered };
            (answer, health)
        } else {
            match self.prepare(engine, task, &claimed, to).await {
                Ok((request, trace)) => {
                    at(Point::Prepared);
                    let answer = call(engine, sending(task, &claimed, request, trace, deadline), to).await;
                    at(Point::Answered);
                    let health = health(&answer.outcome);
                    (answer, health)
                }
                Err(Unsent::Lost) => return Health::Unasked,
                Err(Unsent::Later(why)) => (unsent(&claimed, why), Health::Unasked),
                Err(Unsent::Never(detail)) => (Answer { outcome: Outcome::Refused, detail }, Health::Unasked),
            }
        };
        let took = engine.clock().instant().saturating_duration_since(begun);
        self.record(engine, task, claimed.version, Tried { answer, took }).await;
        health
    }

    /// Stores what will be sent: what was rendered before, or what is rendered now (P11).
    async fn prepare(
        &self,
        engine: &Engine,
        task: &TaskKey,
        claimed: &Claimed,
        to: &dyn Destination,
    ) -> Result<(Request, Option<Arc<str>>), Unsent> {
        let mut stored = claimed.request.as_ref().map(|request| (request.revision, request.body.clone()));
        for _ in 0..RENDERS_MAX {
            let row = row(engine, task).await?;
            let (revision, body) = match stored.take() {
                Some(stored) => stored,
                None => (row.order_revision, render(engine, task, &row, to).await?),
            };
            let prepare = Prepare { task: task.clone(), version: claimed.version, revision, body };
            match engine.submit(Command::Prepare(prepare)).await {
                Ok(Reply::Prepared(request)) => return Ok((request, row.trace)),
                Ok(Reply::Refused(Refusal::Superseded)) => {}
                Ok(Reply::Refused(Refusal::LeaseLost)) => {
                    Stats::add(&self.stats.lease_losses);
                    return Err(Unsent::Lost);
                }
                Ok(Reply::Refused(refusal)) => return Err(Unsent::Later(refusal.to_string())),
                Ok(_) => {
                    return Err(Unsent::Later("the store gave an answer to another question".to_owned()));
                }
                Err(error) => return Err(Unsent::Later(error.to_string())),
            }
        }
        Err(Unsent::Later("something newer is to be sent, again and again".to_owned()))
    }
}

async fn row(engine: &Engine, task: &TaskKey) -> Result<Task, Unsent> {
    let handle = task.handle();
    let found = engine.query(move |store| store.task(&handle)).await;
    match found {
        Ok(Some((_, row))) => Ok(row),
        Ok(None) => Err(Unsent::Lost),
        Err(error) => Err(Unsent::Later(error.to_string())),
    }
}

async fn render(engine: &Engine, task: &TaskKey, row: &Task, to: &dyn Destination) -> Result<Body, Unsent> {
    let (asked, policy) = (task.clone(), engine.policy().clone());
    let (revision, at) = (row.order_revision, row.created_at);
    let load = move |store: &dyn Store| {
        let order = match asked.order() {
            Some(order) => order_view(store, &policy, order)?.map(Arc::new),
            None => None,
        };
        let case = match asked.occasion().filter(|occasion| occasion.what == Happening::CaseOpened) {
            Some(occasion) => store.case(&occasion.which)?.map(|(_, case)| case),
            None => None,
        };
        let key = asked.idempotency_key(revision);
        Ok(News { task: asked, key, revision, at, order, case })
    };
    let news = engine.query(load).await.map_err(|error| Unsent::Later(error.to_string()))?;
    if let Some(why) = to.objection(&news) {
        return Err(Unsent::Never(why));
    }
    let rendered = to.render(&news).map_err(|why| Unsent::Later(format!("it cannot be rendered: {why}")))?;
    Ok(Body::new(rendered))
}

fn sending(
    task: &TaskKey,
    claimed: &Claimed,
    request: Request,
    trace: Option<Arc<str>>,
    deadline: Instant,
) -> Sending {
    Sending {
        key: task.idempotency_key(request.revision),
        body: request.body,
        revision: request.revision,
        attempt: claimed.attempt,
        trace,
        deadline,
    }
}

/// Sends, unless the time is over already: nothing leaves after the deadline.
async fn call(engine: &Engine, sending: Sending, to: &dyn Destination) -> Answer {
    let deadline = sending.deadline;
    if engine.clock().instant() >= deadline {
        let detail = "no time was left before the lease's end: nothing was sent".to_owned();
        return Answer { outcome: Outcome::Retry(None), detail };
    }
    let answer = before(&**engine.clock(), deadline, to.send(sending)).await;
    answer.unwrap_or_else(|| {
        let detail = "there was no answer before the deadline".to_owned();
        Answer { outcome: Outcome::Uncertain, detail }
    })
}

/// Asks what became of a request that must not be sent again.
async fn ask(engine: &Engine, claimed: &Claimed, to: &dyn Destination, deadline: Instant) -> Answer {
    let uncertain = |detail: &str| Answer { outcome: Outcome::Uncertain, detail: detail.to_owned() };
    let Some(request) = claimed.request.clone() else {
        return uncertain("there is no request to ask about");
    };
    let sending = Sending {
        key: claimed.idempotency_key.clone(),
        body: request.body,
        revision: request.revision,
        attempt: claimed.attempt,
        trace: None,
        deadline,
    };
    let Some(asking) = to.ask(sending) else { return uncertain("the destination cannot be asked") };
    let answer = before(&**engine.clock(), deadline, asking).await;
    answer.unwrap_or_else(|| uncertain("the destination did not say in time what became of it"))
}

/// Nothing of this try has left. What an earlier one left uncertain is uncertain still.
fn unsent(claimed: &Claimed, detail: String) -> Answer {
    let uncertain = claimed.request.as_ref().is_some_and(|request| request.uncertain);
    Answer { outcome: if uncertain { Outcome::Uncertain } else { Outcome::Retry(None) }, detail }
}

fn health(outcome: &Outcome) -> Health {
    match outcome {
        Outcome::Done | Outcome::Refused => Health::Answered,
        Outcome::Retry(_) | Outcome::Uncertain => Health::Failed,
        Outcome::NotConfigured => Health::Unasked,
    }
}

/// Drives a call until the deadline; `None` when that comes first.
///
/// The time is looked at before each step of the call, so that a process that was stopped past its deadline and goes on
/// drops the call instead of sending (a timer of the runtime would fire only after the step).
pub(super) async fn before<T>(
    clock: &dyn Clock,
    deadline: Instant,
    call: impl Future<Output = T>,
) -> Option<T> {
    let mut call = pin!(call);
    let mut alarm = clock.sleep(deadline.saturating_duration_since(clock.instant()));
    poll_fn(|context| {
        if clock.instant() >= deadline {
            return Poll::Ready(None);
        }
        if let Poll::Ready(answer) = call.as_mut().poll(context) {
            return Poll::Ready(Some(answer));
        }
        alarm.as_mut().poll(context).map(|()| None)
    })
    .await
}
