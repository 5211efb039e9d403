//! The table, played against the decisions alone: contracts, a store in memory, no server. What the demo expects of
//! a whole process must already be true here.

use std::collections::{BTreeMap, BTreeSet};

use paidonce_contracts::{Contract, Delivery as Read, Secret, Verifier};
use paidonce_ledger::{
    Account, Command, CommandId, Fulfil, Hint, Line, Mode, Money, MoneyUnit, Name, NewReference, OrderId,
    PlaceOrder, Policy, Receive, Received, ReferenceId, Reply, Sku, SourceName, SourcePolicy, Stamp,
    Standing, Timestamp, Unmatched, invariants,
};
use paidonce_store::{MemoryStore, Store};

use super::{At, Delivery, How, Known, Outcome, PRICE_MINOR, Scenario, Scene, Step, all, seal};

const NOW: Timestamp = Timestamp(1_700_000_000_000);
const NOW_UNIX_S: i64 = 1_700_000_000;

struct Rehearsal {
    store: MemoryStore,
    policy: Policy,
    verifiers: BTreeMap<At, (Verifier, Secret)>,
    commands: usize,
    grants: bool,
}

fn account(at: At) -> Account {
    let mode = if at == At::StripeLive { Mode::Live } else { Mode::Test };
    Account { provider: Name::new(at.contract()).unwrap(), name: Name::new("demo").unwrap(), mode }
}

fn overlay(at: At) -> Option<toml::Table> {
    let text = "signature = { header = 'X-Signature', mac = 'hmac-sha256', key = 'utf8', encoding = 'hex' }\n\
                money = { shape = 'minor', currency = 'currency' }\n[[event]]\ntype = 'payment.succeeded'\n\
                facts = [{ kind = 'captured', state = 'settled', amount = 'amount' }]";
    (at == At::StblPay).then(|| toml::from_str(text).unwrap())
}

impl Rehearsal {
    fn new() -> Self {
        let mut policy = Policy::default();
        for (at, unmatched) in [(At::StripeReject, Unmatched::Reject), (At::StripeHold, Unmatched::Hold)] {
            let source = SourcePolicy { unmatched, ..SourcePolicy::default() };
            policy.sources.insert(SourceName::new(at.name()).unwrap(), source);
        }
        let verifier = |at: At| {
            let secret = Secret::new(format!("secret of {}", at.name()));
            let contract = Contract::builtin(at.contract(), overlay(at).as_ref()).unwrap();
            (at, (Verifier::new(&contract, std::slice::from_ref(&secret)).unwrap(), secret))
        };
        let verifiers = At::ALL.into_iter().map(verifier).collect();
        Self { store: MemoryStore::new(), policy, verifiers, commands: 0, grants: true }
    }

    fn submit(&mut self, command: Command) -> Reply {
        let mut replies = self.store.commit(&[command], NOW, &self.policy).unwrap();
        if self.grants {
            for task in self.store.due(&paidonce_store::Due::Grants, NOW, 100).unwrap() {
                self.store.commit(&[Command::Grant(task)], NOW, &self.policy).unwrap();
            }
        }
        replies.remove(0)
    }

    fn place(&mut self, known: Known, scene: &mut Scene) {
        let reference = |id: String| NewReference {
            account: account(At::Stripe),
            id: ReferenceId::new(id).unwrap(),
            expected: None,
        };
        let references = match known {
            Known::Payment => vec![scene.payment(1)],
            Known::BothPayments => vec![scene.payment(1), scene.payment(2)],
            Known::Session => vec![scene.session(1)],
            Known::Hint => Vec::new(),
        };
        self.commands += 1;
        let hint = Hint::new(format!("po_{}", scene.slug)).unwrap();
        scene.hint = (known == Known::Hint).then(|| hint.to_string());
        let id = CommandId::new(format!("cmd_{}", self.commands)).unwrap();
        let reply = self.submit(Command::PlaceOrder(PlaceOrder {
            stamp: Stamp { id, by: "demo".into(), reason: None },
            order: OrderId::new(scene.order()).unwrap(),
            generated: false,
            hint,
            customer: None,
            lines: vec![Line { sku: Sku::new("ebook").unwrap(), quantity: 1 }],
            total: Money::new(PRICE_MINOR.into(), MoneyUnit::iso("EUR").unwrap()).unwrap(),
            fulfil: Fulfil::Order,
            expires_at: None,
            references: references.into_iter().map(reference).collect(),
            token: None,
            trace: None,
        }));
        assert!(matches!(reply, Reply::Placed { .. }), "{reply:?}");
    }

    fn deliver(&mut self, delivery: &Delivery, scene: &Scene) -> u16 {
        let (id, body) = (scene.event(&delivery.event), scene.body(&delivery.event));
        let foreign = Secret::new("of nobody");
        let notices = {
            let (verifier, own) = &self.verifiers[&delivery.at];
            let sealed =
                seal(delivery.seal, verifier.contract(), (own, &foreign), (&id, body), NOW_UNIX_S).unwrap();
            let headers: Vec<_> = sealed.headers.iter().map(|(n, v)| (n.as_str(), v.as_bytes())).collect();
            let Ok(verified) = verifier.verify(&headers, &sealed.body, NOW_UNIX_S) else { return 401 };
            match verified.read() {
                Read::Test => return 200,
                Read::Events(notices) => notices,
            }
        };
        let source = SourceName::new(delivery.at.name()).unwrap();
        let receive = Receive { source, account: account(delivery.at), notices, trace: None };
        let Reply::Received(replies) = self.submit(Command::Receive(receive)) else { panic!("no events") };
        if replies.iter().any(|reply| reply.received == Received::Rejected) { 422 } else { 200 }
    }

    fn play(&mut self, scenario: &Scenario) -> Outcome {
        let mut scene =
            Scene { slug: scenario.slug, run: "r1".to_owned(), hint: None, now_unix_s: NOW_UNIX_S };
        let mut outcome = Outcome::default();
        for step in scenario.steps {
            match step {
                Step::Place(known) => self.place(*known, &mut scene),
                Step::Deliver(delivery) => match delivery.how {
                    How::Once => outcome.statuses.push(Some(self.deliver(delivery, &scene))),
                    How::AtOnce(n) => {
                        outcome.statuses.extend((0..n).map(|_| Some(self.deliver(delivery, &scene))));
                    }
                    How::AnswerLost => {
                        assert_eq!(self.deliver(delivery, &scene), 200);
                        outcome.statuses.push(None);
                    }
                },
                Step::HoldGrants => self.grants = false,
                Step::RunGrants => {
                    self.grants = true;
                    self.submit(Command::Receive(Receive {
                        source: SourceName::new("none").unwrap(),
                        account: account(At::Stripe),
                        notices: Vec::new(),
                        trace: None,
                    }));
                }
                Step::NotGrantedYet | Step::Kill => {}
            }
        }
        self.look(scenario, &scene, outcome)
    }

    fn look(&self, scenario: &Scenario, scene: &Scene, mut outcome: Outcome) -> Outcome {
        let ledger = self.store.snapshot().unwrap();
        let id = OrderId::new(scene.order()).unwrap();
        if let Some(order) = ledger.orders.get(&id) {
            let facts: Vec<_> =
                order.payments.iter().map(|key| (key.clone(), ledger.facts_of(key))).collect();
            let standing = Standing::of(&id, order, &facts, &self.policy);
            outcome.standing = Some(standing.word.to_string());
            outcome.granted = ledger.entitlements_of(&id).count();
        }
        let ids: BTreeSet<_> = scenario.events().iter().map(|event| scene.event(event)).collect();
        let own = |key: &paidonce_ledger::EventKey| ids.contains(key.id.as_str());
        let rows: Vec<_> =
            ledger.events.rows().iter().filter(|(key, _)| own(key)).map(|(_, row)| row).collect();
        outcome.events = rows.len();
        outcome.repeats = rows.iter().map(|row| row.duplicates).sum();
        let about = [scene.order(), scene.payment(1), scene.payment(2)];
        for (key, case) in ledger.cases.rows() {
            let subject = key.subject.to_string();
            let last = subject.rsplit(' ').next().unwrap();
            if case.resolution.is_none() && (ids.contains(last) || about.iter().any(|id| id == last)) {
                outcome.cases.insert(key.reason.to_string());
            }
        }
        outcome
    }
}

#[test]
fn the_table_holds_without_a_server() {
    let mut rehearsal = Rehearsal::new();
    for scenario in all() {
        let (answers, outcome) = (scenario.answers(), rehearsal.play(scenario));
        let expected = scenario.expected.text(&answers);
        assert!(scenario.expected.met(&answers, &outcome), "{}:\n  {expected}\n  {outcome}", scenario.name);
    }
    let ledger = rehearsal.store.snapshot().unwrap();
    assert_eq!(invariants::check_settled(&ledger, &rehearsal.policy), []);
}
