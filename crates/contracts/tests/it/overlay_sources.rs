//! stbl-pay and StableIn: what is public is shipped, the rest the source has to state, and is told so.

use paidonce_contracts::{Contract, Delivery};
use paidonce_ledger::Reading;

use crate::support::{check, delivery, notice, signed, source};

const SIGNATURE: &str = "
    [signature]
    header = 'X-Signature'
    mac = 'hmac-sha256'
    key = 'utf8'
    encoding = 'hex'";

fn refused(name: &str, overlay: &str) -> String {
    Contract::builtin(name, Some(&overlay.parse().unwrap())).unwrap_err().to_string()
}

#[test]
fn a_source_without_a_signature_is_told_what_to_state() {
    let message = refused("stbl-pay", "");
    for says in [
        "stbl-pay.toml",
        "the source has to state",
        "signature.header",
        "signature.mac",
        "signature.key",
        "signature.encoding",
        "for example",
        "header = \"X-Signature\"",
        "hmac-sha256",
    ] {
        assert!(message.contains(says), "{says}: {message}");
    }
    assert!(!message.contains("read.id") && !message.contains("signature.signed"), "{message}");
    let partly =
        refused("stbl-pay", "[signature]\nheader = 'X-Signature'\nmac = 'hmac-sha256'\nkey = 'utf8'");
    assert!(partly.contains("signature.encoding") && !partly.contains("signature.mac"), "{partly}");
    let stablein = refused("stablein", SIGNATURE);
    assert!(stablein.contains("read.id") && stablein.contains("read.type"), "{stablein}");
    assert!(stablein.contains("[read]") && !stablein.contains("signature.header"), "{stablein}");
}

fn stbl_pay() -> paidonce_contracts::Verifier {
    let overlay = format!(
        "{SIGNATURE}
        [money]
        shape = 'minor'
        currency = 'currency'
        [[event]]
        type = 'payment.succeeded'
        facts = [{{ kind = 'captured', state = 'settled', amount = 'amount' }}]"
    );
    source("stbl-pay", &overlay, &["sk"])
}

#[test]
fn stbl_pay_with_its_overlay() {
    let body = r#"{"id":"ev_1","type":"payment.succeeded","payment_intent_id":"pi_9","amount":500,"currency":"JPY","test":false}"#;
    check(
        &notice(&stbl_pay(), "sk", body),
        "ev_1 payment.succeeded\npayment pi_9\ncaptured pi_9 Settled 500 JPY",
    );
    let other = r#"{"id":"ev_2","type":"something.else","payment_intent_id":"pi_9"}"#;
    assert_eq!(notice(&stbl_pay(), "sk", other).reading, Reading::Ignored);
}

/// K05: `Stbl-Pay-Event-Id` is not covered, so it is not read; a test notification is no event.
#[test]
fn k05_the_unsigned_header_is_no_identity_and_tests_are_not_events() {
    let verifier = stbl_pay();
    let body = br#"{"id":"ev_1","type":"payment.succeeded","payment_intent_id":"pi_9"}"#;
    let mut headers = signed(&verifier, "sk", "", body);
    headers.push(("Stbl-Pay-Event-Id".into(), "ev_other".into()));
    let Delivery::Events(notices) = delivery(&verifier, &headers, body) else { panic!() };
    assert_eq!(notices[0].id.as_str(), "ev_1");
    let refused =
        refused("stbl-pay", &format!("{SIGNATURE}\n[read]\nid = {{ header = 'Stbl-Pay-Event-Id' }}"));
    assert!(refused.contains("not signed, so anybody can change it"), "{refused}");
    let test = br#"{"id":"ev_1","type":"payment.succeeded","payment_intent_id":"pi_9","test":true}"#;
    assert_eq!(delivery(&verifier, &signed(&verifier, "sk", "", test), test), Delivery::Test);
}

#[test]
fn stablein_with_its_overlay() {
    let overlay = format!(
        "{SIGNATURE}
        [read]
        id = 'event_id'
        type = 'type'
        payment = 'payment_order.id'
        hints = 'payment_order.merchant_order_id'
        [money]
        shape = 'minor'
        network = 'payment_order.network'
        asset = 'payment_order.asset'
        decimals = 'payment_order.decimals'
        [[event]]
        type = 'payment_order.paid'
        facts = [{{ kind = 'captured', state = 'settled', amount = 'payment_order.amount' }}]"
    );
    let body = r#"{"event_id":"e1","type":"payment_order.paid","payment_order":{"id":"po_1","merchant_order_id":"o-1",
        "network":"eip155:11155111","asset":"USDC","decimals":6,"amount":"1500000"}}"#;
    check(
        &notice(&source("stablein", &overlay, &["sk"]), "sk", body),
        "e1 payment_order.paid
         payment po_1
         hint o-1
         captured po_1 Settled 1.500000 USDC on eip155:11155111",
    );
}

#[test]
fn standard_webhooks_alone_ignores_what_it_does_not_know() {
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let verifier = source("standard-webhooks", "", &[secret]);
    assert_eq!(verifier.contract().event_types().count(), 0);
    let body = include_bytes!("../../fixtures/standard-webhooks/spec_full_payload.json");
    check(&notice(&verifier, secret, body), "msg_1 contact.created\nignored");
}
