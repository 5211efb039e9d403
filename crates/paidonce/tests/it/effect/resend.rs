//! E-mail by Resend's API: the same request at every try, and what each answer means.

use std::sync::Arc;

use paidonce::effect::outbound::{Connector, Target};
use paidonce::effect::resend::{Resend, ResendSettings};
use paidonce_contracts::Secret;
use paidonce_engine::{Clock, Destination};
use paidonce_ledger::Outcome;
use serde_json::{Value, json};

use super::api::{Act, Api};
use super::news::paid;
use super::smtp::letter;
use super::{PATIENT, SHORT, is_retry, said, send, send_within, sending};

const CUSTOMER: &str = "ada@example.org";
const TAKEN: Act = Act::Say("200 OK", "", r#"{"id":"49a3999c"}"#);

fn resend(port: u16, api_key: Option<&str>) -> Resend {
    let target = Target::parse(&format!("http://127.0.0.1:{port}/emails"), true).unwrap();
    Resend::new(ResendSettings {
        api_key: api_key.map(Secret::new),
        letter: letter("Thank you.\n", Some("<p>{{ order.items[0].sku }}</p>")),
        target,
        connector: Arc::new(Connector::new(None).unwrap()),
    })
    .unwrap()
}

#[test]
fn p11_every_try_is_the_same_request_under_the_same_key() {
    let api = Api::start(&[Act::Die, TAKEN]);
    let resend = resend(api.port, Some("re_correct-horse"));
    let news = paid("order-1", Some(CUSTOMER));
    let sending = sending(&resend, &news);
    let lost = send_within(&resend, &sending, PATIENT);
    assert_eq!(lost.outcome, Outcome::Uncertain, "{}", said(&lost));
    let answer = send_within(&resend, &sending, PATIENT);
    assert_eq!(said(&answer), "done: 200 mail 49a3999c");
    let seen = api.seen();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[0], seen[1]);
    for line in [
        "post /emails http/1.1",
        "authorization: bearer re_correct-horse",
        "content-type: application/json",
        &format!("idempotency-key: {}", news.key),
    ] {
        assert!(seen[0].head.lines().any(|found| found == line), "{line}\nis not in\n{}", seen[0].head);
    }
    assert!(seen[0].head.contains("user-agent: paidonce/"), "{}", seen[0].head);
    let body: Value = serde_json::from_slice(&seen[0].body).unwrap();
    let expected = json!({
        "from": "The Shop <shop@example.com>",
        "to": [CUSTOMER],
        "reply_to": "desk@example.com",
        "subject": "Order order-1: 19.90 EUR",
        "text": "Thank you.",
        "html": "<p>ebook &lt;1&gt;</p>",
        "headers": {"Paidonce-Key": news.key, "Paidonce-Revision": "3"},
    });
    assert_eq!(body, expected);
}

#[test]
fn each_answer_and_each_silence_has_its_outcome() {
    let error = |name: &'static str| Act::Say(name, "", "");
    for (act, outcome) in [
        (TAKEN, "done"),
        (error("400 Bad Request"), "refused"),
        (error("403 Forbidden"), "retry"),
        (Act::Say("409 Conflict", "", r#"{"name":"invalid_idempotent_request"}"#), "refused"),
        (Act::Say("409 Conflict", "", r#"{"name":"concurrent_idempotent_requests"}"#), "uncertain"),
        (error("422 Unprocessable Content"), "refused"),
        (error("500 Internal Server Error"), "uncertain"),
        (Act::Say("302 Found", "location: http://127.0.0.1:1/\r\n", ""), "retry"),
        (Act::Die, "uncertain"),
    ] {
        let api = Api::start(&[act]);
        let answer = send(&resend(api.port, Some("re_1")), &paid("order-1", Some(CUSTOMER)));
        assert_eq!(answer.outcome.as_str(), outcome, "{act:?}: {}", said(&answer));
        assert_eq!(api.seen().len(), 1, "{act:?}");
    }
    let api = Api::start(&[Act::Hang]);
    let silent = resend(api.port, Some("re_1"));
    let silence = send_within(&silent, &sending(&silent, &paid("order-1", Some(CUSTOMER))), SHORT);
    assert_eq!(silence.outcome, Outcome::Uncertain, "{}", said(&silence));
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let nobody = send(&resend(free, Some("re_1")), &paid("order-1", Some(CUSTOMER)));
    assert!(is_retry(&nobody), "{}", said(&nobody));
}

#[test]
fn too_many_requests_say_when_to_come_again() {
    let api = Api::start(&[Act::Say("429 Too Many Requests", "retry-after: 3600\r\n", "{}")]);
    let now = paidonce::clock::SystemClock.now();
    let answer = send(&resend(api.port, Some("re_1")), &paid("order-1", Some(CUSTOMER)));
    let Outcome::Retry(Some(at)) = answer.outcome else { panic!("{}", said(&answer)) };
    assert!(at >= now.plus_ms(3_600_000), "{at:?} is an hour after {now:?}");
}

#[test]
fn p14_the_key_and_the_customer_are_not_in_what_is_shown() {
    let echo = r#"{"name":"invalid_api_key","message":"re_correct-horse may not mail ada@example.org"}"#;
    let api = Api::start(&[Act::Say("403 Forbidden", "", echo)]);
    let answer = send(&resend(api.port, Some("re_correct-horse")), &paid("order-1", Some(CUSTOMER)));
    assert!(
        answer.detail.contains("403: invalid_api_key: *** may not mail <recipient>"),
        "{}",
        said(&answer)
    );
}

#[test]
fn without_a_key_or_a_recipient_nobody_is_called() {
    let api = Api::start(&[TAKEN]);
    let parked = send(&resend(api.port, None), &paid("order-1", Some(CUSTOMER)));
    assert_eq!(parked.outcome, Outcome::NotConfigured, "{}", said(&parked));
    let why = resend(api.port, Some("re_1")).objection(&paid("order-1", Some("customer-7"))).unwrap();
    assert!(why.contains("no recipient"), "{why}");
    assert!(api.seen().is_empty());
}
