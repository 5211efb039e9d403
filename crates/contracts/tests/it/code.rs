//! Providers whose signature is code: every vector through the shared runner, and what the samples read to.

use std::collections::BTreeMap;
use std::path::Path;

use paidonce_contracts::vectors::{self, Bench};
use paidonce_contracts::{Contract, Delivery};

use crate::support::show;

pub(crate) fn fixtures(provider: &str) -> (Vec<vectors::Vector>, BTreeMap<String, Vec<u8>>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(provider);
    let mut pems = BTreeMap::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "pem") {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            pems.insert(name, std::fs::read(path).unwrap());
        }
    }
    let text = std::fs::read_to_string(folder.join("vectors.json")).unwrap();
    (vectors::parse(&text).unwrap(), pems)
}

/// Runs all; `id reason` of those that are refused.
fn refused(provider: &str, count: usize) -> Vec<String> {
    let (all, pems) = fixtures(provider);
    assert_eq!(all.len(), count);
    let contract = |settings: &toml::Table| Contract::builtin(provider, Some(settings));
    let bench = Bench { contract: &contract, certificates: &pems };
    let mut refused = Vec::new();
    for vector in &all {
        let outcome = vector.run(&bench).unwrap();
        assert!(outcome.as_expected, "{}: {} ({})", vector.id, outcome.reason, vector.description);
        if !outcome.valid {
            refused.push(format!("{} {}", vector.id, outcome.reason));
            if let Some(reason) = &vector.reason {
                assert_eq!(*reason, outcome.reason, "{}", vector.id);
            }
        }
    }
    refused
}

#[test]
fn braintree() {
    assert_eq!(refused("braintree", 10).len(), 5);
}

#[test]
fn nowpayments() {
    assert_eq!(refused("nowpayments", 4).len(), 2);
}

#[test]
fn paypal() {
    assert_eq!(refused("paypal", 8).len(), 4);
}

/// The notice of a genuine vector, as text.
fn read(provider: &str, id: &str) -> String {
    let (all, pems) = fixtures(provider);
    let contract = |settings: &toml::Table| Contract::builtin(provider, Some(settings));
    let bench = Bench { contract: &contract, certificates: &pems };
    let vector = all.iter().find(|vector| vector.id == id).unwrap();
    let verified = vector.read(&bench).unwrap();
    match verified {
        Delivery::Events(notices) => {
            let shown: Vec<String> = notices.iter().map(show).collect();
            let text = shown.join("\n");
            // The digest of the payload is as good as any other; what follows it is what matters.
            text.split_once(' ').unwrap().1.to_owned()
        }
        Delivery::Test => "test".to_owned(),
    }
}

#[test]
fn what_braintree_says() {
    assert_eq!(read("braintree", "braintree-01"), "check\nignored");
    let settled = "transaction_settled\npayment my_txn\ncaptured my_txn Settled 100.00 USD";
    assert_eq!(read("braintree", "braintree-02"), settled);
    let opened = "dispute_opened\npayment my_disp\ndisputed my_disp stage 1 Open 100.00 USD";
    assert_eq!(read("braintree", "braintree-03"), opened);
}

#[test]
fn what_nowpayments_says() {
    let finished = "finished\npayment 4944856\nreference 6084744717\nhint RGDBP-21314\n\
                    captured 4944856 Settled 50.00 USD";
    assert_eq!(read("nowpayments", "nowpayments-01"), finished);
    // Other bytes, the same members: the same event with the same content.
    assert_eq!(read("nowpayments", "nowpayments-02"), finished);
}

/// paypal-08: a forged body under a genuine signature. It can make us ask, and asserts nothing.
#[test]
fn a_body_padded_to_the_same_crc_moves_nothing() {
    let forged = read("paypal", "paypal-08");
    assert!(forged.contains("\npayment "), "{forged}");
    assert!(!forged.contains("captured"), "{forged}");
    let settings: toml::Table = "truth = 'event'".parse().unwrap();
    let error = Contract::builtin("paypal", Some(&settings)).unwrap_err().to_string();
    assert!(error.contains("does not protect the content"), "{error}");
}

#[test]
fn without_its_certificate_paypal_names_what_to_fetch() {
    let (all, pems) = fixtures("paypal");
    let contract = |settings: &toml::Table| Contract::builtin("paypal", Some(settings));
    let verifier = all[0].verifier(&Bench { contract: &contract, certificates: &pems }).unwrap();
    let refused = verifier.verify(&all[0].headers(), all[0].body(), all[0].now_unix_s()).unwrap_err();
    assert_eq!(refused.reason(), "needs_certificate");
    let url = verifier.certificate_url(&all[0].headers()).unwrap().unwrap();
    assert!(url.starts_with("https://api.sandbox.paypal.com/v1/notifications/certs/CERT-"));
    let foreign = all.iter().find(|vector| vector.id == "paypal-06").unwrap();
    assert_eq!(verifier.certificate_url(&foreign.headers()).unwrap_err().reason(), "cert_url_not_allowed");
}
