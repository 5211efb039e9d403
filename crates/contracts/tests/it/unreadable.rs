//! Genuine bodies that cannot be read: each is stored under a name of its own, with the member and no value.

use paidonce_ledger::{AMOUNT_MAX, Notice, Reading};

use crate::support::{notice, show, stripe, why};

const SECRET: &str = "whsec_test_secret";

fn stripe_reads(body: impl AsRef<[u8]>) -> Notice {
    notice(&stripe(), SECRET, body)
}

/// Unreadable, for this reason, under the digest of its bytes.
fn nameless(body: impl AsRef<[u8]>, because: &str) {
    let notice = stripe_reads(body.as_ref());
    assert_eq!(why(&notice), because);
    assert_eq!(notice.id.as_str(), format!("sha256:{}", notice.body.digest()));
    assert_eq!(notice.body.bytes(), body.as_ref());
    assert_eq!(notice.content, notice.body.digest());
}

#[test]
fn bodies_that_are_no_json_object() {
    nameless("", "body: empty");
    nameless(" \n", "body: empty");
    nameless("not json", "body: not JSON, at byte 0");
    nameless(r#"{"id":"evt_1","type":"#, "body: not JSON, at byte 21");
    nameless("{\"id\":\"a\0b\"}", "body: not JSON, at byte 8");
    nameless(b"{\"id\":\"evt_1\",\"name\":\"\xe9\"}", "body: not UTF-8");
    nameless("[]", "body: not an object");
    nameless("\"evt_1\"", "body: not an object");
    nameless("7", "body: not an object");
}

/// RELIABILITY 0.9: of two equal members readers choose differently, so neither counts.
#[test]
fn duplicate_members_are_refused_wherever_they_stand() {
    nameless(
        r#"{"id":"evt_1","type":"x","id":"evt_2"}"#,
        "body: two members of one name in the object that ends at byte 38",
    );
    nameless(
        r#"{"id":"evt_1","x":{"amount":1,"amount":999}}"#,
        "body: two members of one name in the object that ends at byte 43",
    );
}

#[test]
fn nesting_that_would_exhaust_a_stack() {
    let deep = format!("{{\"id\":\"evt_1\",\"x\":{}", "[".repeat(100_000));
    nameless(deep, "body: nested deeper than 32 levels, at byte 49");
}

/// B03: encoding is a matter of reading, after the signature; one byte order mark is read over.
#[test]
fn b03_bytes_outside_ascii_are_signed_as_bytes() {
    let notice = stripe_reads("\u{feff}{\"id\":\"evt_\u{540d}\",\"type\":\"x\"}");
    assert_eq!(notice.id.as_str(), "evt_\u{540d}");
    assert!(notice.body.bytes().starts_with(b"\xef\xbb\xbf"));
}

#[test]
fn ids_that_are_none() {
    let long = "e".repeat(300);
    for (id, because) in [
        ("", "id: absent"),
        ("\"id\":null,", "id: absent"),
        ("\"id\":\"\",", "id: an id must not be empty"),
        (&*format!("\"id\":\"{long}\","), "id: an id has at most 255 bytes, this one has 300"),
        ("\"id\":\"a\\u0000b\",", "id: an id must not hold control characters"),
        ("\"id\":\"a\\nb\",", "id: an id must not hold control characters"),
        ("\"id\":true,", "id: not an id"),
        ("\"id\":1.5,", "id: not an id"),
        ("\"id\":-1,", "id: not an id"),
        ("\"id\":{\"id\":\"evt_1\"},", "id: not an id"),
    ] {
        let notice = stripe_reads(format!("{{{id}\"type\":\"payment_intent.succeeded\"}}"));
        assert_eq!(why(&notice), because);
        assert_eq!(notice.id.as_str(), format!("sha256:{}", notice.body.digest()));
        assert_eq!(&*notice.kind, "payment_intent.succeeded");
    }
}

/// Nothing is folded or trimmed: these are six events.
#[test]
fn ids_differ_by_every_byte() {
    let ids = ["evt_A", "evt_a", "evt_A ", " evt_A", "9007199254740993", "9007199254740992"];
    let read: std::collections::BTreeSet<_> =
        ids.iter().map(|id| stripe_reads(format!(r#"{{"id":"{id}","type":"x"}}"#)).id).collect();
    assert_eq!(
        read.iter().map(|id| id.as_str()).collect::<std::collections::BTreeSet<_>>(),
        ids.into_iter().collect()
    );
    assert_eq!(stripe_reads(r#"{"id":9007199254740993,"type":"x"}"#).id.as_str(), "9007199254740993");
}

#[test]
fn types_that_are_none() {
    for (kind, because) in [
        ("\"x\":1", "type: absent"),
        ("\"type\":\"\"", "type: empty"),
        ("\"type\":7", "type: not text"),
        ("\"type\":\"a\\u001bb\"", "type: holds control characters"),
    ] {
        let notice = stripe_reads(format!("{{\"id\":\"evt_1\",{kind}}}"));
        assert_eq!((why(&notice), notice.id.as_str(), &*notice.kind), (because, "evt_1", ""));
    }
}

#[test]
fn modes_and_accounts_that_are_none() {
    let with =
        |member: &str| stripe_reads(format!(r#"{{"id":"evt_1","type":"payment_intent.canceled",{member}}}"#));
    assert_eq!(why(&with(r#""livemode":"true""#)), "livemode: not a boolean");
    assert_eq!(why(&with(r#""account":"""#)), "account: an id must not be empty");
    assert_eq!(why(&with(r#""account":[1]"#)), "account: not an id");
}

fn captured(amount: &str, currency: &str) -> Notice {
    stripe_reads(format!(
        r#"{{"id":"evt_1","type":"payment_intent.succeeded","livemode":true,
            "data":{{"object":{{"id":"pi_1","amount_received":{amount},"currency":{currency}}}}}}}"#
    ))
}

#[test]
fn amounts_that_are_none() {
    let amount = "data.object.amount_received";
    for (value, because) in [
        ("-1", "negative"),
        ("-0", "negative"),
        ("\"-5\"", "negative"),
        ("10.5", "not a plain number of the contract's shape"),
        ("1000.0", "not a plain number of the contract's shape"),
        ("1e3", "not a plain number of the contract's shape"),
        ("\"\"", "not a plain number of the contract's shape"),
        ("\" 5\"", "not a plain number of the contract's shape"),
        ("\"0x5\"", "not a plain number of the contract's shape"),
        ("true", "not an amount"),
        ("[5]", "not an amount"),
        ("{}", "not an amount"),
        ("1000000000000000000000000000001", "above 10^30 minor units"),
        (&*"9".repeat(400), "above 10^30 minor units"),
    ] {
        assert_eq!(why(&captured(value, "\"usd\"")), format!("{amount}: {because}"), "{value}");
    }
}

#[test]
fn numbers_beyond_64_bits_are_read_digit_for_digit() {
    for amount in ["9007199254740993", "18446744073709551617", &AMOUNT_MAX.to_string(), "\"5\"", "0"] {
        let notice = captured(amount, "\"jpy\"");
        assert!(show(&notice).ends_with(&format!("Settled {} JPY", amount.trim_matches('"'))), "{amount}");
    }
}

#[test]
fn currencies_that_are_none() {
    for (value, because) in [
        ("\"qqq\"", "not an ISO 4217 currency with a minor unit"),
        ("\"xau\"", "not an ISO 4217 currency with a minor unit"),
        ("\"\"", "not an ISO 4217 currency with a minor unit"),
        ("978", "not a currency code"),
    ] {
        assert_eq!(why(&captured("5", value)), format!("data.object.currency: {because}"));
    }
}

#[test]
fn payments_and_fact_ids_that_are_none() {
    let with = |id: &str| {
        let body =
            format!(r#"{{"id":"evt_1","type":"payment_intent.canceled","data":{{"object":{{{id}"x":1}}}}}}"#);
        why(&stripe_reads(body)).to_owned()
    };
    assert_eq!(with(""), "data.object.id: absent");
    assert_eq!(with("\"id\":null,"), "data.object.id: absent");
    assert_eq!(with("\"id\":\"\","), "data.object.id: an id must not be empty");
    assert_eq!(with("\"id\":[],"), "data.object.id: not an id");
    assert_eq!(with("\"id\":{\"object\":\"payment_intent\"},"), "data.object.id: not an id");
    let refund =
        r#"{"id":"evt_1","type":"refund.created","data":{"object":{"charge":"ch_1","status":"pending"}}}"#;
    assert_eq!(why(&stripe_reads(refund)), "data.object.id: absent");
}

/// Values stay out of reasons: they are shown in logs and consoles. P14
#[test]
fn reasons_name_members_and_never_values() {
    let secret_value = "jenny.rosen@example.com";
    for body in [
        format!(r#"{{"id":"{secret_value}\u0000","type":"x"}}"#),
        format!(r#"{{"id":"e","type":"{secret_value}\u0000"}}"#),
        format!(
            r#"{{"id":"e","type":"payment_intent.succeeded","data":{{"object":{{"id":"p","amount_received":"{secret_value}","currency":"eur"}}}}}}"#
        ),
        format!(
            r#"{{"id":"e","type":"payment_intent.succeeded","data":{{"object":{{"id":"p","amount_received":1,"currency":"{secret_value}"}}}}}}"#
        ),
        format!(
            r#"{{"id":"e","type":"refund.updated","data":{{"object":{{"id":"p","charge":"c","status":"{secret_value}"}}}}}}"#
        ),
        format!(r#"{{"{secret_value}":1,"{secret_value}":2}}"#),
    ] {
        let notice = stripe_reads(&body);
        assert!(matches!(notice.reading, Reading::Unreadable(_)), "{body}");
        assert!(!why(&notice).contains("jenny"), "{}", why(&notice));
    }
}

/// Names that cannot be ours are none; the payment is still read.
#[test]
fn hints_and_references_that_are_none_are_left_out() {
    let long = "h".repeat(300);
    let body = format!(
        r#"{{"id":"evt_1","type":"payment_intent.canceled","data":{{"object":{{"id":"pi_1","latest_charge":"",
            "invoice":true,"client_reference_id":"{long}","metadata":{{"order_id":77,"paidonce":["x"]}}}}}}}}"#
    );
    assert_eq!(
        show(&stripe_reads(body)),
        "evt_1 payment_intent.canceled\npayment pi_1\nhint 77\nended_cancelled"
    );
}
