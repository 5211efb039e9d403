//! What an operator is told about an order.

use std::sync::Arc;

use paidonce_engine::{Engine, Settings, explain, order_view};
use paidonce_ledger::testing::{about, cancel, eur, id, place, receive};
use paidonce_ledger::{CaptureState, Command, Fact, Policy, RefundState, Timestamp};
use paidonce_store::Store;

use crate::faulty::{Faulty, engine};

async fn tell(commands: Vec<Command>) -> String {
    let store = Arc::new(Faulty::default());
    let engine: Engine = engine(store.clone(), Settings::default());
    for command in commands {
        engine.submit(command).await.unwrap();
    }
    let view = order_view(&*store, &Policy::default(), &id("1001")).unwrap().unwrap();
    let told = explain(&view);
    let mut text: Vec<_> =
        told.timeline.iter().map(|entry| format!("{}: {}", entry.kind, entry.what)).collect();
    text.push(told.sentence);
    text.extend(told.next);
    text.join("\n")
}

fn ordered() -> Command {
    Command::PlaceOrder(place("1001", &eur("10"), &["pi_1"]))
}

fn captured(amount: &str) -> Command {
    receive(vec![about(
        "evt_1",
        "pi_1",
        vec![Fact::captured(id("pi_1"), CaptureState::Settled, Some(eur(amount)))],
    )])
}

#[tokio::test]
async fn unpaid() {
    let told = tell(vec![ordered()]).await;
    assert!(
        told.ends_with("Unpaid, nothing to grant yet: 0.00 EUR of 10.00 EUR captured in 0 payment(s)."),
        "{told}"
    );
}

#[tokio::test]
async fn paid_and_not_granted_names_what_grants_it() {
    let told = tell(vec![ordered(), captured("10")]).await;
    assert!(told.contains("event: test evt_1 about payment pi_1: applied"), "{told}");
    assert!(told.contains("Paid, not granted yet: grant order is due"), "{told}");
    assert!(told.contains("paidonce serve"), "{told}");
}

#[tokio::test]
async fn granted() {
    let task = paidonce_ledger::TaskKey::grant(id("1001"), paidonce_ledger::Unit::Order);
    let told = tell(vec![ordered(), captured("10"), Command::Grant(task)]).await;
    assert!(told.contains("entitlement: order granted to alice"), "{told}");
    assert!(told.ends_with("Granted; paid: 10.00 EUR of 10.00 EUR captured in 1 payment(s)."), "{told}");
}

#[tokio::test]
async fn held_names_the_case_to_look_at() {
    let told = tell(vec![ordered(), captured("9")]).await;
    assert!(told.contains("amount_short"), "{told}");
    assert!(told.contains("paidonce cases show "), "{told}");
    let refund = Fact::refunded(id("re_1"), RefundState::Succeeded, Some(eur("10")));
    let told =
        tell(vec![ordered(), captured("10"), receive(vec![about("evt_2", "pi_1", vec![refund])])]).await;
    assert!(told.contains("Refunded, not granted: "), "{told}");
    let told = tell(vec![ordered(), captured("10"), cancel("1001")]).await;
    assert!(told.contains("Late, not granted: the order is cancelled"), "{told}");
}

#[tokio::test]
async fn an_unknown_order_is_none() {
    let store = Faulty::default();
    assert!(order_view(&store, &Policy::default(), &id("nobody")).unwrap().is_none());
    assert_eq!(store.due(&paidonce_store::Due::Grants, Timestamp(9), 1).unwrap(), []);
}
