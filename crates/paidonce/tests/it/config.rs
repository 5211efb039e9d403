//! `paidonce.toml`: what is refused, and how it is said.

use std::path::Path;

use paidonce::config::Config;

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
truth = "fetch"
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
        "shop/paidonce.toml:21: truth = \"fetch\" needs lookups, which come in a later version; write truth = \"event\" if the contract's signature covers the content",
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
    let said = check(&SOURCE.replace("secrets = [\"env:X\"]\n", ""));
    assert!(said.contains("no secret"), "{said}");
    let said = check(&SOURCE.replace("\"env:X\"", ""));
    assert!(said.contains("no secret"), "{said}");
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

#[test]
fn the_example_is_a_valid_configuration_and_states_the_defaults() {
    let example = Config::parse(Config::example(), Path::new("paidonce.toml")).unwrap();
    let uncommented: String = Config::example()
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(rest)
                if rest
                    .split_once(" = ")
                    .is_some_and(|(key, _)| key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')) =>
            {
                rest
            }
            _ => line,
        })
        .filter(|line| {
            !line.starts_with("private")
                && !line.starts_with("token_secrets")
                && !line.starts_with("conflict_status")
                && !line.starts_with("max_future_s")
        })
        .map(|line| format!("{line}\n"))
        .collect();
    let stated =
        Config::parse(&uncommented, Path::new("paidonce.toml")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(stated.show(), example.show());
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
