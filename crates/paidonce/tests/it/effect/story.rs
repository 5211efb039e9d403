//! Mailers and brokers as the whole program uses them: from a notification to what arrives, and what it means for the
//! order when it does not.

use paidonce_ledger::{Ledger, Task, TaskKind};
use serde_json::{Value, json};

use super::nats::Place;
use super::sink::{Act, Protects, Sink};
use crate::shop::{Shop, order, paid};

const CUSTOMER: &str = "ada@example.org";

/// A shop that mails the customer when an order is paid.
struct Mailing {
    shop: Shop,
    _templates: tempfile::TempDir,
}

impl Mailing {
    /// `server` says where mails are handed in; `more` are further sections.
    fn open(server: &str, more: &str) -> Self {
        let templates = tempfile::tempdir().unwrap();
        let file = templates.path().join("paid.txt");
        std::fs::write(&file, "Thank you for order {{ order.id }}.\n").unwrap();
        let effects = format!(
            "[[effect]]\nname = \"mail\"\nkind = \"smtp\"\non = [\"order_paid\"]\n\
             from = \"Shop <shop@example.com>\"\nsubject = \"Order {{{{ order.id }}}}\"\ntext = \"{}\"\n\
             {server}\n{more}",
            file.display()
        );
        Self { shop: Shop::with("", &effects), _templates: templates }
    }

    fn through(sink: &Sink, more: &str) -> Self {
        Self::open(&format!("host = \"127.0.0.1\"\nport = {}\ntls = \"none\"", sink.port), more)
    }

    /// The order is placed and paid; waits until what it is told stands in `state`, and the order is granted.
    fn pay(&self, state: &str) -> Ledger {
        self.pay_for(CUSTOMER, state)
    }

    fn pay_for(&self, customer: &str, state: &str) -> Ledger {
        let mut request = order("order-1");
        request["customer"] = json!(customer);
        assert_eq!(self.shop.post("/v1/orders", &request).status, 201);
        self.shop.deliver("shop", &paid("e", "p", "order-1", "19.90"));
        let ledger = self.shop.until(|ledger| {
            let told = told(ledger);
            !told.is_empty() && told.iter().all(|(_, task)| task.state.as_str() == state)
        });
        self.shop.until(|ledger| !ledger.entitlements.rows().is_empty());
        let standing = self.shop.get("/v1/orders/order-1").json()["standing"].clone();
        assert_eq!(standing, "paid", "the order is unharmed");
        ledger
    }
}

/// What is told to the outside, by handle.
fn told(ledger: &Ledger) -> Vec<(String, Task)> {
    let rows = ledger.tasks.rows().iter().filter(|(key, _)| key.kind() == TaskKind::Send);
    rows.map(|(key, task)| (key.handle(), task.clone())).collect()
}

fn attempts(ledger: &Ledger) -> Vec<(String, String)> {
    let rows = ledger.attempts.rows().iter().filter(|(key, _)| key.task.kind() == TaskKind::Send);
    rows.map(|(_, attempt)| (attempt.outcome.to_string(), attempt.detail.to_string())).collect()
}

#[test]
fn a_paid_order_is_mailed_and_published_once() {
    let Some(place) = Place::open(std::time::Duration::from_secs(120)) else { return };
    let sink = Sink::start(Protects::Never, None);
    let broker = format!(
        "[[effect]]\nname = \"bus\"\nkind = \"nats\"\non = [\"order_paid\", \"entitlement_granted\"]\n\
         host = \"{}\"\nport = {}\ntls = \"none\"\nsubject = \"{}.{{{{ happening }}}}\"\n",
        place.host, place.port, place.name
    );
    let mailing = Mailing::through(&sink, &broker);
    mailing.pay("done");
    mailing.shop.until(|ledger| {
        let told = told(ledger);
        told.len() == 3 && told.iter().all(|(_, task)| task.state.as_str() == "done")
    });
    // The same payment's news once more changes nothing that anybody is told.
    mailing.shop.deliver("shop", &paid("e2", "p", "order-1", "19.90"));
    let taken = sink.taken();
    assert_eq!(taken.len(), 1);
    assert_eq!(taken[0].envelope[1], format!("RCPT TO:<{CUSTOMER}>"));
    assert!(taken[0].mail.contains("Thank you for order order-1."), "{}", taken[0].mail);
    let messages = place.messages();
    let mut subjects: Vec<_> = messages.iter().map(|(subject, _, _)| subject.as_str()).collect();
    subjects.sort_unstable();
    let expected = ["entitlement_granted", "order_paid"].map(|what| format!("{}.{what}", place.name));
    assert_eq!(subjects, expected);
    let granted = messages.iter().find(|(_, _, payload)| payload["happening"] == "entitlement_granted");
    let payload: &Value = &granted.unwrap().2;
    assert_eq!(payload["entitlement"]["active"], true, "{payload}");
}

#[test]
fn what_is_not_configured_waits_in_plain_view_and_a_retry_raises_its_attempts() {
    let mailing = Mailing::open("", "");
    let ledger = mailing.pay("parked");
    let [(handle, task)] = &told(&ledger)[..] else { panic!("one task") };
    assert_eq!(task.attempts, 1);
    let shown = mailing.shop.get("/v1/tasks?state=parked").json();
    assert_eq!(shown["rows"][0]["order"], "order-1", "{shown:#}");
    let reason = json!({"reason": "is it configured by now?"});
    assert_eq!(mailing.shop.post(&format!("/v1/tasks/{handle}/retry"), &reason).status, 200);
    let ledger = mailing.shop.until(|ledger| {
        let [(_, task)] = &told(ledger)[..] else { return false };
        task.attempts == 2 && task.state.as_str() == "parked"
    });
    let [(_, again)] = &told(&ledger)[..] else { panic!("one task") };
    assert_eq!(again.request.as_ref().unwrap().body, task.request.as_ref().unwrap().body);
    for (outcome, detail) in attempts(&ledger) {
        assert_eq!((outcome.as_str(), detail.as_str()), ("not_configured", "no SMTP server is configured"));
    }
}

#[test]
fn p11_a_mail_that_may_have_been_taken_is_a_case_and_not_a_second_mail() {
    let sink = Sink::start(Protects::Never, Some((".", Act::TakeAndDie)));
    let mailing = Mailing::through(&sink, "");
    let ledger = mailing.pay("held");
    assert_eq!(sink.taken().len(), 1);
    let [(outcome, detail)] = &attempts(&ledger)[..] else { panic!("one attempt") };
    assert_eq!(outcome, "uncertain", "{detail}");
    mailing.shop.case("outcome_unknown");
}

#[test]
fn a_mail_that_is_refused_is_a_case_that_says_why() {
    let sink = Sink::start(Protects::Never, Some(("RCPT", Act::Say("550 5.1.1 nobody of that name"))));
    let mailing = Mailing::through(&sink, "");
    let ledger = mailing.pay("held");
    let [(outcome, detail)] = &attempts(&ledger)[..] else { panic!("one attempt") };
    assert!(outcome == "refused" && detail.contains("nobody of that name"), "{outcome}: {detail}");
    let shown = mailing.shop.get(&format!("/v1/cases/{}", mailing.shop.case("task_failed"))).json();
    assert!(shown.to_string().contains("nobody of that name"), "{shown:#}");
}

#[test]
fn a_mail_without_a_recipient_is_a_case_at_once_and_nothing_is_stored_that_a_retry_would_send() {
    let sink = Sink::start(Protects::Never, None);
    let mailing = Mailing::through(&sink, "");
    let ledger = mailing.pay_for("customer-7", "held");
    let [(_, task)] = &told(&ledger)[..] else { panic!("one task") };
    assert_eq!((task.attempts, &task.request), (1, &None));
    let [(outcome, detail)] = &attempts(&ledger)[..] else { panic!("one attempt") };
    assert!(outcome == "refused" && detail.contains("no recipient"), "{outcome}: {detail}");
    mailing.shop.case("task_failed");
    assert!(sink.verbs().is_empty());
}
