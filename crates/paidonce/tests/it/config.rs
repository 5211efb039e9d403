//! `paidonce.toml`: what is refused, and how it is said.

use std::path::Path;

use paidonce::config::Config;
use paidonce_contracts::Contract;

fn check(text: &str) -> String {
    match Config::parse(text, Path::new("shop/paidonce.toml")) {
        Ok(_) => "fine".to_owned(),
        Err(error) => error.to_string(),
    }
}

const SOURCE: &str = "[[source]]\nname = \"a\"\ncontract = \"stripe\"\naccount = \"m\"\nmode = \"test\"\nsecrets = [\"env:X\"]\n";

#[test]
fn every_mistake_is_told_with_its_line_and_what_to_write() {
    let text = r#"
[server]
pubic = "127.0.0.1:80"
body_max = "large"
header_timeout_s = 0

[store]
url = "postgre://user:canary-password@host/db"

[log]
format = "xml"

[polices]

[[source]]
name = "Shop One"
contract = "stripe"
account = "a/b"
mode = "real"
secrets = ["canary-literal-secret"]
truth = "fetched"
surprise = 1
"#;
    let said = check(text);
    let expected = [
        "shop/paidonce.toml:3: unknown key pubic in server; did you mean public?",
        "shop/paidonce.toml:4: server.body_max must be a whole number, not a TOML string",
        "shop/paidonce.toml:5: server.header_timeout_s must be between 1 and 3600",
        "shop/paidonce.toml:8: store.url: write \"sqlite:paidonce.db\", or postgres://, mysql://, s3://, gs://, az:// or nats:// and where it is, or \"memory:\" to keep nothing",
        "shop/paidonce.toml:11: log.format must be \"human\" or \"json\"",
        "shop/paidonce.toml:13: unknown key polices; did you mean policy?",
        "shop/paidonce.toml:16: source.name: write 1 to 64 of a-z, 0-9 and -",
        "shop/paidonce.toml:18: source.account: an account's name holds no /",
        "shop/paidonce.toml:19: source.mode: write \"live\" or \"test\", whichever the secret belongs to",
        "shop/paidonce.toml:20: secrets: a secret is never written into this file: put it into an environment variable or a file, and write \"env:NAME\" or \"file:PATH\" here",
        "shop/paidonce.toml:21: source.truth: write \"event\" (its events' facts count) or \"fetch\" (each event asks the provider)",
    ];
    for line in expected {
        assert!(said.lines().any(|said| said == line), "{line}\nis not in\n{said}");
    }
    assert!(said.contains("unknown key surprise in source"), "{said}");
    assert!(!said.contains("canary"), "{said}");
    assert_eq!(said.lines().count(), expected.len() + 1, "{said}");
}

#[test]
fn a_source_without_a_secret_does_not_start() {
    for text in [SOURCE.replace("secrets = [\"env:X\"]\n", ""), SOURCE.replace("\"env:X\"", "")] {
        let config = Config::parse(&text, Path::new("paidonce.toml")).unwrap();
        let said = config.sources().unwrap_err().to_string();
        assert!(said.starts_with("paidonce.toml:1: source a: the source has no secret"), "{said}");
    }
    let text = SOURCE.replace("env:X", "env:PAIDONCE_TEST_ABSENT");
    let config = Config::parse(&text, Path::new("paidonce.toml")).unwrap();
    let said = config.sources().unwrap_err().to_string();
    assert_eq!(said, "paidonce.toml:1: source a: the environment variable PAIDONCE_TEST_ABSENT is not set");
    assert_eq!(
        config.accounts().unwrap().get("a").unwrap().to_string(),
        "stripe/m/test",
        "which needs no secret"
    );
}

/// What cannot be believed is not believed by a setting either, and the message says why.
#[test]
fn every_contract_whose_signature_proves_little_refuses_to_be_the_truth() {
    let mut weak = 0;
    for name in Contract::names() {
        let Ok(contract) = Contract::builtin(name, None) else { continue };
        let text = SOURCE.replace("\"stripe\"", &format!("\"{name}\"")) + "truth = \"event\"\n";
        let read = Config::parse(&text, Path::new("paidonce.toml")).unwrap().readers();
        match contract.refuses_truth_event() {
            Some(why) => {
                let said = read.unwrap_err().to_string();
                assert!(said.contains(&format!("source a: truth = \"event\": {why}")), "{name}: {said}");
                weak += 1;
            }
            None => assert!(read.is_ok(), "{name}"),
        }
    }
    assert!(weak >= 8, "{weak} contracts");
}

/// An answer after which the provider gives up is no way to make it try again.
#[test]
fn answers_that_do_harm_are_refused_at_start() {
    let source = SOURCE.replace("\"stripe\"", "\"btcpay\"");
    for choice in ["unmatched = \"reject\"\n", "conflict_status = 409\n"] {
        let config = Config::parse(&format!("{source}{choice}"), Path::new("paidonce.toml")).unwrap();
        assert!(config.readers().unwrap_err().to_string().contains("this provider"), "{choice}");
    }
}

#[test]
fn secrets_come_from_files_and_empty_ones_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let sources = |secret: &[u8]| {
        std::fs::write(folder.path().join("s"), secret).unwrap();
        let text = SOURCE.replace("env:X", "file:s");
        Config::parse(&text, &folder.path().join("paidonce.toml")).unwrap().sources()
    };
    assert!(sources(b"whsec_abc\n").is_ok());
    for wrong in [&b""[..], b"\n", b"\xFF"] {
        assert!(sources(wrong).unwrap_err().to_string().contains("secret"), "{wrong:?}");
    }
}

#[test]
fn wrong_toml_is_told_with_its_line_and_without_its_text() {
    let said = check("[server]\npublic = canary-secret\n");
    assert!(said.starts_with("shop/paidonce.toml:2: this is no TOML"), "{said}");
    assert!(!said.contains("canary"), "{said}");
}

#[test]
fn contracts_and_names_are_checked() {
    let twice = format!("{SOURCE}{SOURCE}");
    assert!(check(&twice).contains("two sources of the name a"));
    let both = format!("{SOURCE}contract_file = \"x.toml\"\n");
    assert!(check(&both).contains("not both"));
    let unknown = SOURCE.replace("\"stripe\"", "\"strip\"");
    let config = Config::parse(&unknown, Path::new("paidonce.toml")).unwrap();
    assert!(config.accounts().unwrap_err().to_string().contains("stripe"));
    let status = format!("{SOURCE}conflict_status = 404\n");
    assert!(check(&status).contains("200 or 409"));
}

#[test]
fn what_is_shown_reads_back_to_the_same_and_shows_no_secret() {
    let text = format!("{SOURCE}unmatched = \"hold\"\n[source.overlay.signature]\nmax_future_s = 60\n");
    let config = Config::parse(&text, Path::new("paidonce.toml")).unwrap();
    let shown = config.show();
    let again =
        Config::parse(&shown, Path::new("paidonce.toml")).unwrap_or_else(|error| panic!("{error}\n{shown}"));
    assert_eq!(again.show(), shown);
    assert!(shown.contains("secrets = [\"env:X\"] # each is ***"), "{shown}");
    assert!(shown.contains("header_timeout_s = 5"), "defaults are shown: {shown}");
}

/// The settings of a commented text, those left out that have no default.
fn uncommented(text: &str, without: &[&str]) -> String {
    let plain = |key: &str| key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let setting = |line: &str| line.split_once(" = ").is_some_and(|(key, _)| plain(key));
    text.lines()
        .map(|line| {
            line.strip_prefix("# ").filter(|rest| setting(rest) || rest.starts_with("[[")).unwrap_or(line)
        })
        .filter(|line| !without.iter().any(|key| line.starts_with(key)))
        .map(|line| format!("{line}\n"))
        .collect()
}

#[test]
fn the_example_is_a_valid_configuration_and_states_the_defaults() {
    let parsed = |text: &str| {
        Config::parse(text, Path::new("paidonce.toml")).unwrap_or_else(|error| panic!("{error}\n{text}"))
    };
    let (settings, effect) = Config::example().split_once("# [[effect]]\n").unwrap();
    let stated = uncommented(
        settings,
        &["private", "token_secrets", "conflict_status", "max_future_s", "truth", "lookup_key"],
    );
    let example = parsed(Config::example());
    assert_eq!(parsed(&stated).show(), example.show());
    let none = ["sync", "status_url", "template", "authorization", "ca_file"];
    let stated = parsed(&format!("[[effect]]\n{}", uncommented(effect, &none))).show();
    let least = "[[effect]]\nname = \"shop\"\nkind = \"http\"\nurl = \"https://your-shop.example/paidonce\"\n\
                 secret = \"env:SHOP_SIGNING_SECRET\"\non = [\"entitlement_granted\", \"entitlement_revoked\"]\n";
    assert_eq!(stated, parsed(least).show());
    assert!(stated.contains("secret = \"env:SHOP_SIGNING_SECRET\" # is ***"), "{stated}");
    assert_eq!(parsed(&stated).show(), stated);
}

#[test]
fn every_mistake_in_an_effect_is_told_with_its_line_and_what_to_write() {
    let said = check(
        r#"
[workers]
lease_s = 5

[[effect]]
name = "Shop"
kind = "htp"
on = ["order_payed"]

[[effect]]
name = "shop"
kind = "http"
url = "http://user:canary@10.0.0.1/"
secret = "canary-literal"
on = ["order_paid"]
sync = true
key_window_s = 60
status_url = "https://shop.example/"
timeout_s = 20
surprise = 1

[[effect]]
name = "one"
kind = "http"
url = "https://shop.example/"
secret = "env:X"
on = ["order_paid"]

[[effect]]
name = "one"
kind = "http"
url = "https://shop.example/"
secret = "env:X"
timeout_s = 4
"#,
    );
    for line in [
        "6: effect.name: write 1 to 64 of a-z, 0-9, - and _",
        "7: effect.kind must be \"http\"",
        "8: effect.on knows order_paid, order_refunded",
        "5: an effect tells happenings or keeps a copy: write on = [\"order_paid\", …], or sync = true",
        "13: effect.url: write https: (http is for private networks, with allow_private = true)",
        "14: effect.secret: a secret is never written into this file",
        "10: an effect tells happenings or keeps a copy",
        "10: effect.key_window_s must be 0, if the receiver has no keys, or at least 120",
        "18: effect.status_url: write {key} where the key belongs",
        "20: unknown key surprise in effect",
        "22: effect.timeout_s must be at most 4: a call is over before its lease is (workers.lease_s)",
        "29: there are two effects of the name one",
        "29: an effect tells happenings or keeps a copy",
    ] {
        assert!(said.lines().any(|said| said.contains(&format!(":{line}"))), "{line}\nis not in\n{said}");
    }
    assert!(!said.contains("canary"), "{said}");
}

#[test]
fn what_may_be_believed_is_checked_against_the_contract() {
    let source = |contract: &str, more: &str| {
        let text = format!("{}{more}\n", SOURCE.replace("\"stripe\"", &format!("\"{contract}\"")));
        let config = Config::parse(&text, Path::new("paidonce.toml")).unwrap();
        config.accounts().map_or_else(|error| error.to_string(), |_| "fine".to_owned())
    };
    for (contract, more, said) in [
        ("stripe", "", "fine"),
        ("stripe", "truth = \"event\"", "fine"),
        ("stripe", "lookup_key = \"env:K\"", "fine"),
        ("stripe", "truth = \"fetch\"\nlookup_key = \"env:K\"", "fine"),
        ("stripe", "truth = \"fetch\"", "write lookup_key = \"env:NAME\""),
        ("paypal", "lookup_key = \"env:K\"", "fine"),
        ("paypal", "", "write lookup_key = \"env:NAME\""),
        ("paypal", "truth = \"event\"\nlookup_key = \"env:K\"", "truth = \"event\": "),
        ("mollie", "", "the contract does not say how"),
        ("generic-hmac", "lookup_key = \"env:K\"", "lookup_key is of no use"),
    ] {
        let found = source(contract, more);
        assert!(found.contains(said), "{contract} {more}: {found}");
    }
}

#[test]
fn bodies_are_kept_for_days_or_for_ever() {
    let retention = |days: &str| {
        let text = format!("[policy]\nbody_retention_days = {days}\n");
        let config = Config::parse(&text, Path::new("paidonce.toml")).map_err(|error| error.to_string())?;
        assert!(config.show().contains(&text["[policy]\n".len()..]), "{}", config.show());
        Ok(config.policy().body_retention_ms)
    };
    assert_eq!(retention("0"), Ok(None));
    assert_eq!(retention("90"), Ok(Some(90 * 86_400_000)));
    let said: Result<_, String> = retention("36501");
    assert!(said.unwrap_err().contains("policy.body_retention_days must be between 0 and 36500"));
}

#[test]
fn a_taken_port_and_a_foreign_file_are_said_plainly() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let start = |text: &str, folder: &Path| {
        let config = Config::parse(text, &folder.join("paidonce.toml")).unwrap();
        match runtime.block_on(paidonce::serve::Server::start(&config)) {
            Ok(_) => panic!("it started"),
            Err(error) => error.to_string(),
        }
    };
    let folder = tempfile::tempdir().unwrap();
    let said = start(&format!("[server]\npublic = \"{address}\"\n[store]\nurl = \"memory:\""), folder.path());
    assert!(said.contains(&address.to_string()) && said.contains("another process"), "{said}");
    std::fs::write(folder.path().join("paidonce.db"), vec![7; 9_000]).unwrap();
    let said = start("[server]\npublic = \"127.0.0.1:0\"", folder.path());
    assert!(said.contains("paidonce.db"), "{said}");
}
