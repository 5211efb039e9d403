//! Stored events read again: the row's id and bytes, today's contract, and no way in for anybody else's bytes.

use std::sync::Arc;

use paidonce_contracts::{Contract, Stored};
use paidonce_ledger::{
    Account, Body, Digest, Event, EventId, EventKey, EventOutcome, Mode, Name, Notice, Reading, SourceName,
    Timestamp,
};

use crate::support::{check, contract, show, why};

const PAID: &str = r#"{"id":"evt_1","type":"payment.done",
    "payment":{"id":"pay_1","order":"order-7","amount":"19.90","currency":"EUR"}}"#;

/// What a store would give for an event of this id.
fn row(id: &str, body: &str) -> (EventKey, Event) {
    let name = |text| Name::new(text).unwrap();
    let account = Account { provider: name("generic-hmac"), name: name("main"), mode: Mode::Test };
    let event = Event {
        source: SourceName::new("shop").unwrap(),
        kind: Arc::from(""),
        outcome: EventOutcome::Unreadable("type: absent".to_owned()),
        payment: None,
        content: Digest::of_bytes(body.as_bytes()),
        body: Body::new(body.as_bytes()),
        dropped_at: None,
        received_at: Timestamp(1),
        duplicates: 0,
        last_at: Timestamp(1),
        trace: None,
    };
    (EventKey { account, id: EventId::new(id).unwrap() }, event)
}

fn again(contract: &Contract, id: &str, body: &str) -> Notice {
    let (key, event) = row(id, body);
    let notice = contract.read_stored(&Stored::of(&key, &event));
    assert_eq!((notice.id.as_str(), &notice.body), (id, &event.body), "the row's own");
    notice
}

fn nameless(body: &str) -> String {
    format!("sha256:{}", Digest::of_bytes(body.as_bytes()))
}

const LEARNT: &str = "[[event]]\ntype = 'payment.done'\n\
    facts = [{ kind = 'captured', state = 'settled', amount = 'payment.amount' }]";

#[test]
fn a_type_that_the_contract_has_learnt_is_read_and_keeps_its_id() {
    assert_eq!(again(&contract("generic-hmac", ""), "evt_1", PAID).reading, Reading::Ignored);
    let read = "payment pay_1\nhint order-7\ncaptured pay_1 Settled 19.90 EUR";
    let learnt = contract("generic-hmac", LEARNT);
    check(&again(&learnt, "evt_1", PAID), &format!("evt_1 payment.done\n{read}"));
    // It came while the contract looked elsewhere for the id, and stays what it was stored as.
    let id = nameless(PAID);
    check(&again(&learnt, &id, PAID), &format!("{id} payment.done\n{read}"));
}

#[test]
fn what_still_cannot_be_read_says_so() {
    let contract = contract("generic-hmac", LEARNT);
    for (body, because) in [
        ("not json", "body: not JSON, at byte 0"),
        ("[]", "body: not an object"),
        (r#"{"type":"payment.done"}"#, "id: absent"),
        (r#"{"id":"evt_1"}"#, "type: absent"),
        (r#"{"id":"evt_1","type":"payment.done"}"#, "payment.id: absent"),
        (
            r#"{"id":"evt_1","id":"evt_2"}"#,
            "body: two members of one name in the object that ends at byte 27",
        ),
    ] {
        assert_eq!(why(&again(&contract, &nameless(body), body)), because);
    }
}

/// As it would be if it came now: the same content, so that a redelivery is its duplicate.
#[test]
fn the_same_content_is_what_a_redelivery_has() {
    let without = format!("{LEARNT}\n[read]\nsame_content = {{ without = ['attempt'] }}");
    let contract = contract("generic-hmac", &without);
    let (first, second) = (PAID.replace("\"id\":\"evt_1\"", "\"attempt\":1,\"id\":\"evt_1\""), PAID);
    assert_eq!(again(&contract, "evt_1", &first).content, again(&contract, "evt_1", second).content);
}

#[test]
fn of_a_batch_the_row_is_the_item() {
    let batch = contract("generic-hmac", &format!("[read]\nitems = 'events'\n{LEARNT}"));
    assert!(show(&again(&batch, "evt_1", PAID)).ends_with("captured pay_1 Settled 19.90 EUR"));
    let whole = format!(r#"{{"id":"b","type":"payment.done","payment":{{"id":"p"}},"events":[{PAID}]}}"#);
    let notice = again(&batch, &nameless(&whole), &whole);
    assert_eq!(why(&notice), "events: a whole delivery is stored here, not one event");
}

/// The header lines are not kept: an id from one stays what it was, and one that could not be read stays none.
#[test]
fn an_id_from_a_header_is_not_asked_for_again() {
    let overlay =
        "[[event]]\ntype = 'paid'\npayment = 'data.id'\nfacts = [{ kind = 'ended', state = 'failed' }]";
    let contract = contract("standard-webhooks", &format!("[read]\ntype = 'type'\n{overlay}"));
    let body = r#"{"type":"paid","data":{"id":"pay_1"}}"#;
    check(&again(&contract, "msg_1", body), "msg_1 paid\npayment pay_1\nended_failed");
    let notice = again(&contract, &nameless(body), body);
    assert_eq!(why(&notice), "the id's header: it could not be read when the event came");
}

#[test]
fn what_would_be_a_test_today_is_ignored() {
    let contract = contract("generic-hmac", &format!("[read]\ntest = 'test'\n{LEARNT}"));
    let test = PAID.replace("\"id\":\"evt_1\"", "\"test\":true,\"id\":\"evt_1\"");
    assert_eq!(again(&contract, "evt_1", &test).reading, Reading::Ignored);
}
