//! For every shipped contract: each bit of what it covers, flipped, is refused; and what it lists as uncovered changes
//! no fact. Malformed headers of every shape get a refusal and never a panic.

use paidonce_contracts::{Contract, Delivery, Secret, Strength, Verifier};
use paidonce_ledger::Reading;

use crate::support::NOW;

const BODY: &[u8] = br#"{"id":"evt_1","type":"x","amount":1999}"#;

/// What a source of a contract has to state, where it has to state something.
fn settings(name: &str) -> &'static str {
    match name {
        "square" => "signature.values.notification_url = 'https://shop.example/in'",
        "shopify" => "signature.values.topic = 'orders/paid'",
        "braintree" => "signature.values.public_key = 'public'",
        "paypal" => "signature.values.webhook_id = 'hook'",
        "stbl-pay" | "stablein" => {
            "signature = { header = 'X-Signature', mac = 'hmac-sha256', key = 'utf8', encoding = 'hex' }\n\
             read = { id = 'id', type = 'type' }"
        }
        _ => "",
    }
}

fn secret(name: &str) -> &'static str {
    match name {
        "adyen" | "adyen-platform" => "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056",
        "standard-webhooks" | "svix" | "clerk" => "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "worldpay" | "klarna" => "key1=secret",
        _ => "secret",
    }
}

fn contracts() -> Vec<(&'static str, Contract)> {
    let named = |name| (name, Contract::builtin(name, Some(&settings(name).parse().unwrap())).unwrap());
    Contract::names().map(named).collect()
}

fn verifier(name: &str, contract: &Contract) -> Verifier {
    let secrets = if contract.needs_secret() { vec![Secret::new(secret(name))] } else { Vec::new() };
    Verifier::new(contract, &secrets).unwrap_or_else(|error| panic!("{name}: {error}"))
}

type Lines = Vec<(String, Vec<u8>)>;

fn accepts(verifier: &Verifier, lines: &Lines, body: &[u8]) -> bool {
    let lines: Vec<_> = lines.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect();
    verifier.verify(&lines, body, NOW).is_ok()
}

/// Whether the header is one that the contract says is not covered.
fn uncovered(contract: &Contract, name: &str) -> bool {
    contract.uncovered().iter().any(|one| one.eq_ignore_ascii_case(&format!("header {name}")))
}

#[test]
fn every_bit_that_a_contract_covers_is_covered() {
    let mut covered = 0;
    for (name, contract) in contracts() {
        // Statics cover nothing, and say so; what `sign` cannot write has tests of its own (members.rs, code.rs).
        if contract.strength() == Strength::HintOnly {
            continue;
        }
        let Ok(headers) = contract.sign(&Secret::new(secret(name)), "msg_1", BODY, NOW) else { continue };
        let verifier = verifier(name, &contract);
        let genuine: Lines = headers.into_iter().map(|(name, value)| (name, value.into_bytes())).collect();
        assert!(accepts(&verifier, &genuine, BODY), "{name}");
        for bit in 0..BODY.len() * 8 {
            let mut body = BODY.to_vec();
            body[bit / 8] ^= 1 << (bit % 8);
            assert!(!accepts(&verifier, &genuine, &body), "{name}: bit {bit} of the body");
        }
        for (n, (header, value)) in genuine.iter().enumerate() {
            for bit in (0..value.len() * 8).filter(|_| !uncovered(&contract, header)) {
                let mut lines = genuine.clone();
                lines[n].1[bit / 8] ^= 1 << (bit % 8);
                // The one contract that takes hexadecimal in either case: the same bytes in another spelling.
                if name == "checkout" && lines[n].1.eq_ignore_ascii_case(value) {
                    continue;
                }
                // An optional prefix and an uncovered scheme word leave nothing to be genuine with either.
                assert!(!accepts(&verifier, &lines, BODY), "{name}: bit {bit} of {header}");
            }
        }
        covered += 1;
    }
    assert!(covered >= 20, "{covered} contracts");
}

/// Header lines that a contract does not cover are not read: with others in their place the reading is the same.
#[test]
fn an_uncovered_header_changes_nothing() {
    let mut changed = 0;
    for (name, contract) in contracts() {
        let Ok(headers) = contract.sign(&Secret::new(secret(name)), "msg_1", BODY, NOW) else { continue };
        let verifier = verifier(name, &contract);
        let read = |lines: &[(String, String)]| {
            let lines: Vec<_> = lines.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
            verifier.verify(&lines, BODY, NOW).map(|verified| verified.read())
        };
        let genuine = read(&headers).unwrap();
        for header in contract.uncovered().iter().filter_map(|one| one.strip_prefix("header ")) {
            let mut lines = headers.clone();
            lines.retain(|(name, _)| !name.eq_ignore_ascii_case(header));
            lines.push((header.to_owned(), "forged".to_owned()));
            assert_eq!(read(&lines).unwrap(), genuine, "{name}: {header}");
            changed += 1;
        }
    }
    assert!(changed >= 15, "{changed} headers");
}

/// A contract whose signature does not prove the content asserts no fact at all, whatever the body says.
#[test]
fn weak_contracts_never_assert_a_fact() {
    let bodies: [&[u8]; 3] = [
        br#"{"id":1,"action":"created","sponsorship":{"node_id":"s"},"financial_status":"paid","total_price":"9.99","currency":"USD"}"#,
        br#"{"eventId":"e","eventDetails":{"classification":"payment","type":"refunded","transactionReference":"t","reference":"r"}}"#,
        b"id=tr_1&status=paid",
    ];
    let mut weak = 0;
    for (name, contract) in contracts().into_iter().filter(|(_, one)| one.refuses_truth_event().is_some()) {
        for body in bodies {
            let Delivery::Events(notices) = contract.read_sample(body) else { continue };
            for notice in notices {
                let facts = match notice.reading {
                    Reading::Facts(claims) => claims.facts.len(),
                    _ => 0,
                };
                assert_eq!(facts, 0, "{name}");
            }
        }
        weak += 1;
    }
    assert!(weak >= 9, "{weak} contracts");
}

/// K02: shapes of headers that no provider sends. The sender learns nothing from which of them it was.
#[test]
fn malformed_signatures_of_every_shape_are_refused() {
    let shapes = [
        "",
        " ",
        ",",
        "=",
        ";",
        "|",
        "/",
        "//",
        "&",
        ",,,,",
        "t=",
        "t=,v1=",
        "v1=",
        "ts=;h1=",
        "t=1,t=1,v1=aa",
        "sha256=",
        "sha256",
        "sha256=zz",
        "v1,",
        "v1,=",
        "v1,AAA",
        "v1,AAAA====",
        "aa",
        "a",
        "AA==",
        "A===",
        "\u{e9}",
        "t=99999999999999999999,v1=aa",
        "t=-1,v1=aa",
        "t=1e3,v1=aa",
        "key1/SHA256/",
        "key1/SHA256/zz",
        "t=1700000000,h=,v1=aa",
        "t=1700000000,h=x,v1=aa",
        "t=1700000000,h=x-a  x-b,v1=aa",
        "null",
        "{}",
    ];
    let mut refused = 0;
    for (name, contract) in contracts() {
        if !contract.needs_secret() {
            continue;
        }
        let verifier = verifier(name, &contract);
        let headers = contract.sign(&Secret::new(secret(name)), "msg_1", BODY, NOW).unwrap_or_default();
        let long = "a,".repeat(5_000);
        for shape in shapes.iter().copied().chain([long.as_str()]) {
            let mut lines: Lines =
                headers.iter().map(|(name, value)| (name.clone(), value.clone().into_bytes())).collect();
            match lines.first_mut() {
                Some((_, value)) => *value = shape.as_bytes().to_vec(),
                None => lines.extend(SIGNATURES.map(|name| (name.to_owned(), shape.as_bytes().to_vec()))),
            }
            assert!(!accepts(&verifier, &lines, BODY), "{name}: {shape:?}");
            let mut bytes = shape.as_bytes().to_vec();
            bytes.push(0xff);
            if let Some((_, value)) = lines.first_mut() {
                *value = bytes;
            }
            assert!(!accepts(&verifier, &lines, BODY), "{name}: {shape:?} and a byte that is no UTF-8");
            refused += 2;
        }
    }
    assert!(refused > 1_000, "{refused}");
}

/// The headers of the contracts that `sign` does not write.
const SIGNATURES: [&str; 5] = [
    "Event-Signature",
    "Klarna-Signature",
    "Klarna-Signing-Key-Id",
    "X-Hook0-Signature",
    "x-nowpayments-sig",
];
