//! The worker for lookups: what a provider is asked, how often, and what becomes of its answer or of its silence.

use std::future::pending;
use std::sync::{Arc, Mutex};

use paidonce_engine::{Asking, Engine, Lookup, Outside, Question, Settings, Told};
use paidonce_ledger::testing::{account, eur, id, notice, place, receive};
use paidonce_ledger::{
    CaptureState, Claims, Command, Fact, Ledger, LookupRule, Policy, Reading, RefundState, Retries,
    SourcePolicy, Subject, TaskState, Truth, Work,
};

use crate::faulty::Faulty;
use crate::outside::{RealClock, beside, owners, pay, settings, until};

/// What a provider says to its nth question; `None` for ever nothing.
type Says = dyn Fn(usize, &Question) -> Option<Told> + Send + Sync;

/// A provider that writes down what it is asked.
struct Provider {
    says: Box<Says>,
    asked: Mutex<Vec<Question>>,
}

impl Provider {
    fn new(says: impl Fn(usize, &Question) -> Option<Told> + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { says: Box::new(says), asked: Mutex::default() })
    }
}

impl Lookup for Provider {
    fn ask(&self, question: Question) -> Asking<'_> {
        let mut asked = self.asked.lock().unwrap();
        asked.push(question.clone());
        let told = (self.says)(asked.len(), &question);
        Box::pin(async move {
            match told {
                Some(told) => told,
                None => pending().await,
            }
        })
    }
}

fn captured(question: &Question) -> Fact {
    Fact::captured(id(question.payment.id.as_str()), CaptureState::Settled, Some(eur("1")))
}

fn account_of(facts: Vec<Fact>) -> Option<Told> {
    Some(Told::Account { complete: true, provider_revision: None, facts })
}

fn busy() -> Option<Told> {
    Some(Told::Nothing { not_before: None, detail: "503".to_owned(), answered: false })
}

/// Every event only announces, and what fails is tried again after a millisecond.
fn engine(store: &Arc<Faulty>) -> Engine {
    let retries = Retries { attempts_max: u32::MAX, first_ms: 1, longest_ms: 1 };
    let policy = Policy {
        sources: [(id("shop"), SourcePolicy { truth: Truth::Fetch, ..SourcePolicy::default() })].into(),
        lookups: [(account(), LookupRule { retries, ..LookupRule::default() })].into(),
        ..Policy::default()
    };
    Engine::start(store.clone(), Arc::new(RealClock), Arc::new(policy), Settings::default()).unwrap()
}

fn lookup(ledger: &Ledger) -> Option<TaskState> {
    let found = ledger.tasks.rows().iter().find(|(key, _)| matches!(key.subject, Subject::Payment(_)));
    found.map(|(_, task)| task.state)
}

fn grants(ledger: &Ledger) -> usize {
    ledger.tasks.rows().keys().filter(|key| matches!(key.work, Work::Grant(_))).count()
}

fn worker(provider: &Arc<Provider>) -> Arc<Outside> {
    Outside::lookups(account(), provider.clone(), settings(), owners())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn truth_by_fetching_a_lookup_settles_what_an_event_only_announced() {
    let engine = engine(&Arc::new(Faulty::default()));
    let provider =
        Provider::new(|n, question| if n <= 2 { busy() } else { account_of(vec![captured(question)]) });
    let outside = worker(&provider);
    beside(&engine, outside.clone(), async {
        pay(&engine, 1).await;
        let so = |ledger: &Ledger| grants(ledger) == 1 && lookup(ledger) == Some(TaskState::Done);
        let ledger = until(&engine, so).await;
        // The answer ends the task in its own commit, and its trace is the listing; what failed is a try.
        let details = ledger.attempts.rows().values().map(|attempt| attempt.detail.to_string());
        assert_eq!(details.collect::<Vec<_>>(), ["503", "503"]);
        assert_eq!(ledger.payments.rows().values().next().unwrap().listing, 3);
    })
    .await;
    let asked = provider.asked.lock().unwrap();
    assert_eq!(asked.len(), 3);
    assert_eq!(asked[0].event, Some(id("evt_1")));
    assert_eq!(outside.stats().attempts[1], ("retry", 2));
}

/// P6: the event said that it was captured, and the provider says that all of it went back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_counts_and_not_the_event_that_made_us_ask() {
    let engine = engine(&Arc::new(Faulty::default()));
    let provider = Provider::new(|_, question| {
        let refunded = Fact::refunded(id("re_1"), RefundState::Succeeded, Some(eur("1")));
        account_of(vec![captured(question), refunded])
    });
    beside(&engine, worker(&provider), async {
        pay(&engine, 1).await;
        let ledger = until(&engine, |ledger| lookup(ledger) == Some(TaskState::Done)).await;
        assert_eq!(grants(&ledger), 0);
        assert_eq!(ledger.payments.rows().values().next().unwrap().listing, 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_is_asked_by_the_newest_event_and_by_all_that_events_named() {
    let engine = engine(&Arc::new(Faulty::default()));
    engine.submit(Command::PlaceOrder(place("o_1", &eur("1"), &["pi_1"]))).await.unwrap();
    for (event, session) in [("evt_1", "cs_1"), ("evt_2", "cs_2")] {
        let claims = Claims {
            payment: id("pi_1"),
            references: vec![id(session)],
            hints: vec![id("po_o_1")],
            facts: vec![Fact::pending(None)],
        };
        engine.submit(receive(vec![notice(event, Reading::Facts(claims))])).await.unwrap();
    }
    let provider = Provider::new(|_, question| account_of(vec![captured(question)]));
    beside(&engine, worker(&provider), async {
        until(&engine, |ledger| lookup(ledger) == Some(TaskState::Done)).await;
    })
    .await;
    let asked = provider.asked.lock().unwrap();
    assert_eq!((asked.len(), &asked[0].payment.account), (1, &account()));
    assert_eq!(asked[0].event, Some(id("evt_2")));
    let sessions = asked[0].references.iter().filter(|id| id.as_str().starts_with("cs_")).count();
    assert_eq!((sessions, asked[0].references.contains(&id("po_o_1"))), (2, false), "{:?}", asked[0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_that_is_silent_is_left_before_the_lease_ends_and_asked_again() {
    let engine = engine(&Arc::new(Faulty::default()));
    let provider =
        Provider::new(|n, question| if n == 1 { None } else { account_of(vec![captured(question)]) });
    beside(&engine, worker(&provider), async {
        pay(&engine, 1).await;
        let ledger = until(&engine, |ledger| lookup(ledger) == Some(TaskState::Done)).await;
        let first = ledger.attempts.rows().values().next().unwrap();
        assert_eq!((&*first.outcome, &*first.detail), ("retry", "there was no answer before the deadline"));
        // P9: the try itself recorded it, under its own lease.
        assert!(first.took_ms < 1_000, "{first:?}");
    })
    .await;
    let asked = provider.asked.lock().unwrap();
    assert!(asked.len() == 2 && asked[0].deadline < asked[1].deadline);
}
