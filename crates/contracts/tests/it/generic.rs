//! The contract to copy: decimal text, assets on networks, derived ids, words for modes.

use paidonce_contracts::Verifier;

use crate::support::{check, notice, show, source, why};

fn generic() -> Verifier {
    source("generic-hmac", "", &["s"])
}

fn event(kind: &str, payment: &str) -> String {
    format!(r#"{{"id":"evt_1","type":"{kind}","payment":{{"id":"pay_1","order":"order-7"{payment}}}}}"#)
}

fn amount_of(payment: &str) -> String {
    let notice = notice(&generic(), "s", event("payment.succeeded", payment));
    let text = show(&notice);
    text.lines().last().unwrap().to_owned()
}

#[test]
fn the_four_events() {
    let money = r#","amount":"19.90","currency":"EUR""#;
    check(
        &notice(&generic(), "s", event("payment.succeeded", money)),
        "evt_1 payment.succeeded
         payment pay_1
         hint order-7
         captured pay_1 Settled 19.90 EUR",
    );
    assert!(show(&notice(&generic(), "s", event("payment.pending", money))).ends_with("pending 19.90 EUR"));
    assert!(
        show(&notice(&generic(), "s", event("payment.failed", money))).ends_with("attempt_failed by evt_1")
    );
    let refund = r#"{"id":"evt_2","type":"payment.refunded","payment":{"id":"pay_1","currency":"EUR"},
                     "refund":{"id":"re_1","amount":"5"}}"#;
    assert!(show(&notice(&generic(), "s", refund)).ends_with("refunded re_1 Succeeded 5.00 EUR"));
}

/// B53: decimal text is an exact integer of minor units, or unreadable.
#[test]
fn b53_decimal_text_is_exact() {
    for amount in ["599.80", "19.99", "0.29", "4.35"] {
        for written in [format!("\"{amount}\""), amount.to_owned()] {
            let payment = format!(r#","amount":{written},"currency":"eur""#);
            assert_eq!(amount_of(&payment), format!("captured pay_1 Settled {amount} EUR"));
        }
    }
    for (amount, because) in [
        ("1.005", "more decimals than its unit has"),
        ("1.000", "more decimals than its unit has"),
        ("-1", "negative"),
        ("1e2", "not a plain number of the contract's shape"),
        ("1,5", "not a plain number of the contract's shape"),
    ] {
        let payment = format!(r#","amount":"{amount}","currency":"EUR""#);
        assert_eq!(amount_of(&payment), format!("unreadable: payment.amount: {because}"));
    }
}

#[test]
fn assets_on_networks() {
    let btc = r#","amount":"0.01741","network":"bitcoin","asset":"BTC","decimals":8"#;
    assert_eq!(amount_of(btc), "captured pay_1 Settled 0.01741000 BTC on bitcoin");
    let both = r#","amount":"1","network":"eip155:1","asset":"USDC","decimals":"6","currency":"USD""#;
    assert_eq!(amount_of(both), "unreadable: payment.currency: a currency beside a network's asset");
    for (payment, because) in [
        (r#","amount":"1","network":"n","asset":"A""#, "payment.decimals: absent"),
        (r#","amount":"1","network":"n","asset":"A","decimals":99"#, "payment.asset: not a unit of money"),
        (
            r#","amount":"1","network":"n","asset":"A","decimals":999"#,
            "payment.decimals: not a number of decimals",
        ),
        (r#","amount":"1","network":"a/b","asset":"A","decimals":6"#, "payment.asset: not a unit of money"),
    ] {
        assert_eq!(amount_of(payment), format!("unreadable: {because}"));
    }
    assert_eq!(
        amount_of(r#","amount":"1""#),
        "captured pay_1 Settled",
        "no unit: no money, but not unreadable"
    );
}

/// An id that the provider does not give: a digest over members, each with its kind and length.
#[test]
fn derived_ids_keep_their_parts_apart() {
    let overlay = "[read]\nid = { derived = ['type', 'a', 'b'] }";
    let verifier = source("generic-hmac", overlay, &["s"]);
    let id = |a: &str, b: &str| notice(&verifier, "s", format!(r#"{{"type":"x","a":{a},"b":{b}}}"#)).id;
    let ids = [
        id("\"1\"", "\"23\""),
        id("\"12\"", "\"3\""),
        id("1", "23"),
        id("\"\"", "\"123\""),
        id("true", "false"),
    ];
    assert_eq!(ids.iter().collect::<std::collections::BTreeSet<_>>().len(), ids.len());
    assert_eq!(id("1", "2"), id("1", "2"));
    assert!(id("1", "2").as_str().starts_with("derived:"));
    let missing = notice(&verifier, "s", r#"{"type":"x","a":1}"#);
    assert_eq!(why(&missing), "b: absent");
    assert!(missing.id.as_str().starts_with("sha256:"));
}

#[test]
fn modes_in_words_and_conditions_of_every_kind() {
    let overlay = "
        [read]
        mode = { member = 'mode', live = ['live', 'production'], test = 'sandbox' }
        [[event]]
        type = 'payment.succeeded'
        when = { 'payment.test' = true }
        ignore = true
        [[event]]
        type = 'payment.succeeded'
        when = { 'payment.parent' = { absent = true }, 'payment.amount' = { present = true } }
        facts = [{ kind = 'authorized', amount = 'payment.amount' }]
        [[event]]
        type = 'payment.succeeded'
        when = { 'payment.parent' = ['a', 'b'] }
        facts = [{ kind = 'total_captured', amount = 'payment.amount' }, { kind = 'ended', state = 'expired' }]";
    let verifier = source("generic-hmac", overlay, &["s"]);
    let read = |payment: &str, mode: &str| {
        let body = event("payment.succeeded", payment).replacen('{', &format!("{{\"mode\":\"{mode}\","), 1);
        show(&notice(&verifier, "s", body)).replace('\n', "; ")
    };
    let money = r#","amount":"1","currency":"EUR""#;
    assert_eq!(read(r#","test":true"#, "sandbox"), "evt_1 payment.succeeded (test); ignored");
    assert!(read(money, "production").ends_with("(live); payment pay_1; hint order-7; authorized 1.00 EUR"));
    let child = format!(r#"{money},"parent":"b""#);
    assert!(read(&child, "live").ends_with("total_captured 1.00 EUR; ended_expired"));
    let other = read(r#","parent":"c""#, "live");
    assert!(other.ends_with("unreadable: payment.test, payment.amount, payment.parent: absent, or not a value that the contract knows"), "{other}");
    let body = event("payment.succeeded", money).replacen('{', "{\"mode\":\"staging\",", 1);
    assert_eq!(why(&notice(&verifier, "s", body)), "mode: none of the contract's words for live and test");
}
