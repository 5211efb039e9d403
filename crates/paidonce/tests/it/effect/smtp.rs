//! E-mail by SMTP: what each reply, and each silence, means for the task.

use paidonce::effect::letter::LetterSettings;
use paidonce::effect::login::Login;
use paidonce::effect::smtp::{Smtp, SmtpServer, SmtpSettings, SmtpTls};
use paidonce::effect::template::{Template, Writes};
use paidonce_contracts::Secret;
use paidonce_engine::Destination;
use paidonce_ledger::{Happening, Outcome};

use super::news::{about, paid};
use super::sink::{Act, Protects, Sink};
use super::{PATIENT, SHORT, is_retry, said, send, send_within, sending};

const CUSTOMER: &str = "ada@example.org";

pub(super) fn letter(text: &str, html: Option<&str>) -> LetterSettings {
    let parse = |source: &str, writes| Template::parse("t", source.to_owned(), writes).unwrap();
    LetterSettings {
        from: "The Shop <shop@example.com>".parse().unwrap(),
        reply_to: Some("desk@example.com".parse().unwrap()),
        to: None,
        to_customer: true,
        subject: parse("Order {{ order.id }}: {{ order.total.amount }} {{ order.total.unit }}", Writes::Text),
        text: parse(text, Writes::Text),
        html: html.map(|html| parse(html, Writes::Html)),
    }
}

fn server(port: u16, tls: SmtpTls) -> SmtpServer {
    SmtpServer { host: "localhost".to_owned(), port, tls, login: None, ca_file: None }
}

fn smtp(server: SmtpServer) -> Smtp {
    let letter = letter("Thank you.\n.\n..\n", Some("<p>{{ order.items[0].sku }}</p>"));
    Smtp::new(SmtpSettings { server: Some(server), letter }).unwrap()
}

#[test]
fn p11_a_mail_is_made_once_and_sent_byte_for_byte_at_every_try() {
    let sink = Sink::start(Protects::Never, None);
    let smtp = smtp(server(sink.port, SmtpTls::None));
    let news = paid("order-1", Some(CUSTOMER));
    assert_eq!(smtp.render(&news).unwrap(), smtp.render(&news).unwrap(), "nothing in it is random");
    let sending = sending(&smtp, &news);
    for _ in 0..2 {
        let answer = send_within(&smtp, &sending, PATIENT);
        assert_eq!(answer.outcome, Outcome::Done, "{}", said(&answer));
    }
    let taken = sink.taken();
    assert_eq!(taken.len(), 2);
    assert_eq!(taken[0], taken[1]);
    assert_eq!(taken[0].envelope, ["MAIL FROM:<shop@example.com>", "RCPT TO:<ada@example.org>"]);
    let mail = &taken[0].mail;
    for line in [
        "From: \"The Shop\" <shop@example.com>",
        "To: ada@example.org",
        "Reply-To: desk@example.com",
        "Subject: Order order-1: 19.90 EUR",
        "Date: Sun, 01 Mar 2026 12:00:00 +0000",
        &format!("Message-ID: <{}@example.com>", news.key),
        &format!("Paidonce-Key: {}", news.key),
        "Paidonce-Revision: 3",
        "Auto-Submitted: auto-generated",
        "<p>ebook &lt;1&gt;</p>",
        "Thank you.",
        ".",
        "..",
    ] {
        assert!(mail.lines().any(|found| found == line), "{line}\nis not in\n{mail}");
    }
    assert!(mail.contains("Content-Type: multipart/alternative;"), "{mail}");
}

#[test]
fn each_reply_and_each_silence_has_its_outcome() {
    for (step, act, outcome, left) in [
        ("CONNECT", Act::Say("554 not now"), "retry", false),
        ("CONNECT", Act::Die, "retry", false),
        ("EHLO", Act::Say("421 too busy"), "retry", false),
        ("MAIL", Act::Say("451 4.3.0 later"), "retry", false),
        ("MAIL", Act::Say("550 5.7.1 never you"), "refused", false),
        ("MAIL", Act::Die, "retry", false),
        ("RCPT", Act::Say("450 4.2.0 greylisted"), "retry", false),
        ("RCPT", Act::Say("550 5.1.1 nobody of that name"), "refused", false),
        ("RCPT", Act::Die, "retry", false),
        ("DATA", Act::Say("451 4.3.0 later"), "retry", false),
        ("DATA", Act::Say("554 5.7.1 no"), "refused", false),
        ("DATA", Act::Die, "retry", false),
        ("CONTENT", Act::DieInside, "uncertain", true),
        (".", Act::Say("451 4.3.0 no room"), "retry", true),
        (".", Act::Say("554 5.6.0 no such mail"), "refused", true),
        (".", Act::Say("what?"), "uncertain", true),
        (".", Act::Die, "uncertain", true),
        (".", Act::TakeAndDie, "uncertain", true),
        ("QUIT", Act::Die, "done", true),
    ] {
        let sink = Sink::start(Protects::Never, Some((step, act)));
        let answer = send(&smtp(server(sink.port, SmtpTls::None)), &paid("order-1", Some(CUSTOMER)));
        assert_eq!(answer.outcome.as_str(), outcome, "{step} {act:?}: {}", said(&answer));
        assert!(!answer.detail.is_empty() && !answer.detail.contains(CUSTOMER), "{}", said(&answer));
        let began = sink.verbs().contains(&"DATA".to_owned()) && !matches!((step, act), ("DATA", _));
        assert_eq!(began, left, "{step} {act:?}: whether the mail itself left");
    }
}

#[test]
fn a_server_that_never_answers_is_a_retry_before_the_mail_and_uncertain_after_it() {
    for (step, outcome) in [("CONNECT", "retry"), ("MAIL", "retry"), ("DATA", "retry"), (".", "uncertain")] {
        let sink = Sink::start(Protects::Never, Some((step, Act::Hang)));
        let smtp = smtp(server(sink.port, SmtpTls::None));
        let sending = sending(&smtp, &paid("order-1", Some(CUSTOMER)));
        let answer = send_within(&smtp, &sending, SHORT);
        assert_eq!(answer.outcome.as_str(), outcome, "{step}: {}", said(&answer));
    }
}

#[test]
fn where_nobody_listens_nothing_has_left() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let nobody = server(free, SmtpTls::None);
    let unknown = SmtpServer { host: "mail.invalid".to_owned(), ..nobody.clone() };
    for server in [nobody, unknown] {
        let answer = send(&smtp(server), &paid("order-1", Some(CUSTOMER)));
        assert!(is_retry(&answer) && answer.detail.starts_with("no connection"), "{}", said(&answer));
    }
}

#[test]
fn without_tls_nothing_is_said_to_a_server_that_should_have_it() {
    // Not offered; offered with a certificate that nobody vouches for, either way.
    for (protects, tls) in [
        (Protects::Never, SmtpTls::StartTls),
        (Protects::Upgrades, SmtpTls::StartTls),
        (Protects::FromTheStart, SmtpTls::Tls),
    ] {
        let sink = Sink::start(protects, None);
        let answer = send(&smtp(server(sink.port, tls)), &paid("order-1", Some(CUSTOMER)));
        assert!(is_retry(&answer), "{}", said(&answer));
        assert!(!sink.verbs().contains(&"MAIL".to_owned()), "{:?}", sink.verbs());
    }
}

#[test]
fn p14_over_tls_it_logs_in_and_the_password_is_nowhere_else() {
    let login = || Some(Login { user: "shop".to_owned(), password: Secret::new("correct-horse") });
    for (protects, tls) in [(Protects::Upgrades, SmtpTls::StartTls), (Protects::FromTheStart, SmtpTls::Tls)] {
        let sink = Sink::start(protects, None);
        let server = SmtpServer { login: login(), ca_file: Some(sink.ca_file()), ..server(sink.port, tls) };
        assert!(!format!("{server:?}").contains("correct-horse"));
        let answer = send(&smtp(server), &paid("order-1", Some(CUSTOMER)));
        assert_eq!(answer.outcome, Outcome::Done, "{}", said(&answer));
        assert!(sink.taken()[0].encrypted);
        assert!(sink.verbs().contains(&"AUTH".to_owned()));
    }
    let sink = Sink::start(Protects::FromTheStart, Some(("AUTH", Act::Say("535 not correct-horse"))));
    let refusing =
        SmtpServer { login: login(), ca_file: Some(sink.ca_file()), ..server(sink.port, SmtpTls::Tls) };
    let answer = send(&smtp(refusing), &paid("order-1", Some(CUSTOMER)));
    assert!(is_retry(&answer) && answer.detail.contains("535"), "{}", said(&answer));
    assert!(answer.detail.contains("***") && !answer.detail.contains("correct-horse"), "{}", said(&answer));
    let clear = SmtpServer { login: login(), ..server(1, SmtpTls::None) };
    let settings = SmtpSettings { server: Some(clear), letter: letter("x", None) };
    assert!(Smtp::new(settings).is_err_and(|error| error.contains("without TLS")));
}

#[test]
fn a_mail_without_a_recipient_is_objected_to_and_never_made() {
    let smtp = smtp(server(1, SmtpTls::None));
    assert_eq!(smtp.objection(&paid("order-1", Some(CUSTOMER))), None);
    for news in [
        paid("order-1", Some("customer-7")),
        paid("order-1", None),
        about("order-1", Some(CUSTOMER), Happening::CaseOpened),
    ] {
        let why = smtp.objection(&news).unwrap();
        assert!(why.contains("`to` is not set") && !why.contains(CUSTOMER), "{why}");
        assert_eq!(smtp.render(&news), Err(why));
    }
}

#[test]
fn not_configured_is_said_and_the_mail_is_kept_for_when_it_is() {
    let news = paid("order-1", Some(CUSTOMER));
    let without = Smtp::new(SmtpSettings { server: None, letter: letter("x", None) }).unwrap();
    let kept = sending(&without, &news);
    let answer = send_within(&without, &kept, PATIENT);
    assert_eq!(answer.outcome, Outcome::NotConfigured, "{}", said(&answer));
    let sink = Sink::start(Protects::Never, None);
    let answer = send_within(&smtp(server(sink.port, SmtpTls::None)), &kept, PATIENT);
    assert_eq!(answer.outcome, Outcome::Done, "{}", said(&answer));
    assert_eq!(sink.taken().len(), 1);
}

#[test]
fn nothing_that_a_message_is_about_becomes_a_header() {
    let sink = Sink::start(Protects::Never, None);
    let mut letter = letter("{{ order.id }}", None);
    let source = "Hello\r\nBcc: all@example.com\r\n\r\nInjected {{ order.id }}".to_owned();
    letter.subject = Template::parse("s", source, Writes::Text).unwrap();
    let smtp = Smtp::new(SmtpSettings { server: Some(server(sink.port, SmtpTls::None)), letter }).unwrap();
    let order = format!("Bcc: ä@example.com {}", "long ".repeat(30));
    let answer = send(&smtp, &paid(order.trim_end(), Some(CUSTOMER)));
    assert_eq!(answer.outcome, Outcome::Done, "{}", said(&answer));
    let taken = &sink.taken()[0];
    let (headers, body) = taken.mail.split_once("\r\n\r\n").unwrap();
    let names: Vec<_> = headers.lines().filter(|line| !line.starts_with([' ', '\t'])).collect();
    assert!(names.iter().all(|line| !line.to_ascii_lowercase().starts_with("bcc")), "{headers}");
    assert_eq!(
        names.iter().filter(|line| line.starts_with("Subject: Hello Bcc: all@example.com")).count(),
        1
    );
    assert!(!body.contains("Injected"), "{body}");
    assert_eq!(taken.envelope.len(), 2, "{:?}", taken.envelope);
}
