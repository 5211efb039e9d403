//! Group commit: what waits goes together, and one command's fate is never another's.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use paidonce_engine::{Engine, Settings, SubmitError};
use paidonce_ledger::testing::{cancel, eur, place};
use paidonce_ledger::{Command, Reply};
use paidonce_store::{Store, StoreErrorKind};
use tokio::task::JoinSet;

use crate::faulty::{Faulty, broken, engine, gate};

fn order(n: usize) -> Command {
    Command::PlaceOrder(place(&format!("o_{n}"), &eur("1"), &[]))
}

/// Submits order 0, and waits until the committer stands at the gate with it.
async fn at_the_gate(engine: &Engine, store: &Faulty) -> JoinSet<(usize, Result<Reply, SubmitError>)> {
    let mut submits = JoinSet::new();
    let submitting = engine.clone();
    submits.spawn(async move { (0, submitting.submit(order(0)).await) });
    while store.tries.load(SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    submits
}

/// Submits orders 1 to `n` behind order 0, and opens the gate when all of them wait.
async fn behind_a_gate(
    engine: &Engine,
    store: &Faulty,
    gate: &tokio::sync::Semaphore,
    n: usize,
) -> Vec<Result<Reply, SubmitError>> {
    let mut submits = at_the_gate(engine, store).await;
    let room = engine.queue_room();
    for at in 1..=n {
        let submitting = engine.clone();
        submits.spawn(async move { (at, submitting.submit(order(at)).await) });
    }
    while engine.queue_room() > room - n {
        tokio::task::yield_now().await;
    }
    gate.add_permits(1);
    let mut results: Vec<_> = submits.join_all().await;
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_while_a_commit_is_in_flight_goes_together() {
    let (gate, fault) = gate();
    let store = Faulty::with(fault);
    let engine = engine(store.clone(), Settings { batch_max: 50, ..Settings::default() });
    let results = behind_a_gate(&engine, &store, &gate, 60).await;
    assert!(results.iter().all(Result::is_ok));
    let batches = store.batches.lock().unwrap().clone();
    assert_eq!(batches, [1, 50, 10]);
    assert_eq!(engine.stats().snapshot().commands, 61);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_poisonous_command_is_found_by_halving_and_harms_no_other() {
    let (gate, wait) = gate();
    let poison = order(13);
    let store = Faulty::with(move |batch| {
        wait(batch)?;
        if batch.contains(&poison) { Err(broken(StoreErrorKind::Internal)) } else { Ok(()) }
    });
    let engine = engine(store.clone(), Settings::default());
    let results = behind_a_gate(&engine, &store, &gate, 30).await;
    let failed: Vec<_> = (0..results.len()).filter(|n| results[*n].is_err()).collect();
    assert_eq!(failed, [13]);
    assert_eq!(store.counts().unwrap().orders, 30);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_is_one_commands_failure_and_the_engine_goes_on() {
    let (gate, wait) = gate();
    let poison = order(3);
    let store = Faulty::with(move |batch| {
        wait(batch)?;
        assert!(!batch.contains(&poison), "a planted bug");
        Ok(())
    });
    let engine = engine(store.clone(), Settings::default());
    let results = behind_a_gate(&engine, &store, &gate, 8).await;
    let failed: Vec<_> = (0..results.len()).filter(|n| results[*n].is_err()).collect();
    assert_eq!(failed, [3]);
    store.mend();
    assert!(engine.submit(order(3)).await.is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_store_is_tried_again_and_a_full_one_is_not() {
    let left = std::sync::atomic::AtomicUsize::new(3);
    let store = Faulty::with(move |_| match left.load(SeqCst) {
        0 => Ok(()),
        n => {
            left.store(n - 1, SeqCst);
            Err(broken(StoreErrorKind::Busy))
        }
    });
    let busy = engine(store.clone(), Settings::default());
    assert!(busy.submit(order(1)).await.is_ok());
    assert_eq!(store.tries.load(SeqCst), 4);

    let store = Faulty::with(|_| Err(broken(StoreErrorKind::Full)));
    let full = engine(store.clone(), Settings::default());
    assert!(matches!(full.submit(order(1)).await, Err(SubmitError::Store(_))));
    assert_eq!(store.tries.load(SeqCst), 1);
    store.mend();
    assert!(full.submit(order(1)).await.is_ok(), "room again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_that_others_keep_disturbing_goes_in_smaller_ones() {
    let (gate, wait) = gate();
    let store = Faulty::with(move |batch| {
        wait(batch)?;
        if batch.len() > 2 { Err(broken(StoreErrorKind::Conflict)) } else { Ok(()) }
    });
    let engine = engine(store.clone(), Settings::default());
    let results = behind_a_gate(&engine, &store, &gate, 8).await;
    assert!(results.iter().all(Result::is_ok));
    assert_eq!(*store.batches.lock().unwrap(), [1, 2, 2, 2, 2]);
    assert_eq!(store.tries.load(SeqCst), 1 + 3 + 4, "a larger batch is not tried twice");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_must_be_alone_is_and_keeps_its_place() {
    let (gate, fault) = gate();
    let store = Faulty::with(fault);
    let engine = engine(store.clone(), Settings::default());
    let mut submits = at_the_gate(&engine, &store).await;
    let room = engine.queue_room();
    for (at, command) in [order(1), order(2), cancel("o_1"), cancel("o_2"), order(3)].into_iter().enumerate()
    {
        let submitting = engine.clone();
        submits.spawn(async move { (at, submitting.submit(command).await) });
        // One after the other, so that they wait in this order.
        while engine.queue_room() > room - at - 1 {
            tokio::task::yield_now().await;
        }
    }
    gate.add_permits(1);
    assert!(submits.join_all().await.into_iter().all(|(_, result)| result.is_ok()));
    assert_eq!(*store.batches.lock().unwrap(), [1, 2, 1, 1, 1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lane_that_waits_does_not_keep_the_others_waiting() {
    // Every command about the order at the gate waits with it; one about another order in another lane does not.
    let (gate, fault) = gate();
    let store = Faulty::with_lanes(4, fault);
    let engine = engine(store.clone(), Settings::default());
    let held = at_the_gate(&engine, &store).await;
    let mut others = JoinSet::new();
    for at in 1..=40 {
        let engine = engine.clone();
        others.spawn(async move { engine.submit(order(at)).await });
    }
    // Ends only if some lane works while the first one is held.
    assert!(others.join_next().await.unwrap().unwrap().is_ok());
    gate.add_permits(1);
    assert!(held.join_all().await.into_iter().all(|(_, result)| result.is_ok()));
    assert!(others.join_all().await.into_iter().all(|result| result.is_ok()));
    assert_eq!(store.counts().unwrap().orders, 41);
    engine.stop().await;
    assert!(matches!(engine.submit(order(50)).await, Err(SubmitError::Stopped)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p2_a_commit_whose_outcome_was_lost_is_run_again_and_finds_its_trace() {
    let store = Arc::new(Faulty::default());
    let plain = engine(store.clone(), Settings::default());
    let first = plain.submit(order(1)).await.unwrap();
    // The answer was lost: the same command again is answered the same, and nothing is placed twice.
    assert_eq!(plain.submit(order(1)).await.unwrap(), first);
    assert_eq!(store.counts().unwrap().orders, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_queue_refuses_and_loses_nothing_that_it_took() {
    let (gate, fault) = gate();
    let store = Faulty::with(fault);
    let engine = engine(store.clone(), Settings { queue_max: 4, ..Settings::default() });
    let mut submits = at_the_gate(&engine, &store).await;
    for at in 1..=10 {
        let engine = engine.clone();
        submits.spawn(async move { (at, engine.submit(order(at)).await) });
    }
    while engine.stats().snapshot().refused_full < 6 {
        tokio::task::yield_now().await;
    }
    gate.add_permits(1);
    let results: Vec<_> = submits.join_all().await.into_iter().map(|(_, result)| result).collect();
    let full = results.iter().filter(|result| matches!(result, Err(SubmitError::Full))).count();
    let taken = results.iter().filter(|result| result.is_ok()).count();
    assert_eq!((full, taken), (6, 5));
    assert_eq!(store.counts().unwrap().orders, 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopping_finishes_what_waits_and_refuses_what_comes() {
    let (gate, fault) = gate();
    let store = Faulty::with(fault);
    let engine = engine(store.clone(), Settings::default());
    let (first, second) = (engine.clone(), engine.clone());
    let waiting = tokio::spawn(async move { first.submit(order(1)).await });
    while store.tries.load(SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    let stopping = tokio::spawn(async move { second.stop().await });
    // Before the stop is seen, a command still waits with the others; after it, none is taken.
    let mut late = JoinSet::new();
    let refused = loop {
        let engine = engine.clone();
        late.spawn(async move { engine.submit(order(2)).await });
        tokio::task::yield_now().await;
        if let Some(Ok(Err(SubmitError::Stopped))) = late.try_join_next() {
            break true;
        }
    };
    assert!(refused);
    gate.add_permits(1);
    stopping.await.unwrap();
    assert!(waiting.await.unwrap().is_ok());
}
