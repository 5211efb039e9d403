//! Providers that are asked: a whole server with `truth = "fetch"`, and the tokens of those that give some.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

use paidonce::effect::outbound::{Connector, Dial, Dialling, Resolve, Resolving};
use paidonce::provider::Provider;
use paidonce_contracts::{Contract, Secret};
use paidonce_engine::{Lookup, Question, Told};
use paidonce_ledger::testing::id;
use paidonce_ledger::{Account, Mode, PaymentKey};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use super::receiver::{Act, Receiver};
use crate::shop::Shop;

/// Every name is a public address, and every connection ends at one receiver.
#[derive(Clone, Copy)]
struct Leads(SocketAddr);

impl Resolve for Leads {
    fn resolve<'a>(&'a self, _: &'a str, _: u16) -> Resolving<'a> {
        Box::pin(async { Ok(vec![SocketAddr::from(([8, 8, 8, 8], 443))]) })
    }
}

impl Dial for Leads {
    fn dial(&self, _: SocketAddr) -> Dialling<'_> {
        Box::pin(TcpStream::connect(self.0))
    }
}

fn connector(to: &Receiver) -> Arc<Connector> {
    let (names, sockets) = (Box::new(Leads(to.address)), Box::new(Leads(to.address)));
    Arc::new(Connector::with(names, sockets, to.ca_pem.as_ref().map(String::as_bytes)).unwrap())
}

/// A payment intent as Stripe's API has it.
fn intent(received: u32, refunded: u32) -> String {
    let refund = json!({"id": "re_1", "amount": refunded, "currency": "eur", "status": "succeeded"});
    let refunds = if refunded > 0 { vec![refund] } else { vec![] };
    json!({
        "id": "pi_1", "object": "payment_intent", "livemode": false, "status": "succeeded", "currency": "eur",
        "amount": received, "amount_received": received, "metadata": {},
        "latest_charge": {
            "id": "ch_1", "amount_refunded": refunded, "refunds": {"data": refunds, "has_more": false}
        }
    })
    .to_string()
}

const FETCHING: &str = "[[source]]\nname = \"asking\"\ncontract = \"stripe\"\naccount = \"asking\"\nmode = \"test\"\n\
    secrets = [\"file:stripe-secret\"]\ntruth = \"fetch\"\nlookup_key = \"file:secret\"\n";

fn event(event: &str, kind: &str, object: &Value) -> Vec<u8> {
    json!({"id": event, "object": "event", "livemode": false, "type": kind, "data": {"object": object}})
        .to_string()
        .into_bytes()
}

fn paid() -> Vec<u8> {
    let intent = json!({"id": "pi_1", "object": "payment_intent", "amount": 1990, "amount_received": 1990,
        "currency": "eur", "status": "succeeded", "latest_charge": "ch_1", "metadata": {}});
    event("evt_1", "payment_intent.succeeded", &intent)
}

fn place(shop: &Shop) {
    let mut order = crate::shop::order("order-1");
    order["references"] = json!([{"source": "asking", "id": "pi_1"}]);
    assert_eq!(shop.post("/v1/orders", &order).status, 201);
}

fn standing(shop: &Shop) -> Value {
    shop.get("/v1/orders/order-1").json()["standing"].clone()
}

#[test]
fn truth_by_fetching_what_the_provider_says_counts_and_what_an_event_says_does_not() {
    let refunded = Arc::new(AtomicBool::new(false));
    let back = refunded.clone();
    let provider = Receiver::tls("api.stripe.com", move |before, _| match before {
        0 => Act::SayWith(503, "retry-after: 1".to_owned()),
        _ => Act::Body(200, intent(1_990, if back.load(SeqCst) { 1_990 } else { 0 })),
    });
    let shop = Shop::asking("", FETCHING, Some(connector(&provider)));
    place(&shop);
    assert_eq!(shop.deliver("asking", &paid()).status, 200);
    provider.wait_for(1);
    assert_eq!(standing(&shop), "unpaid", "the event alone moves nothing");
    shop.until(|ledger| ledger.entitlements.rows().len() == 1);
    assert_eq!(standing(&shop), "paid");
    let call = provider.wait_for(2).remove(1);
    assert!(call.line.starts_with("GET /v1/payment_intents/pi_1?expand"), "{}", call.line);
    assert_eq!(call.header("authorization"), format!("Bearer {}", crate::shop::SECRET));
    // The refund's event says only that there is something to ask.
    refunded.store(true, SeqCst);
    let charge = json!({"id": "ch_1", "object": "charge", "payment_intent": "pi_1", "amount": 1990,
        "amount_refunded": 5, "currency": "eur"});
    assert_eq!(shop.deliver("asking", &event("evt_2", "charge.refunded", &charge)).status, 200);
    shop.until(|ledger| {
        ledger
            .facts
            .rows()
            .iter()
            .any(|((_, key), _)| matches!(key, paidonce_ledger::FactKey::Refunded { .. }))
    });
    assert_eq!(standing(&shop), "refunded");
    let lookups = shop.get("/v1/tasks?kind=lookup").json();
    let story = shop.get(&format!("/v1/tasks/{}", lookups["rows"][0]["handle"].as_str().unwrap()));
    assert_eq!(story.json()["task"]["state"], "done", "{story:?}");
    assert!(story.body.contains("the provider cannot answer now (status 503)"), "{story:?}");
    assert!(!story.body.contains(crate::shop::SECRET));
}

#[test]
fn truth_by_fetching_an_event_that_says_more_than_the_provider_is_not_believed() {
    let provider = Receiver::tls("api.stripe.com", |_, _| Act::Body(200, intent(5, 0)));
    let shop = Shop::asking("", FETCHING, Some(connector(&provider)));
    place(&shop);
    assert_eq!(shop.deliver("asking", &paid()).status, 200);
    shop.until(|ledger| {
        ledger.facts.rows().keys().any(|(_, key)| matches!(key, paidonce_ledger::FactKey::Captured { .. }))
    });
    assert_eq!(standing(&shop), "part_paid");
    assert!(shop.ledger().entitlements.rows().is_empty());
}

fn question(payment: &str) -> Question {
    let account = Account { provider: id("paypal"), name: id("main"), mode: Mode::Test };
    Question {
        payment: PaymentKey { account, id: id(payment) },
        references: Vec::new(),
        event: None,
        deadline: Instant::now() + Duration::from_secs(10),
    }
}

#[test]
fn a_token_is_asked_for_once_and_again_when_it_is_refused() {
    let capture = |payment: &str| {
        let amount = json!({"value": "19.90", "currency_code": "EUR"});
        json!({"id": payment, "status": "COMPLETED", "amount": amount}).to_string()
    };
    let receiver = Receiver::tls("api-m.sandbox.paypal.com", move |_, call| {
        if call.line.starts_with("POST /v1/oauth2/token") {
            return Act::Body(200, json!({"access_token": "canary-token", "expires_in": 3600}).to_string());
        }
        match call.line.split(['/', ' ']).nth(5) {
            Some("revoked") => Act::Say(401),
            Some(payment) => Act::Body(200, capture(payment)),
            None => Act::Say(500),
        }
    });
    let contract = Contract::builtin("paypal", None).unwrap();
    let asked = question("cap_1");
    let key = Secret::new("client:canary-secret");
    let provider = Provider::new(contract, &asked.payment.account, key, connector(&receiver));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ask = |payment: &str| runtime.block_on(provider.ask(question(payment)));
    let tokens = || receiver.calls().iter().filter(|call| call.line.starts_with("POST")).count();
    for payment in ["cap_1", "cap_2"] {
        let told = ask(payment);
        let Told::Account { complete: false, facts, .. } = &told else { panic!("{told:?}") };
        assert_eq!(facts.len(), 1, "{facts:?}");
    }
    assert_eq!(tokens(), 1);
    let told = ask("revoked");
    let Told::Nothing { detail, answered: true, .. } = &told else { panic!("{told:?}") };
    assert!(detail.contains("does not accept the key") && !detail.contains("canary"), "{detail}");
    ask("cap_3");
    assert_eq!(tokens(), 2);
    let basic = receiver.calls()[0].header("authorization").to_owned();
    assert!(
        basic.starts_with("Basic ") && receiver.calls()[1].header("authorization") == "Bearer canary-token"
    );
}

#[test]
fn an_answer_that_breaks_off_or_never_comes_is_no_answer() {
    let receiver = Receiver::tls("api.stripe.com", |before, _| match before {
        0 => Act::HalfAnswer(200),
        1 => Act::Endless(200),
        _ => Act::Body(200, intent(1_990, 0).replace("pi_1", "pi_2")),
    });
    let asked = question("pi_1");
    let contract = Contract::builtin("stripe", None).unwrap();
    let provider = Provider::new(contract, &asked.payment.account, Secret::new("k"), connector(&receiver));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for expected in ["broke off, or was too long", "broke off, or was too long", "about another payment"] {
        let told = runtime.block_on(provider.ask(asked.clone()));
        let Told::Nothing { detail, .. } = &told else { panic!("{told:?}") };
        assert!(detail.contains(expected), "{detail}");
    }
}
