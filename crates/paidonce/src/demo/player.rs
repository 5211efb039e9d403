//! Plays one scenario: the merchant over the API, the provider over the source's URL, and looks at what became of
//! it. It waits for the work to be done, never for time to pass.

use std::time::{Duration, Instant};

use paidonce_contracts::Secret;
use paidonce_store::{PAGE_MAX, Page};
use ureq::Agent;

use super::child::Child;
use super::shop::Shop;
use crate::cli::{CaseQuery, EventQuery, Remote, Transport, agent};
use crate::clock::SystemClock;
use crate::delivery::{Answered, Request, post, post_at_once, post_unread};
use crate::fresh;
use crate::http::dto::{Amount, LineBody, OrderRequest, OrderShown, ReferenceRequest};
use crate::output::Failure;
use crate::scenario::{At, CURRENCY, Delivery, How, Known, Outcome, PRICE, Scenario, Scene, Step, seal};

/// How long the work that a scenario makes may take.
const SETTLED_WITHIN: Duration = Duration::from_secs(15);

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The merchant and the provider in one.
pub(super) struct Player<'a> {
    shop: &'a Shop,
    child: Option<Child>,
    agent: Agent,
    foreign: Secret,
}

/// One playing.
struct Play {
    scene: Scene,
    outcome: Outcome,
}

impl<'a> Player<'a> {
    /// With a server that runs.
    pub(super) fn new(shop: &'a Shop, child: Child) -> Result<Self, Failure> {
        let foreign = Secret::new(fresh::api_key().text);
        Ok(Self { shop, child: Some(child), agent: agent(), foreign })
    }

    /// The server.
    pub(super) fn child(&self) -> Result<&Child, Failure> {
        self.child.as_ref().ok_or_else(|| Failure::new("the server does not run", "report this"))
    }

    /// Plays a scenario and says what was seen.
    pub(super) fn play(&mut self, scenario: &Scenario) -> Outcome {
        let now_unix_s = SystemClock::now_unix_s();
        let scene = Scene { slug: scenario.slug, run: self.shop.run.clone(), hint: None, now_unix_s };
        let mut play = Play { scene, outcome: Outcome::default() };
        let played = scenario.steps.iter().try_for_each(|step| self.step(step, &mut play));
        if let Err(failure) = played.and_then(|()| self.look(scenario, &mut play)) {
            play.outcome.trouble = Some(failure.what);
        }
        play.outcome
    }

    fn step(&mut self, step: &Step, play: &mut Play) -> Result<(), Failure> {
        match step {
            Step::Place(known) => self.place(*known, play),
            Step::Deliver(delivery) => self.deliver(delivery, play),
            Step::NotGrantedYet => self.not_granted_yet(&play.scene),
            Step::Kill => {
                self.child = None;
                Ok(())
            }
            Step::HoldGrants => self.restart(false),
            Step::RunGrants => self.restart(true),
        }
    }

    fn restart(&mut self, grants: bool) -> Result<(), Failure> {
        // The old one goes first: it is killed as it is dropped.
        self.child = None;
        self.child = Some(Child::start(self.shop, grants)?);
        Ok(())
    }

    fn api(&self) -> Result<Remote, Failure> {
        Remote::new(&format!("http://{}", self.child()?.api()), &self.shop.key)
    }

    fn place(&self, known: Known, play: &mut Play) -> Result<(), Failure> {
        let scene = &play.scene;
        let reference =
            |id: String| ReferenceRequest { source: At::Stripe.name().to_owned(), id, expected: None };
        let references = match known {
            Known::Payment => vec![reference(scene.payment(1))],
            Known::BothPayments => vec![reference(scene.payment(1)), reference(scene.payment(2))],
            Known::Session | Known::Hint => Vec::new(),
        };
        let order = OrderRequest {
            id: Some(scene.order()),
            customer: Some("demo-customer".to_owned()),
            lines: vec![LineBody { sku: format!("ebook-{}", scene.slug), quantity: 1 }],
            total: Amount { amount: PRICE.to_owned(), unit: CURRENCY.to_owned() },
            fulfil: None,
            expires_at: None,
            references,
        };
        let placed = self.api()?.place(&order)?;
        match known {
            Known::Session => {
                self.api()?.register(&placed.id, &reference(scene.session(1)))?;
            }
            Known::Hint => play.scene.hint = Some(placed.hint),
            Known::Payment | Known::BothPayments => {}
        }
        Ok(())
    }

    fn deliver(&self, delivery: &Delivery, play: &mut Play) -> Result<(), Failure> {
        let request = self.request(delivery, &play.scene)?;
        let answers = match delivery.how {
            How::Once => vec![post(&self.agent, &request)],
            How::AtOnce(count) => post_at_once(&self.agent, &request, usize::from(count)),
            How::AnswerLost => vec![post_unread(&request)],
        };
        for answer in answers {
            let Answered { status, .. } = answer.map_err(|why| Failure::unavailable(why, "see the log"))?;
            play.outcome.statuses.push(status);
        }
        Ok(())
    }

    fn request(&self, delivery: &Delivery, scene: &Scene) -> Result<Request, Failure> {
        let (at, id, body) = (delivery.at, scene.event(&delivery.event), scene.body(&delivery.event));
        let (contract, own) = (self.shop.contract(at), self.shop.secret(at));
        let sealed =
            seal(delivery.seal, contract, (&own, &self.foreign), (&id, body), SystemClock::now_unix_s());
        let sealed = sealed.map_err(|error| Failure::new(error.to_string(), "report this"))?;
        let url = format!("http://{}/in/{}", self.child()?.public(), at.name());
        Ok(Request { url, headers: sealed.headers, body: sealed.body })
    }

    /// What makes a scenario about the time between the commit and the grant one.
    fn not_granted_yet(&self, scene: &Scene) -> Result<(), Failure> {
        let order = self.api()?.order(&scene.order())?;
        let due = order.tasks.iter().any(|task| task.state == "pending");
        match due && order.entitlements.is_empty() {
            true => Ok(()),
            false => Err(Failure::new("nothing was between the commit and the grant", "report this")),
        }
    }

    /// Once no work is due any more: what is there.
    fn look(&self, scenario: &Scenario, play: &mut Play) -> Result<(), Failure> {
        let (scene, outcome) = (&play.scene, &mut play.outcome);
        if scenario.places_an_order() {
            let order = self.settled(&scene.order())?;
            outcome.granted = order.entitlements.iter().filter(|row| row.active).count();
            outcome.standing = Some(order.standing);
        }
        let mut own = vec![scene.order(), scene.payment(1), scene.payment(2)];
        for event in scenario.events() {
            let query = EventQuery { id: Some(scene.event(&event)), ..EventQuery::default() };
            let rows = self.api()?.events(&query, &Page::first(PAGE_MAX))?.rows;
            outcome.events += rows.len();
            outcome.repeats += rows.iter().map(|row| row.duplicates).sum::<u32>();
            own.push(scene.event(&event));
        }
        let open = CaseQuery { open: true, order: None };
        for case in self.api()?.cases(&open, &Page::first(PAGE_MAX))?.rows {
            let about = case.subject.rsplit(' ').next().unwrap_or_default();
            if own.iter().any(|id| id == about) {
                outcome.cases.insert(case.reason);
            }
        }
        Ok(())
    }

    fn settled(&self, order: &str) -> Result<OrderShown, Failure> {
        let until = Instant::now() + SETTLED_WITHIN;
        loop {
            let shown = self.api()?.order(order)?;
            if shown.tasks.iter().all(|task| task.state != "pending") {
                return Ok(shown);
            }
            if Instant::now() > until {
                let what = format!("a task was still due after {} s", SETTLED_WITHIN.as_secs());
                return Err(Failure::unavailable(what, "see the log"));
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }
}
