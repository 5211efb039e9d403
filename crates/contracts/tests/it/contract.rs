//! Contract files: what is refused, on which line, and what the message says to write.

use std::path::Path;

use paidonce_contracts::{Certainty, Contract, Secret, Strength, Verifier};

use crate::support::contract;

const MINIMAL: &str = "\
format = 1
provider = 'acme'
title = 'Acme'
[signature]
header = 'X-Acme'
signed = ['{body}']
mac = 'hmac-sha256'
key = 'utf8'
encoding = 'hex'
[read]
id = 'id'
type = 'type'
payment = 'pay.id'
[money]
shape = 'minor'
currency = 'pay.currency'
[[event]]
type = 'paid'
facts = [{ kind = 'captured', state = 'settled', amount = 'pay.amount' }]
";

/// The message for the minimal contract with one line replaced; the line it names.
fn error(from: &str, to: &str) -> String {
    assert!(MINIMAL.contains(from), "{from}");
    Contract::parse(&MINIMAL.replace(from, to), "acme.toml", None).unwrap_err().to_string()
}

fn check(from: &str, to: &str, line: usize, says: &str) {
    let message = error(from, to);
    assert!(message.starts_with(&format!("acme.toml:{line}: ")), "{message}");
    assert!(message.contains(says), "{message}");
}

#[test]
fn the_minimal_contract_is_one() {
    let contract = Contract::parse(MINIMAL, "acme.toml", None).unwrap();
    assert_eq!(contract.provider().as_str(), "acme");
    assert_eq!(contract.event_types().collect::<Vec<_>>(), ["paid"]);
    assert_eq!(contract.acknowledgement().status, 200);
    assert_eq!(contract.acknowledgement().conflict_status, 200);
}

#[test]
fn words_that_the_format_does_not_have_are_refused_where_they_stand() {
    check("mac = 'hmac-sha256'", "mac = 'md5'", 7, "expected one of `hmac-sha1`, `hmac-sha256`");
    check("encoding = 'hex'", "form_field = 'sig'", 9, "unknown field `form_field`");
    check("key = 'utf8'", "key = 'sha1(utf8)'", 8, "`utf8`, `sha1`, `base64`, `hex`");
    check("id = 'id'", "id = { headers = 'x' }", 11, "unknown field `headers`");
    check("kind = 'captured'", "kind = 'paid'", 19, "unknown variant `paid`");
    check("type = 'type'", "syntax = 'yaml'", 12, "unknown variant `yaml`");
    check("title = 'Acme'", "title = 'Acme'\ntruth = 'hearsay'", 4, "unknown variant `hearsay`");
    check("format = 1", "format = 2", 1, "this program reads format = 1");
    check("provider = 'acme'", "provider = 'Acme'", 2, "lower-case letters");
}

#[test]
fn signatures_that_prove_nothing_are_refused() {
    check("signed = ['{body}']", "signed = ['{header:x}']", 6, "{body} has to be signed");
    check("signed = ['{body}']", "signed = ['{timestamp}', '{body}']", 6, "where the timestamp stands");
    check(
        "signed = ['{body}']",
        "signed = ['{body}']\ntimestamp = { header = 'x' }",
        6,
        "the timestamp is not signed",
    );
    check("signed = ['{body}']", "signed = ['{url}', '{body}']", 6, "a part is {body}");
    check("signed = ['{body}']", "signed = ['{body}']\nmax_age_s = 300", 7, "only a signed timestamp");
    check("id = 'id'", "id = { header = 'X-Event-Id' }", 11, "not signed");
    check("signed = ['{body}']", "signed = ['{value:url}', '{body}']", 6, "signature.values = { url =");
    check("signed = ['{body}']", "signed = ['{member:id}', '{body}']", 6, "only where the signature is one");
    check("header = 'X-Acme'", "header = 'X-Acme'\nmember = 'sig'", 4, "state one of: header, member");
    check("header = 'X-Acme'", "member = 'sig'", 6, "members ({member:path})");
    check("header = 'X-Acme'", "code = 'paypal'", 5, "the code says all");
    check("mac = 'hmac-sha256'", "mac = 'static'", 9, "\"text\" is for");
    check("type = 'type'", "type = { header = 'X-Type' }", 12, "may be absent");
    check("title = 'Acme'", "title = 'Acme'\nstrength = { level = 'partial' }", 4, "say why");
    check(
        "signed = ['{body}']",
        "signed = ['{body}']\nheader_list = { key = 'h', separator = ' ', join = '.' }",
        6,
        "signs nothing",
    );
    check("header = 'X-Acme'", "header = 'X Acme'", 5, "a header's name");
    check("key = 'utf8'", "key = { encoding = 'utf8', prefix = 'x_' }", 8, "the whole text");
    check("encoding = 'hex'", "encoding = 'hex'\nitem_separator = ','", 10, "only a list");
    check("mac = 'hmac-sha256'", "mac = 'ed25519'", 8, "ed25519 public key");
    let list =
        "grammar = 'list'\nitem_separator = ','\nkey_separator = '='\nversions.v1 = { mac = 'hmac-sha256' }";
    check("mac = 'hmac-sha256'", list, 11, "belongs to a version");
}

#[test]
fn facts_that_cannot_be_read_are_refused() {
    check("amount = 'pay.amount'", "amount = 'pay..amount'", 19, "single dots");
    check("amount = 'pay.amount'", "amount = '.amount'", 19, "only a fact with `each`");
    check("state = 'settled'", "state = 'paid'", 19, "none of: pending, settled, reversed");
    check("state = 'settled', ", "", 19, "state one of");
    check("kind = 'captured', state = 'settled'", "kind = 'refunded', state = 'pending'", 19, "has its own");
    check("shape = 'minor'\n", "", 18, "shape = \"minor\"");
    check("currency = 'pay.currency'\n", "", 18, "currency = ");
    check("payment = 'pay.id'\n", "", 16, "state payment");
    check("type = 'paid'\n", "type = 'paid'\nwhen = { pay.status = 'x' }\n", 19, "a path stands in quotes");
    check("[[event]]", "[[event]]\ntype = 'paid'\nignore = true\n[[event]]", 20, "never reached");
    check("currency = 'pay.currency'", "currency = 'pay.currency'\nexponents = { QQQ = 2 }", 17, "QQQ");
    check("currency = 'pay.currency'", "currency = 'pay.currency'\nnetwork = 'n'", 14, "all three or none");
}

#[test]
fn a_mistake_of_the_source_is_said_to_be_the_sources() {
    let overlay = |text: &str| {
        Contract::parse(MINIMAL, "acme.toml", Some(&text.parse().unwrap())).unwrap_err().to_string()
    };
    for (text, says) in [
        ("[signature]\nmac = 'md5'", "unknown variant `md5`"),
        ("[signature]\nmacs = 'md5'", "unknown field `macs`"),
        ("[signature]\nsigned = ['x']", "signature.signed: {body} has to be signed"),
        (
            "[[event]]\ntype = 'paid'\nfacts = [{ kind = 'captured' }]",
            "event[0].facts[0].state: state one of",
        ),
    ] {
        let message = overlay(text);
        assert!(message.starts_with("the source's own settings for the contract acme.toml: "), "{message}");
        assert!(message.contains(says), "{message}");
    }
}

#[test]
fn lines_survive_an_overlay_that_moves_the_events() {
    let broken = MINIMAL.replace("[[event]]", "[[event]]\ntype = 'old'\nignore = true\n[[event]]");
    let broken = broken.replace("state = 'settled'", "state = 'paid'");
    let overlay = "[[event]]\ntype = 'old'\nignore = true".parse().unwrap();
    let message = Contract::parse(&broken, "acme.toml", Some(&overlay)).unwrap_err().to_string();
    assert!(message.starts_with("acme.toml:22: event[0].facts[0].state"), "{message}");
}

#[test]
fn shipped_contracts_say_how_well_they_are_known() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("contracts");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    files.sort();
    assert_eq!(Contract::names().collect::<Vec<_>>(), files, "every file is shipped, in order");
    let stripe = Contract::builtin("stripe", None).unwrap();
    assert_eq!(stripe.certainty()["signature"], Certainty::Verified);
    assert_eq!(stripe.redelivery_window_h(), Some(72));
    assert!(!stripe.docs().is_empty() && stripe.title().starts_with("Stripe"));
    assert!(Contract::builtin("stripes", None).unwrap_err().to_string().contains("generic-hmac"));
    assert!(Contract::builtin_text("generic-hmac").unwrap().contains("[signature]"));
}

/// No source may believe an event that its signature does not prove, and the reason can be read.
#[test]
fn weak_contracts_refuse_to_be_believed_and_say_why() {
    let reason = |name: &str, overlay: &str| {
        let contract = Contract::builtin(name, Some(&overlay.parse().unwrap())).unwrap();
        (contract.strength(), contract.refuses_truth_event().unwrap_or_default().to_owned())
    };
    assert_eq!(reason("stripe", ""), (Strength::Full, String::new()));
    let topic = "signature.values.topic = 'orders/paid'";
    for (name, overlay, strength, says) in [
        ("mollie-classic", "", Strength::HintOnly, "nothing is signed"),
        ("flutterwave-v3", "", Strength::HintOnly, "a password and no signature"),
        ("opennode", "", Strength::HintOnly, "not its status"),
        ("shopify", topic, Strength::Partial, "not signed"),
        ("worldpay", "", Strength::Partial, "not known for certain"),
        ("stripe-thin", "", Strength::Partial, "not how"),
    ] {
        let (level, why) = reason(name, overlay);
        assert_eq!(level, strength, "{name}");
        assert!(why.contains(says), "{name}: {why}");
    }
    let overlay: toml::Table = "strength = { level = 'full' }".parse().unwrap();
    let error = Contract::builtin("mollie-classic", Some(&overlay)).unwrap_err().to_string();
    assert!(error.contains("no more than hint-only: nothing is signed"), "{error}");
}

/// What paidonce answers: `conflict_status = 409` is the contract's or the source's choice.
#[test]
fn acknowledgements_are_successes_but_for_a_conflict() {
    let overlay = |text: &str| Contract::parse(MINIMAL, "acme.toml", Some(&text.parse().unwrap()));
    let contract = overlay("[acknowledge]\nbody = '[accepted]'\nconflict_status = 409").unwrap();
    let answer = contract.acknowledgement();
    assert_eq!((answer.status, &*answer.body, answer.conflict_status), (200, "[accepted]", 409));
    assert!(overlay("[acknowledge]\nstatus = 410").is_err());
    assert!(overlay("[acknowledge]\nconflict_status = 500").is_err());
}

/// A type that the source has to state: the contract is whole without it, a source is not.
#[test]
fn a_source_that_does_not_state_its_type_does_not_verify() {
    let secrets = [Secret::new("secret")];
    let shopify = Contract::builtin("shopify", None).unwrap();
    let refused = Verifier::new(&shopify, &secrets).unwrap_err().to_string();
    assert_eq!(refused, "signature.values.topic is not stated; the source has to state it");
    let stated = contract("shopify", "signature.values.topic = 'orders/paid'");
    assert!(Verifier::new(&stated, &secrets).is_ok());
}

/// A contract without a page to read it against cannot be judged by anybody. What is not public says who told.
#[test]
fn every_contract_says_where_its_facts_can_be_read_and_how_well_they_are_known() {
    for name in Contract::names() {
        let text: toml::Table = Contract::builtin_text(name).unwrap().parse().unwrap();
        let docs = text.get("docs").and_then(toml::Value::as_array).map(Vec::as_slice).unwrap_or_default();
        // Of these two no page is public: whoever uses them brings what the provider told him.
        assert_eq!(docs.is_empty(), ["stablein", "stbl-pay"].contains(&name), "{name}");
        for page in docs {
            assert!(page.as_str().unwrap().starts_with("https://"), "{name}: {page}");
        }
        // The one that is no provider's has nothing to be certain of.
        if name != "generic-hmac" {
            let certainty = text["certainty"].as_table().unwrap();
            assert!(certainty.contains_key("signature") && certainty.len() > 1, "{name}");
        }
    }
}

/// Every provider of the survey that this project began with has a contract.
#[test]
fn every_provider_that_was_surveyed_has_a_contract() {
    let surveyed = "stripe stripe-thin paypal adyen adyen-platform square braintree checkout mollie mollie-classic paddle \
        lemonsqueezy razorpay gocardless coinbase-commerce coinbase-cdp btcpay opennode nowpayments standard-webhooks svix \
        clerk polar paystack flutterwave flutterwave-v3 shopify github-sponsors worldpay klarna stablein stbl-pay";
    let names: Vec<&str> = Contract::names().collect();
    for provider in surveyed.split_whitespace() {
        assert!(names.contains(&provider), "{provider}");
    }
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    for entry in std::fs::read_dir(fixtures).unwrap() {
        let folder = entry.unwrap().file_name();
        assert!(names.contains(&folder.to_str().unwrap()), "{folder:?}");
    }
}
