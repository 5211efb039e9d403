//! The grant worker: woken by a commit, polling as the truth, and never spinning on what fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use paidonce_engine::{Engine, Grants, Settings, WorkerSettings, work};
use paidonce_ledger::testing::{about, eur, id, place, receive};
use paidonce_ledger::{CaptureState, Command, Fact, TaskKey, TaskState, Unit};
use paidonce_store::{Store, StoreErrorKind};
use tokio::sync::oneshot;

use crate::faulty::{Faulty, broken, engine};

async fn pay(engine: &Engine, n: usize) {
    let (order, payment) = (format!("o_{n}"), format!("pi_{n}"));
    engine.submit(Command::PlaceOrder(place(&order, &eur("1"), &[&payment]))).await.unwrap();
    let capture = Fact::captured(id(&payment), CaptureState::Settled, Some(eur("1")));
    engine.submit(receive(vec![about(&format!("evt_{n}"), &payment, vec![capture])])).await.unwrap();
}

/// Runs the worker beside `then`, and ends it after.
async fn beside(engine: &Engine, settings: WorkerSettings, then: impl Future<Output = ()>) {
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = tokio::spawn(work(engine.clone(), Grants, settings, async move {
        let _ = stopped.await;
    }));
    then.await;
    stop.send(()).unwrap();
    worker.await.unwrap();
}

async fn until_granted(store: &Faulty, n: u64) {
    while store.counts().unwrap().entitlements < n {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_wakes_the_worker() {
    let store = Arc::new(Faulty::default());
    let engine = engine(store.clone(), Settings::default());
    // Polls that never end: only the hint can wake it.
    let settings = WorkerSettings { poll: Duration::from_secs(60), take: 10 };
    beside(&engine, settings, async {
        for n in 0..5 {
            pay(&engine, n).await;
        }
        until_granted(&store, 5).await;
    })
    .await;
    assert_eq!(store.counts().unwrap().pending_tasks, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p10_what_was_pending_before_the_start_is_found_by_looking() {
    let store = Arc::new(Faulty::default());
    let engine = engine(store.clone(), Settings::default());
    for n in 0..25 {
        pay(&engine, n).await;
    }
    let settings = WorkerSettings { poll: Duration::from_secs(60), take: 10 };
    beside(&engine, settings, until_granted(&store, 25)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn grants_that_fail_stay_due_and_are_tried_again() {
    let failing = Arc::new(AtomicBool::new(true));
    let fails = failing.clone();
    let store = Faulty::with(move |batch| {
        let grants = batch.iter().any(|command| matches!(command, Command::Grant(_)));
        if grants && fails.load(SeqCst) { Err(broken(StoreErrorKind::Unavailable)) } else { Ok(()) }
    });
    let engine = engine(store.clone(), Settings::default());
    pay(&engine, 1).await;
    let before = store.tries.load(SeqCst);
    let settings = WorkerSettings { poll: Duration::from_millis(1), take: 10 };
    beside(&engine, settings, async {
        while store.tries.load(SeqCst) < before + 3 {
            tokio::task::yield_now().await;
        }
        assert_eq!(store.counts().unwrap().entitlements, 0);
        failing.store(false, SeqCst);
        until_granted(&store, 1).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p10_a_grant_that_the_merchant_refuses_is_put_off_and_holds_up_no_other() {
    let refused = TaskKey::grant(id("o_3"), Unit::Order);
    let theirs = refused.clone();
    let store = Faulty::with(move |batch| {
        let refuses = |command: &Command| matches!(command, Command::Grant(task) if *task == theirs);
        if batch.iter().any(refuses) { Err(broken(StoreErrorKind::Merchant)) } else { Ok(()) }
    });
    let engine = engine(store.clone(), Settings::default());
    for n in 0..6 {
        pay(&engine, n).await;
    }
    // Polls that never end: a worker that rested because of the one that fails would not come to the others.
    let settings = WorkerSettings { poll: Duration::from_secs(60), take: 2 };
    beside(&engine, settings, async {
        until_granted(&store, 5).await;
        while store.attempts(&refused).unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let (_, task) = store.task(&refused.handle()).unwrap().unwrap();
    assert_eq!((task.state, task.attempts), (TaskState::Pending, 1));
    assert!(task.due_at > engine.now(), "it waits");
    let (_, attempt) = store.attempts(&refused).unwrap().remove(0);
    assert_eq!((&*attempt.outcome, &*attempt.detail), ("retry", "broken on purpose"));
    engine.stop().await;
}
