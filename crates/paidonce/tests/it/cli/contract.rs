//! `contract`: proving one's own contract, and seeing what a body would become.

use super::Place;

const ACME: &str = "format = 1\nprovider = 'acme'\ntitle = 'Acme'\n[signature]\nheader = 'X-Acme'\n\
    signed = ['{body}']\nmac = 'hmac-sha256'\nkey = 'utf8'\nencoding = 'hex'\n[read]\nid = 'id'\ntype = 'type'\n\
    payment = 'payment'\n[money]\nshape = 'minor'\ncurrency = 'currency'\n[[event]]\ntype = 'paid'\n\
    facts = [{ kind = 'captured', state = 'settled', amount = 'amount' }]\n";

/// HMAC-SHA256("s3cret", "{}"), by OpenSSL.
const MAC: &str = "adbde1ce40c89c14215687d5d762a47df6dfaefcfad61e2e86718ffc8498571b";

fn vector(id: &str, mac: &str, expect: &str) -> String {
    format!(
        r#"{{"id":"{id}","secret":"s3cret","headers":{{"x-acme":"{mac}"}},"body":"{{}}","now":0,"expect":"{expect}"}}"#
    )
}

#[test]
fn every_vector_has_a_line_and_a_differing_one_ends_with_1() {
    let place = Place::empty();
    place.write("acme.toml", ACME);
    place.write("right.json", &format!("[{},{}]", vector("a", MAC, "valid"), vector("b", "00", "invalid")));
    let ran = place.run(&["contract", "check", "acme.toml", "--vectors", "right.json"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("signature_mismatch") && ran.out.contains("2 of 2 vectors"), "{}", ran.out);
    place.write("wrong.json", &format!("[{}]", vector("c", "00", "valid")));
    let ran = place.run(&["--json", "contract", "check", "acme.toml", "--vectors", "wrong.json"]);
    assert_eq!(ran.code, 1);
    let answer: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(answer["vectors"][0]["result"], "differs");
    assert_eq!(answer["differing"], 1);
    place.write("none.json", "[]");
    assert_eq!(place.run(&["contract", "check", "acme.toml", "--vectors", "none.json"]).code, 2);
}

#[test]
fn a_mistake_is_named_with_its_line() {
    let place = Place::empty();
    place.write("acme.toml", &ACME.replace("state = 'settled'", "state = 'paid'"));
    let ran = place.run(&["contract", "check", "acme.toml"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("acme.toml:19: event[0].facts[0].state"), "{}", ran.err);
}

#[test]
fn a_body_is_shown_as_its_events_and_facts() {
    let place = Place::empty();
    place.write("acme.toml", ACME);
    place.write("body.json", r#"{"id":"e1","type":"paid","payment":"p1","amount":1990,"currency":"EUR"}"#);
    let shown = place.json(&["contract", "read", "acme.toml", "body.json"]);
    assert_eq!(shown["events"][0]["payment"], "p1");
    let fact = &shown["events"][0]["facts"][0];
    assert_eq!(
        (&fact["kind"], &fact["state"], &fact["amount"]),
        (&"captured".into(), &"settled".into(), &"19.90 EUR".into())
    );
    let ran = place.run(&["contract", "read", "acme.toml", "body.json"]);
    assert!(ran.out.contains("payment p1") && ran.out.contains("19.90 EUR"), "{}", ran.out);
    place.write("body.json", r#"{"id":"e1","type":"paid","payment":"p1","amount":"x","currency":"EUR"}"#);
    let ran = place.run(&["contract", "read", "acme.toml", "body.json"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("unreadable: amount"), "{}", ran.out);
}

#[test]
fn shipped_contracts_prove_themselves() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../contracts/fixtures");
    for name in ["braintree", "nowpayments", "paypal", "stripe"] {
        let vectors = format!("{fixtures}/{name}/vectors.json");
        let ran = Place::empty().run(&["contract", "check", name, "--vectors", &vectors]);
        assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    }
    assert_eq!(Place::empty().run(&["contract", "check", "no-such"]).code, 1);
}
