//! The workers for what lies outside: what leaves, how often, with which bytes, and what is written down.

use std::collections::BTreeSet;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use paidonce_engine::{
    Answer, Answering, Circuit, Clock, Destination, Engine, News, Outside, OutsideSettings, Owners, Sending,
    Settings, Sleep, WorkerSettings, work_outside,
};
use paidonce_ledger::testing::{about, eur, id, place, receive};
use paidonce_ledger::{
    CaptureState, Command, EffectName, EffectRule, Fact, Happening, Ledger, Outcome, Policy, Retries,
    TaskState, Timestamp,
};
use paidonce_store::{Store, StoreErrorKind};
use tokio::sync::{mpsc, oneshot};

use crate::faulty::{Faulty, broken};

/// Time as it passes: leases run out and breaks end.
pub(crate) struct RealClock;

impl Clock for RealClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        Timestamp(i64::try_from(since.as_millis()).unwrap())
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// What a destination does with a message; `None` never answers.
type Behaviour = dyn Fn(&Sending) -> Option<Outcome> + Send + Sync;

/// A destination that writes down what it gets.
struct Script {
    behaviour: Box<Behaviour>,
    got: mpsc::UnboundedSender<Sending>,
    rendered: AtomicUsize,
    gone: AtomicBool,
    /// What it answers when it is asked; `None` if it cannot be.
    asked: Option<Outcome>,
}

impl Destination for Script {
    fn render(&self, news: &News) -> Result<Vec<u8>, String> {
        let number = self.rendered.fetch_add(1, SeqCst);
        let order = news.order.as_ref().ok_or("no order")?;
        Ok(format!("{} {} render {number}", order.id, news.task.work_in_words()).into_bytes())
    }

    fn send(&self, sending: Sending) -> Answering<'_> {
        let outcome = (self.behaviour)(&sending);
        self.got.send(sending).unwrap();
        Box::pin(async move {
            match outcome {
                Some(outcome) => Answer { outcome, detail: "as the script says".to_owned() },
                None => pending().await,
            }
        })
    }

    fn is_gone(&self) -> bool {
        self.gone.load(SeqCst)
    }

    fn ask(&self, _: Sending) -> Option<Answering<'_>> {
        let outcome = self.asked.clone()?;
        Some(Box::pin(async move { Answer { outcome, detail: "asked".to_owned() } }))
    }
}

trait Words {
    fn work_in_words(&self) -> String;
}

impl Words for paidonce_ledger::TaskKey {
    fn work_in_words(&self) -> String {
        self.occasion().map_or_else(|| "copy".to_owned(), ToString::to_string)
    }
}

fn script(behaviour: impl Fn(&Sending) -> Option<Outcome> + Send + Sync + 'static) -> (Script, Got) {
    let (got, inbox) = mpsc::unbounded_channel();
    let behaviour = Box::new(behaviour);
    (
        Script { behaviour, got, rendered: AtomicUsize::new(0), gone: AtomicBool::new(false), asked: None },
        inbox,
    )
}

type Got = mpsc::UnboundedReceiver<Sending>;

fn name() -> EffectName {
    EffectName::new("shop").unwrap()
}

/// One effect that tells of paid orders, tried again after a millisecond.
fn rule() -> EffectRule {
    EffectRule {
        on: BTreeSet::from([Happening::OrderPaid]),
        key_window_ms: Some(86_400_000),
        retries: Retries { attempts_max: 50, first_ms: 1, longest_ms: 1 },
        ..EffectRule::default()
    }
}

fn engine(store: &Arc<Faulty>, rule: EffectRule) -> Engine {
    let policy = Policy { effects: [(name(), rule)].into(), ..Policy::default() };
    Engine::start(store.clone(), Arc::new(RealClock), Arc::new(policy), Settings::default()).unwrap()
}

pub(crate) async fn pay(engine: &Engine, n: usize) {
    let (order, payment) = (format!("o_{n}"), format!("pi_{n}"));
    engine.submit(Command::PlaceOrder(place(&order, &eur("1"), &[&payment]))).await.unwrap();
    let capture = Fact::captured(id(&payment), CaptureState::Settled, Some(eur("1")));
    engine.submit(receive(vec![about(&format!("evt_{n}"), &payment, vec![capture])])).await.unwrap();
}

const LEASE: Duration = Duration::from_secs(1);

pub(crate) fn settings() -> OutsideSettings {
    OutsideSettings::of_lease(LEASE)
}

pub(crate) fn owners() -> Arc<Owners> {
    Arc::new(Owners::new("test").unwrap())
}

/// Runs the worker beside `then`, and ends it after.
pub(crate) async fn beside(engine: &Engine, outside: Arc<Outside>, then: impl Future<Output = ()>) {
    let (stop, stopped) = oneshot::channel::<()>();
    let poll = WorkerSettings { poll: Duration::from_millis(10), take: 16 };
    let worker = tokio::spawn(work_outside(engine.clone(), outside, poll, async move {
        let _ = stopped.await;
    }));
    tokio::time::timeout(Duration::from_secs(30), then).await.expect("it never came to be");
    stop.send(()).unwrap();
    worker.await.unwrap();
}

pub(crate) async fn until(engine: &Engine, so: impl Fn(&Ledger) -> bool) -> Ledger {
    loop {
        let committed = engine.committed().notified();
        tokio::pin!(committed);
        committed.as_mut().enable();
        let ledger = engine.query(|store| store.snapshot()).await.unwrap();
        if so(&ledger) {
            return ledger;
        }
        committed.await;
    }
}

/// How many messages stand so.
fn messages(ledger: &Ledger, state: TaskState) -> usize {
    let tasks = ledger.tasks.rows().iter();
    tasks.filter(|(key, task)| key.effect().is_some() && task.state == state).count()
}

fn outcomes(ledger: &Ledger) -> Vec<String> {
    ledger.attempts.rows().values().map(|attempt| attempt.outcome.to_string()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p11_every_try_has_the_key_and_the_bytes_of_the_first() {
    let store = Arc::new(Faulty::default());
    let engine = engine(&store, rule());
    let (shop, mut got) = script(|sending| {
        Some(match sending.attempt {
            1 => Outcome::Retry(None),
            2 => Outcome::Uncertain,
            _ => Outcome::Done,
        })
    });
    let shop = Arc::new(shop);
    let outside = Outside::sends(name(), shop.clone(), settings(), owners());
    beside(&engine, outside.clone(), async {
        pay(&engine, 1).await;
        let ledger = until(&engine, |ledger| messages(ledger, TaskState::Done) == 1).await;
        assert_eq!(outcomes(&ledger), ["retry", "uncertain", "done"]);
    })
    .await;
    let sent: Vec<_> = std::iter::from_fn(|| got.try_recv().ok()).collect();
    assert_eq!(sent.len(), 3);
    assert!(sent.iter().all(|one| one.key == sent[0].key && one.body == sent[0].body), "{sent:?}");
    assert_eq!(sent[0].body.bytes(), b"o_1 order_paid render 0");
    assert_eq!(shop.rendered.load(SeqCst), 1);
    let stats = outside.stats();
    assert_eq!(stats.attempts[..3], [("done", 1), ("retry", 1), ("uncertain", 1)]);
    assert_eq!((stats.in_flight, stats.circuit), (0, Circuit::Closed));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_hangs_delays_no_other() {
    let store = Arc::new(Faulty::default());
    let engine = engine(&store, rule());
    let hangs = |sending: &Sending| sending.body.bytes().starts_with(b"o_0 ");
    let (shop, mut got) = script(move |sending| (!hangs(sending)).then_some(Outcome::Done));
    // A lease so long that the one that hangs never ends by it.
    let lease = OutsideSettings { concurrency: 2, ..OutsideSettings::of_lease(Duration::from_secs(600)) };
    let outside = Outside::sends(name(), Arc::new(shop), lease, owners());
    let worker = work_outside(
        engine.clone(),
        outside.clone(),
        WorkerSettings { poll: Duration::from_millis(10), take: 16 },
        pending(),
    );
    let worker = tokio::spawn(worker);
    pay(&engine, 0).await;
    assert!(hangs(&got.recv().await.unwrap()));
    for n in 1..40 {
        pay(&engine, n).await;
    }
    let ledger = until(&engine, |ledger| messages(ledger, TaskState::Done) == 39).await;
    assert_eq!(messages(&ledger, TaskState::Calling), 1);
    // The others' slots are given back right after their commits.
    while outside.stats().in_flight > 1 {
        tokio::task::yield_now().await;
    }
    worker.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_that_fails_is_written_again_and_the_call_is_not_repeated() {
    let failures = Arc::new(AtomicUsize::new(0));
    let failed = failures.clone();
    let store = Faulty::with(move |batch| {
        let settles = batch.iter().any(|command| matches!(command, Command::Settle(_)));
        if settles && failed.fetch_add(1, SeqCst) < 5 {
            return Err(broken(StoreErrorKind::Corrupt));
        }
        Ok(())
    });
    let engine = engine(&store, rule());
    let (shop, mut got) = script(|_| Some(Outcome::Done));
    let outside = Outside::sends(name(), Arc::new(shop), OutsideSettings::default(), owners());
    beside(&engine, outside.clone(), async {
        pay(&engine, 1).await;
        until(&engine, |ledger| messages(ledger, TaskState::Done) == 1).await;
    })
    .await;
    assert_eq!(failures.load(SeqCst), 6);
    assert!(got.recv().await.is_some());
    assert!(got.try_recv().is_err(), "it was sent once");
    assert_eq!(outside.stats().unrecorded, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_that_cannot_be_written_comes_to_light_at_the_leases_end() {
    let store = Faulty::with(|batch| {
        let settles = batch.iter().any(|command| matches!(command, Command::Settle(_)));
        if settles { Err(broken(StoreErrorKind::Corrupt)) } else { Ok(()) }
    });
    let engine = engine(&store, rule());
    let (shop, mut got) = script(|_| Some(Outcome::Done));
    let settings = OutsideSettings { writes_max: 1, ..settings() };
    let outside = Outside::sends(name(), Arc::new(shop), settings, owners());
    beside(&engine, outside.clone(), async {
        pay(&engine, 1).await;
        let first = got.recv().await.unwrap();
        let second = got.recv().await.unwrap();
        assert_eq!((first.key, first.body), (second.key, second.body));
        store.mend();
        let ledger = until(&engine, |ledger| messages(ledger, TaskState::Done) == 1).await;
        assert!(outcomes(&ledger).contains(&"uncertain".to_owned()));
    })
    .await;
    assert!(outside.stats().unrecorded >= 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p11_a_call_without_an_answer_ends_before_its_lease_as_uncertain() {
    let store = Arc::new(Faulty::default());
    let engine = engine(&store, rule());
    let (shop, _got) = script(|sending| (sending.attempt > 1).then_some(Outcome::Done));
    let outside = Outside::sends(name(), Arc::new(shop), settings(), owners());
    beside(&engine, outside.clone(), async {
        pay(&engine, 1).await;
        let ledger = until(&engine, |ledger| messages(ledger, TaskState::Done) == 1).await;
        assert_eq!(outcomes(&ledger), ["uncertain", "done"]);
    })
    .await;
    assert_eq!(outside.stats().lease_losses, 0, "it ended in time");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_destination_that_keeps_failing_is_left_in_peace_and_taken_up_again() {
    let store = Arc::new(Faulty::default());
    let engine = engine(&store, rule());
    let well = Arc::new(AtomicBool::new(false));
    let healed = well.clone();
    let (shop, mut got) =
        script(move |_| Some(if healed.load(SeqCst) { Outcome::Done } else { Outcome::Retry(None) }));
    let mut settings = settings();
    settings.breaker.rest_first = Duration::from_millis(300);
    let outside = Outside::sends(name(), Arc::new(shop), settings, owners());
    beside(&engine, outside.clone(), async {
        pay(&engine, 1).await;
        for _ in 0..settings.breaker.failures_max {
            got.recv().await.unwrap();
        }
        while outside.stats().circuit != Circuit::Open {
            tokio::task::yield_now().await;
        }
        // The probe fails as well; the one after it finds the destination well.
        got.recv().await.unwrap();
        well.store(true, SeqCst);
        pay(&engine, 2).await;
        until(&engine, |ledger| messages(ledger, TaskState::Done) == 2).await;
    })
    .await;
    assert_eq!(outside.stats().circuit, Circuit::Closed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_destination_that_is_gone_is_sent_nothing() {
    let store = Arc::new(Faulty::default());
    let engine = engine(&store, rule());
    let (shop, mut got) = script(|_| Some(Outcome::Refused));
    let shop = Arc::new(shop);
    let outside = Outside::sends(name(), shop.clone(), settings(), owners());
    beside(&engine, outside.clone(), async {
        pay(&engine, 1).await;
        got.recv().await.unwrap();
        until(&engine, |ledger| messages(ledger, TaskState::Held) == 1).await;
        shop.gone.store(true, SeqCst);
        pay(&engine, 2).await;
        until(&engine, |ledger| messages(ledger, TaskState::Pending) == 1).await;
        assert_eq!(outside.stats().circuit, Circuit::Gone);
    })
    .await;
    assert!(got.try_recv().is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p11_what_must_not_be_repeated_is_asked_about_and_sent_again_only_if_it_is_not_there() {
    let store = Arc::new(Faulty::default());
    let engine = engine(&store, EffectRule { key_window_ms: None, can_ask: true, ..rule() });
    let (mut shop, mut got) =
        script(|sending| Some(if sending.attempt == 1 { Outcome::Uncertain } else { Outcome::Done }));
    shop.asked = Some(Outcome::Retry(None));
    let outside = Outside::sends(name(), Arc::new(shop), settings(), owners());
    beside(&engine, outside, async {
        pay(&engine, 1).await;
        let ledger = until(&engine, |ledger| messages(ledger, TaskState::Done) == 1).await;
        assert_eq!(outcomes(&ledger), ["uncertain", "retry", "done"]);
    })
    .await;
    let (first, second) = (got.recv().await.unwrap(), got.recv().await.unwrap());
    assert_eq!((first.key, first.body), (second.key, second.body));
    assert!(got.try_recv().is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_is_rendered_anew_for_a_newer_state_and_ends_with_it() {
    let store = Arc::new(Faulty::default());
    let policy = Policy {
        effects: [(name(), EffectRule { sync: true, ..rule() })].into(),
        after_grant: paidonce_ledger::AfterGrants {
            refund: paidonce_ledger::AfterGrant::Revoke,
            ..paidonce_ledger::AfterGrants::default()
        },
        ..Policy::default()
    };
    let engine =
        Engine::start(store.clone(), Arc::new(RealClock), Arc::new(policy), Settings::default()).unwrap();
    pay(&engine, 1).await;
    let grant = store.due(&paidonce_store::Due::Grants, RealClock.now(), 1).unwrap().remove(0);
    engine.submit(Command::Grant(grant)).await.unwrap();
    let (shop, mut got) = script(|_| Some(Outcome::Done));
    let outside = Outside::syncs(name(), Arc::new(shop), settings(), owners());
    beside(&engine, outside, async {
        let first = got.recv().await.unwrap();
        let refund = Fact::refunded(id("re_1"), paidonce_ledger::RefundState::Succeeded, Some(eur("1")));
        engine.submit(receive(vec![about("evt_r", "pi_1", vec![refund])])).await.unwrap();
        let second = got.recv().await.unwrap();
        assert!(second.revision > first.revision);
        assert_ne!(first.key, second.key);
        until(&engine, |ledger| messages(ledger, TaskState::Done) == 1).await;
    })
    .await;
}
