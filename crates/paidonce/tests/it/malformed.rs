//! Bad input: each gets its documented status and a problem that says what is wrong, and leaves behind nothing, or
//! one case if it was genuine.

use serde_json::{Value, json};

use crate::shop::{Shop, order, paid};
use crate::wire;

/// A genuine delivery that cannot be read is acknowledged, kept, and shown to a person once.
#[test]
fn genuine_and_unreadable_deliveries_are_kept_as_one_case_each() {
    let with = |member: &str, value: Value| {
        let mut event: Value = serde_json::from_slice(&paid("evt", "pay", "order", "19.90")).unwrap();
        *event.pointer_mut(member).unwrap() = value;
        event.to_string().into_bytes()
    };
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let bodies: Vec<(&str, Vec<u8>)> = vec![
        ("no JSON", b"name=value&other".to_vec()),
        ("empty", Vec::new()),
        ("cut off", br#"{"id":"evt","type":"payment.succeeded","payment":{"#.to_vec()),
        ("no UTF-8", b"{\"id\":\"evt\xFF\",\"type\":\"payment.succeeded\"}".to_vec()),
        ("deep", deep.into_bytes()),
        ("duplicate key", br#"{"id":"evt","id":"other","type":"payment.succeeded"}"#.to_vec()),
        ("no id", br#"{"type":"payment.succeeded"}"#.to_vec()),
        ("empty id", with("/id", json!(""))),
        ("300-byte id", with("/id", json!("x".repeat(300)))),
        ("control character in the id", with("/id", json!("a\u{0}b"))),
        ("negative amount", with("/payment/amount", json!("-19.90"))),
        ("too many decimals", with("/payment/amount", json!("19.901"))),
        ("beyond the largest amount", with("/payment/amount", json!("9".repeat(60)))),
        ("amount is no number", with("/payment/amount", json!("much"))),
        ("unknown currency", with("/payment/currency", json!("QQQ"))),
    ];
    for (what, body) in bodies {
        let shop = Shop::open();
        let answer = shop.deliver("shop", &body);
        assert_eq!(answer.status, 200, "{what}: {answer:?}");
        assert_eq!(answer.json()["events"][0]["outcome"], "unreadable", "{what}");
        let ledger = shop.ledger();
        assert_eq!((ledger.events.rows().len(), ledger.cases.rows().len()), (1, 1), "{what}");
        assert_eq!(ledger.events.rows().values().next().unwrap().body.bytes(), body, "{what}");
        assert!(ledger.payments.rows().is_empty(), "{what}");
        let case = ledger.cases.rows().values().next().unwrap();
        assert!(!case.detail.contains("19.90"), "{what}: a case names members, not values");
    }
}

#[test]
fn a_number_beyond_64_bits_is_read_exactly() {
    let shop = Shop::open();
    let body = br#"{"id":"e","type":"payment.succeeded","payment":{"id":"p","order":"o",
        "amount":123456789012345678901234567.89,"currency":"EUR"}}"#;
    assert_eq!(shop.deliver("shop", body).json()["events"][0]["outcome"], "unbound");
    let ledger = shop.ledger();
    let amounts: Vec<_> = ledger.facts.rows().values().filter_map(|value| value.amount_minor).collect();
    assert_eq!(amounts, [12_345_678_901_234_567_890_123_456_789]);
}

#[test]
fn ids_that_differ_in_case_or_a_blank_are_different_events() {
    let shop = Shop::open();
    for id in ["evt_A", "evt_a", "evt_A ", " evt_A"] {
        assert_eq!(
            shop.deliver("shop", &paid(id, "pay", "order", "19.90")).json()["events"][0]["outcome"],
            "unbound"
        );
    }
    assert_eq!(shop.ledger().events.rows().len(), 4);
}

#[test]
fn deliveries_over_a_limit_leave_nothing_behind() {
    let shop = Shop::with("body_max = 1000\nbody_timeout_s = 1", "");
    let before = shop.ledger();
    let body = vec![b' '; 2_000];
    let seal = shop.seal("shop", &body);
    let seal = format!("{}: {}\r\n", seal[0].0, seal[0].1);
    let send = |head: &str, body: &[u8]| {
        let head = format!("POST /in/shop HTTP/1.1\r\nhost: shop\r\n{seal}{head}\r\n");
        wire::raw(shop.public(), &[head.as_bytes(), body].concat())
    };
    let refused = |answer: Option<wire::Answer>| answer.map(|answer| (answer.status, answer.code()));
    let is = |status, code: &str| Some((status, code.to_owned()));
    assert_eq!(refused(send("content-length: 2000\r\n", &body)), is(413, "body_too_large"));
    assert_eq!(refused(send("content-length: 9999999999\r\n", &body)), is(413, "body_too_large"));
    let chunk = [format!("{:x}\r\n", body.len()).as_bytes(), &body, b"\r\n"].concat();
    assert_eq!(refused(send("transfer-encoding: chunked\r\n", &chunk)), is(413, "body_too_large"));
    assert_eq!(refused(send("transfer-encoding: chunked\r\n", b"5\r\nhello\r\n")), is(408, "body_timeout"));
    assert_eq!(refused(send("content-length: 900\r\n", b"cut off")), is(408, "body_timeout"));
    let encoded = "content-encoding: gzip\r\ncontent-length: 2\r\n";
    assert_eq!(refused(send(encoded, b"{}")), is(415, "content_encoding"));
    // Malformed chunks and impossible lengths end in a refusal or a closed connection, never in a row.
    for head in ["transfer-encoding: chunked\r\n", "content-length: x\r\n", "content-length: -1\r\n"] {
        let answer = send(head, b"zz\r\nhello\r\n");
        assert!(answer.is_none_or(|answer| answer.status == 400), "{head}");
    }
    assert!(shop.ledger() == before);
}

#[test]
fn a_malformed_order_is_refused_with_the_member_and_stores_nothing() {
    let shop = Shop::open();
    let before = shop.ledger();
    let with = |member: &str, value: Value| {
        let mut body = order("order-1");
        match member.rsplit_once('/') {
            Some((parent, name)) => body.pointer_mut(parent).unwrap()[name] = value,
            None => body[member] = value,
        }
        body.to_string().into_bytes()
    };
    let deep = format!("{{\"id\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let bodies: Vec<(Vec<u8>, &str, &str)> = vec![
        (b"not json".to_vec(), "malformed_json", "expected"),
        (Vec::new(), "malformed_json", "EOF"),
        (br#"{"id":"a""#.to_vec(), "malformed_json", "EOF"),
        (b"{\"id\":\"\xFF\"}".to_vec(), "malformed_json", "UTF-8"),
        (deep.into_bytes(), "invalid_request", "id"),
        (
            br#"{"id":"a","id":"b","lines":[],"total":{"amount":"1","unit":"EUR"}}"#.to_vec(),
            "invalid_request",
            "duplicate",
        ),
        ([order("a").to_string().as_bytes(), b"{}"].concat(), "malformed_json", "trailing"),
        (with("surprise", json!(1)), "invalid_request", "surprise"),
        (with("/total/surprise", json!(1)), "invalid_request", "surprise"),
        (with("id", json!("")), "invalid_request", "id"),
        (with("id", json!("x".repeat(300))), "invalid_request", "255"),
        (with("id", json!("a\nb")), "invalid_request", "control"),
        (with("id", json!(7)), "invalid_request", "id"),
        (with("customer", json!("")), "invalid_request", "customer"),
        (with("lines", json!([])), "invalid_request", "lines"),
        (with("lines", json!([{"sku": "a", "quantity": 0}])), "invalid_request", "lines[0].quantity"),
        (with("lines", json!([{"sku": "a", "quantity": -1}])), "invalid_request", "quantity"),
        (with("lines", json!([{"sku": "a", "quantity": 5_000_000_000_u64}])), "invalid_request", "quantity"),
        (with("lines", json!([{"sku": "", "quantity": 1}])), "invalid_request", "lines[0].sku"),
        (with("/total/amount", json!(19.9)), "invalid_request", "never a JSON number"),
        (with("/total/amount", json!("-19.90")), "invalid_request", "negative"),
        (with("/total/amount", json!("19.901")), "invalid_request", "decimals"),
        (with("/total/amount", json!("9".repeat(60))), "invalid_request", "10^30"),
        (with("/total/amount", json!("1e3")), "invalid_request", "total.amount"),
        (with("/total/unit", json!("QQQ")), "invalid_request", "total.unit"),
        (with("fulfil", json!("some")), "invalid_request", "fulfil"),
        (with("expires_at", json!("tomorrow")), "invalid_request", "RFC 3339"),
        (
            with("references", json!([{"source": "nobody", "id": "x"}])),
            "invalid_request",
            "references[0].source",
        ),
        (with("references", json!([{"source": "shop", "id": ""}])), "invalid_request", "references[0].id"),
    ];
    for (body, code, says) in bodies {
        let shown = String::from_utf8_lossy(&body[..body.len().min(120)]).into_owned();
        let answer = shop.post_with("/v1/orders", &[], &body);
        assert_eq!((answer.status, answer.code().as_str()), (400, code), "{shown}: {answer:?}");
        assert!(answer.detail().contains(says), "{shown}: {answer:?}");
    }
    assert!(shop.ledger() == before, "a malformed request stores nothing");
}

#[test]
fn a_number_beyond_64_bits_as_an_amount_is_refused() {
    let shop = Shop::open();
    let body = br#"{"lines":[{"sku":"a"}],"total":{"amount":99999999999999999999999,"unit":"EUR"}}"#;
    let answer = shop.post_with("/v1/orders", &[], body);
    assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_request"));
    assert!(answer.detail().contains("total.amount"), "{answer:?}");
}

#[test]
fn all_mistakes_are_told_at_once() {
    let shop = Shop::open();
    let answer = shop.post(
        "/v1/orders",
        &json!({
            "id": "", "lines": [{"sku": "", "quantity": 0}], "total": {"amount": "1.234", "unit": "EUR"}
        }),
    );
    let members: Vec<_> =
        answer.json()["mistakes"].as_array().unwrap().iter().map(|m| m["member"].clone()).collect();
    assert_eq!(members, ["id", "lines[0].quantity", "lines[0].sku", "total.amount"]);
}

#[test]
fn other_wrong_requests_have_their_statuses() {
    let shop = Shop::with("body_max = 1000", "");
    let key = shop.key("operate");
    let send = |method: &str, path: &str, kind: &str, body: &[u8]| {
        let headers = [("authorization", key.as_str()), ("content-type", kind)];
        let answer = wire::request(shop.server().api(), method, path, &headers, body);
        (answer.status, answer.code(), answer.header("allow").map(str::to_owned))
    };
    let is = |status, code: &str| (status, code.to_owned(), None);
    let json = "application/json; charset=utf-8";
    let form = "application/x-www-form-urlencoded";
    assert_eq!(send("POST", "/v1/orders", form, b"{}"), is(415, "wrong_content_type"));
    assert_eq!(send("POST", "/v1/orders", "", b"{}"), is(415, "wrong_content_type"));
    assert_eq!(send("POST", "/v1/orders", json, &[b' '; 2_000]), is(413, "body_too_large"));
    assert_eq!(send("GET", "/v1/nothing", json, b""), is(404, "no_such_route"));
    assert_eq!(send("GET", "/v1/orders?limit=0", json, b""), is(400, "invalid_request"));
    assert_eq!(send("GET", "/v1/orders?limit=501", json, b""), is(400, "invalid_request"));
    assert_eq!(send("GET", "/v1/orders?surprise=1", json, b""), is(400, "invalid_request"));
    assert_eq!(send("GET", "/v1/orders?after=nonsense", json, b""), is(400, "invalid_request"));
    let (status, code, allow) = send("GET", "/in/shop", json, b"");
    assert_eq!((status, code.as_str(), allow.as_deref()), (405, "wrong_method", Some("POST")));
    assert_eq!(send("DELETE", "/v1/orders/x", json, b"").0, 405);
}
