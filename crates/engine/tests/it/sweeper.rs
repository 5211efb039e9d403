//! The sweeper: what time makes due is found by looking, in steps that end.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::time::Duration;

use paidonce_engine::{Clock, Engine, Settings, Sleep, SweeperSettings, sweep};
use paidonce_ledger::testing::{about, account, eur, id, notice, receive, stamp, with_other_bytes};
use paidonce_ledger::{
    CaptureState, Claims, Command, Decision, EventKey, Fact, Ledger, Policy, Reading, Reason, ResolveCase,
    Timestamp,
};
use paidonce_store::{CaseFilter, MemoryStore, Page, Store};
use tokio::sync::oneshot;

const DAY_MS: i64 = 86_400_000;

/// Three days.
const RETENTION_MS: i64 = 3 * DAY_MS;

/// Whoever tests moves it. Sleeps end at once.
#[derive(Default)]
struct Moved(AtomicI64);

impl Clock for Moved {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(SeqCst))
    }

    fn sleep(&self, _: Duration) -> Sleep {
        Box::pin(tokio::task::yield_now())
    }
}

struct Bench {
    store: Arc<MemoryStore>,
    clock: Arc<Moved>,
    engine: Engine,
}

impl Bench {
    fn new(policy: Policy) -> Self {
        let (store, clock) = (Arc::<MemoryStore>::default(), Arc::<Moved>::default());
        let engine =
            Engine::start(store.clone(), clock.clone(), Arc::new(policy), Settings::default()).unwrap();
        Self { store, clock, engine }
    }

    async fn hear(&self, command: Command) {
        self.engine.submit(command).await.unwrap();
    }

    /// Until the sweeper has made it so.
    async fn until(&self, so: impl Fn(&Ledger) -> bool) -> Ledger {
        loop {
            let ledger = self.store.snapshot().unwrap();
            if so(&ledger) {
                return ledger;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Runs a sweeper that takes few at a time beside `then`.
    async fn beside(&self, then: impl Future<Output = ()>) {
        let (stop, stopped) = oneshot::channel::<()>();
        let settings = SweeperSettings { poll: Duration::from_secs(5), take: 10 };
        let sweeper = tokio::spawn(sweep(self.engine.clone(), settings, async move {
            let _ = stopped.await;
        }));
        then.await;
        stop.send(()).unwrap();
        sweeper.await.unwrap();
    }
}

fn bodies() -> Policy {
    Policy { body_retention_ms: Some(RETENTION_MS), ..Policy::default() }
}

fn event(name: &str) -> Command {
    receive(vec![about(
        name,
        "pi_1",
        vec![Fact::captured(id("pi_1"), CaptureState::Settled, Some(eur("1")))],
    )])
}

fn dropped(ledger: &Ledger, name: &str) -> bool {
    let key = EventKey { account: account(), id: id(name) };
    ledger.events.get(&key).unwrap().dropped_at.is_some()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backlog_of_bodies_goes_and_what_is_younger_stays() {
    let bench = Bench::new(bodies());
    // More of no use than one look walks past, and more of use than one look takes.
    for n in 0..400 {
        bench.hear(receive(vec![notice(&format!("evt_ignored_{n}"), Reading::Ignored)])).await;
    }
    for n in 0..50 {
        bench.hear(event(&format!("evt_{n}"))).await;
    }
    bench.clock.0.store(RETENTION_MS, SeqCst);
    bench.hear(event("evt_young")).await;
    bench
        .beside(async {
            let gone = |ledger: &Ledger| {
                ledger.events.rows().values().filter(|row| row.dropped_at.is_some()).count()
            };
            let ledger = bench.until(|ledger| gone(ledger) == 50).await;
            assert!(!dropped(&ledger, "evt_young"));
            bench.clock.0.store(2 * RETENTION_MS, SeqCst);
            bench.until(|ledger| dropped(ledger, "evt_young")).await;
        })
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_whose_case_ends_after_it_was_walked_past_goes_within_a_day() {
    let bench = Bench::new(bodies());
    let disputed = about("evt_1", "pi_1", vec![Fact::pending(None)]);
    bench.hear(receive(vec![disputed.clone()])).await;
    bench.hear(receive(vec![with_other_bytes(&disputed)])).await;
    bench.clock.0.store(1, SeqCst);
    bench.hear(event("evt_2")).await;
    bench.clock.0.store(RETENTION_MS + 1, SeqCst);
    bench
        .beside(async {
            let ledger = bench.until(|ledger| dropped(ledger, "evt_2")).await;
            assert!(!dropped(&ledger, "evt_1"), "a person may want to see it");
            let open = CaseFilter { open: true, order: None };
            let (case, _) = bench.store.cases(&open, &Page::first(1)).unwrap().rows.remove(0);
            let resolve = ResolveCase { stamp: stamp("resolve"), case, decision: Decision::Accept };
            bench.hear(Command::ResolveCase(resolve)).await;
            bench.clock.0.store(RETENTION_MS + 1 + DAY_MS, SeqCst);
            bench.until(|ledger| dropped(ledger, "evt_1")).await;
        })
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p10_sales_in_the_store_do_not_hide_a_payment_that_waits_for_its_order() {
    let bench = Bench::new(Policy { unbound_after_ms: Some(1_000), ..Policy::default() });
    // As many as one look takes, three times, which are nobody's.
    for n in 0..30 {
        bench.clock.0.store(n, SeqCst);
        bench
            .hear(receive(vec![about(&format!("evt_{n}"), &format!("pi_{n:02}"), vec![Fact::pending(None)])]))
            .await;
    }
    let claims = Claims {
        payment: id("pi_ours"),
        references: vec![],
        hints: vec![id("po_1001")],
        facts: vec![Fact::pending(None)],
    };
    bench.hear(receive(vec![notice("evt_ours", Reading::Facts(claims))])).await;
    bench.clock.0.store(5_000, SeqCst);
    bench
        .beside(async {
            let ledger = bench.until(|ledger| !ledger.cases.rows().is_empty()).await;
            assert_eq!(
                ledger.cases.rows().keys().map(|case| case.reason).collect::<Vec<_>>(),
                [Reason::Unbound]
            );
        })
        .await;
}
