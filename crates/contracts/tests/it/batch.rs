//! Several events in one delivery: each is read alone and keeps its own bytes.

use paidonce_contracts::{Contract, Delivery, ITEMS_MAX, Verifier};
use paidonce_ledger::Reading;

use crate::support::{delivery, notices, show, signed, source, why};

fn batch() -> Verifier {
    source("generic-hmac", "[read]\nitems = 'events'\ntest = 'test'", &["s"])
}

fn item(id: &str) -> String {
    format!(r#"{{ "id":"{id}","type":"payment.failed","payment":{{"id":"pay_{id}"}} }}"#)
}

#[test]
fn every_item_is_a_notice_with_its_own_bytes() {
    let items = [item("1"), r#"{"id":"2","type":"payment.failed"}"#.to_owned(), "7".to_owned(), item("3")];
    let body = format!("{{\"events\":[\n{}\n]}}", items.join(" ,\n"));
    let notices = notices(&batch(), "s", body.as_bytes());
    let bytes: Vec<_> = notices.iter().map(|notice| notice.body.bytes().to_vec()).collect();
    assert_eq!(bytes, items.map(String::into_bytes));
    assert_eq!(show(&notices[0]), "1 payment.failed\npayment pay_1\nattempt_failed by 1");
    assert_eq!(why(&notices[1]), "payment.id: absent");
    assert_eq!(why(&notices[2]), "body: not an object");
    assert_eq!(notices[2].id.as_str(), format!("sha256:{}", notices[2].body.digest()));
    assert!(matches!(notices[3].reading, Reading::Facts(_)));
}

#[test]
fn a_batch_that_is_none_is_one_unreadable_notice() {
    for (body, because) in [
        ("{}".to_owned(), "events: absent"),
        ("{\"events\":{}}".to_owned(), "events: not a list"),
        ("{\"events\":[]}".to_owned(), "events: an empty list"),
        (
            format!("{{\"events\":[{}0]}}", "0,".repeat(ITEMS_MAX)),
            "events: a list with more items than are read",
        ),
    ] {
        let notices = notices(&batch(), "s", body.as_bytes());
        assert_eq!((notices.len(), why(&notices[0])), (1, because));
    }
}

/// stbl-pay's rule: exactly the boolean `true`, and only after the signature.
#[test]
fn test_notifications_are_exactly_true() {
    let verifier = batch();
    let is_test = |value: &str| {
        let body = format!(r#"{{"test":{value},"events":[{}]}}"#, item("1")).into_bytes();
        delivery(&verifier, &signed(&verifier, "s", "", &body), &body) == Delivery::Test
    };
    assert!(is_test("true"));
    for value in ["false", "1", "\"true\"", "null", "[true]", "{}"] {
        assert!(!is_test(value), "{value}");
    }
}

/// One header cannot identify several events: all but the first would be its duplicates.
#[test]
fn items_cannot_share_the_id_of_a_header() {
    let overlay = "[read]\nitems = 'events'".parse().unwrap();
    let error = Contract::builtin("standard-webhooks", Some(&overlay)).unwrap_err().to_string();
    assert!(error.contains("the items of one delivery cannot share one id"), "{error}");
}
