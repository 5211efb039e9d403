//! `[[effect]]` of mailers and brokers: what is refused, when, and how it is said.

use std::path::Path;

use paidonce::config::Config;

const MAIL: &str =
    "from = \"Shop <shop@example.com>\"\nsubject = \"Order {{ order.id }}\"\ntext = \"mail.txt\"\n";

fn effect(kind: &str, rest: &str) -> String {
    format!("[[effect]]\nname = \"e\"\nkind = \"{kind}\"\non = [\"order_paid\"]\n{rest}")
}

/// What is said of a file, and of what it becomes, in a folder with templates.
fn check(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mail.txt"), "Thank you for {{ order.id }}").unwrap();
    std::fs::write(folder.path().join("wrong.txt"), "Hello\n{{ order.nam }}").unwrap();
    std::fs::write(folder.path().join("secret"), "correct-horse").unwrap();
    std::fs::write(folder.path().join("lines"), "correct\nhorse").unwrap();
    std::fs::write(folder.path().join("no.pem"), "no certificate").unwrap();
    let said = match Config::parse(text, &folder.path().join("paidonce.toml")) {
        Ok(config) => {
            config.ready_effects().map(|_| "fine".to_owned()).unwrap_or_else(|error| error.to_string())
        }
        Err(error) => error.to_string(),
    };
    assert!(!said.contains("horse"), "P14: {said}");
    said
}

#[test]
fn what_is_right_is_taken_and_shown_with_its_defaults() {
    let mail = |rest: &str| format!("{MAIL}{rest}");
    for (text, shown) in [
        (effect("smtp", MAIL), &["port = 587", "tls = \"starttls\"", "key_window_s = 0"][..]),
        (effect("smtp", &mail("host = \"mail.example.com\"\ntls = \"tls\"\n")), &["port = 465"]),
        (effect("smtp", &mail("host = \"localhost\"\ntls = \"none\"\n")), &["port = 25"]),
        (
            effect(
                "smtp",
                &mail("host = \"m\"\nuser = \"shop\"\npassword = \"file:secret\"\nkey_window_s = 600\n"),
            ),
            &["user = \"shop\"", "secret\" # is ***", "key_window_s = 600"],
        ),
        (effect("resend", MAIL), &["key_window_s = 86400", "to_customer = true"]),
        (effect("resend", &mail("api_key = \"file:secret\"\n")), &["secret\" # is ***"]),
        (
            effect("nats", ""),
            &["port = 4222", "tls = \"tls\"", "subject = \"paidonce.{{ happening }}\"", "key_window_s = 120"],
        ),
        (effect("nats", "host = \"n\"\ntls = \"none\"\ntoken = \"file:secret\"\n"), &["secret\" # is ***"]),
        (effect("rabbitmq", ""), &["port = 5671", "vhost = \"/\"", "exchange = \"\"", "key_window_s = 0"]),
        (
            effect(
                "rabbitmq",
                "host = \"r\"\ntls = \"none\"\nuser = \"shop\"\npassword = \"file:secret\"\nexchange = \"orders\"\n",
            ),
            &["port = 5672", "exchange = \"orders\""],
        ),
    ] {
        assert_eq!(check(&text), "fine", "{text}");
        let config = Config::parse(&text, Path::new("paidonce.toml")).unwrap();
        let said = config.show();
        for line in shown {
            assert!(said.contains(line), "{line}\nis not in\n{said}");
        }
        let again = Config::parse(&said, Path::new("paidonce.toml"))
            .unwrap_or_else(|error| panic!("{error}\n{said}"));
        assert_eq!(again.show(), said, "what is shown reads back to the same");
    }
}

#[test]
fn every_mistake_is_told_before_the_first_message() {
    let mail = |rest: &str| format!("{MAIL}{rest}");
    for (text, expected) in [
        (effect("mail", ""), "effect.kind must be \"http\", \"smtp\", \"resend\", \"nats\" or \"rabbitmq\""),
        (effect("smtp", ""), "effect.from is missing"),
        (effect("smtp", ""), "effect.subject is missing"),
        (effect("smtp", ""), "effect.text is missing"),
        (
            effect("smtp", &MAIL.replace("Shop <shop@example.com>", "shop")),
            "effect.from: write an e-mail address",
        ),
        (
            effect("smtp", &mail("to = \"a@example.com, b@example.com\"\n")),
            "effect.to: write an e-mail address",
        ),
        (effect("smtp", &mail("to_customer = false\n")), "nobody gets these mails"),
        (effect("smtp", &mail("tls = \"ssl\"\n")), "effect.tls must be \"starttls\" or \"tls\" or \"none\""),
        (effect("smtp", &mail("port = 70000\n")), "effect.port must be between 1 and 65535"),
        (effect("smtp", &mail("user = \"shop\"\n")), "effect.user and effect.password belong together"),
        (
            effect("smtp", &mail("tls = \"none\"\nuser = \"shop\"\npassword = \"file:secret\"\n")),
            "a password is not sent without TLS",
        ),
        (effect("smtp", &mail("password = \"correct-horse\"\n")), "a secret is never written into this file"),
        (
            effect("smtp", &mail("passwort = \"m\"\n")),
            "unknown key passwort in effect; did you mean password?",
        ),
        (effect("smtp", &mail("host = \"m\"\nca_file = \"no.pem\"\n")), "no.pem holds no certificate in PEM"),
        (effect("nats", "ca_file = \"no.pem\"\n"), "no.pem holds no certificate in PEM"),
        (effect("rabbitmq", "ca_file = \"absent.pem\"\n"), "absent.pem cannot be read"),
        (effect("smtp", &MAIL.replace("mail.txt", "absent.txt")), "absent.txt: cannot be read"),
        (effect("smtp", &MAIL.replace("mail.txt", "wrong.txt")), "wrong.txt:2: undefined value"),
        (effect("smtp", &MAIL.replace("order.id", "order.idd")), "subject:1: undefined value"),
        (effect("smtp", &MAIL.replace("Order {{ order.id }}", " ")), "the subject is empty"),
        (
            effect("resend", &mail("api_key = \"re_correct-horse\"\n")),
            "a secret is never written into this file",
        ),
        (effect("resend", &mail("api_key = \"file:lines\"\n")), "the API key is no header's value"),
        (
            effect("resend", &mail("key_window_s = 90000\n")),
            "effect.key_window_s must be between 0 and 86400",
        ),
        (effect("resend", &mail("host = \"m\"\n")), "unknown key host in effect"),
        (effect("nats", "subject = \"orders.>\"\n"), "subject: \"orders.>\" is no address"),
        (effect("nats", "subject = \"{{ order.id \"\n"), "subject:1: syntax error"),
        (effect("nats", "subject = \"{{ case.handle }}\"\n"), "subject:1: undefined value"),
        (
            effect("nats", "user = \"a\"\npassword = \"file:secret\"\ntoken = \"file:secret\"\n"),
            "effect.user and effect.password, or effect.token, not both",
        ),
        (effect("nats", "key_window_s = 60\n"), "effect.key_window_s must be 0, if the receiver has no keys"),
        (effect("rabbitmq", "host = \"r\"\n"), "effect.user is missing"),
        (
            effect("rabbitmq", "password = \"file:secret\"\n"),
            "effect.user and effect.password belong together",
        ),
        (effect("rabbitmq", "routing_key = \"a b\"\n"), "routing_key: \"a b\" is no address"),
        (
            effect("rabbitmq", &format!("exchange = \"{}\"\n", "x".repeat(256))),
            "a name has at most 255 bytes",
        ),
    ] {
        let said = check(&text);
        assert!(said.contains(expected), "{text}\n{expected}\nis not in\n{said}");
    }
}
