//! A mail before it is anybody's format: who gets it, and what it says. SMTP and mail APIs share it.
//!
//! Addresses are parsed and never joined from text, and a subject is one line, so nothing that a customer or an
//! order's id contains can become a header.

use lettre::Address;
use lettre::message::Mailbox;
use paidonce_engine::News;
use paidonce_ledger::Happening;
use serde::{Deserialize, Serialize};

use super::parcel::Parcel;
use super::sample::samples;
use super::telling::{Telling, happening};
use super::template::Template;

/// The most characters of a subject.
const SUBJECT_CHARS_MAX: usize = 200;

/// What a mail says, and who may get it.
#[derive(Debug, Clone)]
pub struct LetterSettings {
    /// Who it is from.
    pub from: Mailbox,
    /// Where answers go, if not there.
    pub reply_to: Option<Mailbox>,
    /// The merchant's own address: for what is no customer's business, and where the customer has no address.
    pub to: Option<Mailbox>,
    /// Whether it goes to the order's customer, if that is an address.
    pub to_customer: bool,
    /// The subject's template.
    pub subject: Template,
    /// The text's template.
    pub text: Template,
    /// The template of the HTML alternative.
    pub html: Option<Template>,
}

/// Who sends a mail to whom: the head of what is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) from: String,
    pub(super) to: Vec<String>,
}

/// A mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// Who it is to.
    pub to: Mailbox,
    /// One line.
    pub subject: String,
    /// As text.
    pub text: String,
    /// As HTML.
    pub html: Option<String>,
}

impl LetterSettings {
    /// Tries the templates with everything that they will be used for.
    ///
    /// # Errors
    /// What is wrong with one, with its line.
    pub fn try_for(&self, all: &[Option<Happening>]) -> Result<(), String> {
        let templates = [Some(&self.subject), Some(&self.text), self.html.as_ref()];
        templates.into_iter().flatten().try_for_each(|template| template.try_for(all.iter().copied()))?;
        let subjects =
            all.iter().copied().flat_map(samples).map(|told| subject(&self.subject.render(&told)?));
        subjects.into_iter().try_for_each(|subject| subject.map(|_| ()))
    }

    /// Why nobody can get the mail about something, as long as the settings are these.
    pub(super) fn objection(&self, news: &News) -> Option<String> {
        self.addressed(&Telling::of(news), news).err().map(str::to_owned)
    }

    /// What is stored: who gets the mail about something, and what `content` makes of it.
    ///
    /// # Errors
    /// Nobody gets it, or what is wrong with a template, with its line.
    pub(super) fn pack(
        &self,
        news: &News,
        content: impl FnOnce(Letter) -> Result<Vec<u8>, String>,
    ) -> Result<Vec<u8>, String> {
        let telling = Telling::of(news);
        let letter = Letter {
            to: self.addressed(&telling, news)?,
            subject: subject(&self.subject.render(&telling)?)?,
            text: self.text.render(&telling)?,
            html: self.html.as_ref().map(|html| html.render(&telling)).transpose()?,
        };
        let head = Head { from: self.from.email.to_string(), to: vec![letter.to.email.to_string()] };
        Parcel { head, content: content(letter)? }.pack()
    }

    fn addressed(&self, telling: &Telling, news: &News) -> Result<Mailbox, &'static str> {
        let customer = telling.order.as_ref().and_then(|order| order.customer.as_deref());
        self.recipient(happening(news), customer)
    }

    fn recipient(&self, what: Option<Happening>, customer: Option<&str>) -> Result<Mailbox, &'static str> {
        if what == Some(Happening::CaseOpened) {
            return self.to.clone().ok_or("cases are not told to customers, and `to` is not set");
        }
        customer.filter(|_| self.to_customer).and_then(mailbox).or_else(|| self.to.clone()).ok_or(
            if self.to_customer {
                "there is no recipient: the order's customer is no e-mail address, and `to` is not set"
            } else {
                "there is no recipient: `to` is not set"
            },
        )
    }
}

/// A customer as a mailbox, if it is one bare address. Quoted local parts are none: header parsers disagree on them.
fn mailbox(customer: &str) -> Option<Mailbox> {
    let address = customer.parse::<Address>().ok().filter(|address| !address.user().contains('"'));
    address.map(|address| Mailbox::new(None, address))
}

/// A subject is one line: line breaks and other controls become blanks.
fn subject(rendered: &str) -> Result<String, String> {
    let words = rendered.split(|c: char| c.is_control() || c.is_whitespace()).filter(|word| !word.is_empty());
    let line: String = words.collect::<Vec<_>>().join(" ").chars().take(SUBJECT_CHARS_MAX).collect();
    if line.is_empty() { Err("the subject is empty".to_owned()) } else { Ok(line) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::template::Writes;

    fn settings(to: Option<&str>, to_customer: bool) -> LetterSettings {
        let template = || Template::parse("t", "x".to_owned(), Writes::Text).unwrap();
        LetterSettings {
            from: "Shop <shop@example.com>".parse().unwrap(),
            reply_to: None,
            to: to.map(|to| to.parse().unwrap()),
            to_customer,
            subject: template(),
            text: template(),
            html: None,
        }
    }

    #[test]
    fn who_gets_a_mail() {
        let (paid, case) = (Happening::OrderPaid, Happening::CaseOpened);
        let desk = Some("Desk <desk@example.com>");
        for (to, to_customer, happening, customer, expected) in [
            (None, true, paid, Some("a@example.org"), "a@example.org"),
            (desk, true, paid, Some("a@example.org"), "a@example.org"),
            (desk, true, paid, Some("customer-7"), "Desk <desk@example.com>"),
            (desk, true, paid, None, "Desk <desk@example.com>"),
            (desk, false, paid, Some("a@example.org"), "Desk <desk@example.com>"),
            (desk, true, case, Some("a@example.org"), "Desk <desk@example.com>"),
            (None, true, case, Some("a@example.org"), "cases are not told to customers"),
            (None, true, paid, Some("customer-7"), "no recipient: the order's customer"),
            (None, true, paid, Some("A <a@example.org>"), "no recipient: the order's customer"),
            (None, true, paid, Some("a@example.org, b@example.org"), "no recipient: the order's customer"),
            (None, true, paid, Some("\"bcc: x\"@example.org"), "no recipient: the order's customer"),
            (None, true, paid, None, "no recipient: the order's customer"),
            (None, false, paid, Some("a@example.org"), "no recipient: `to` is not set"),
        ] {
            let found = settings(to, to_customer).recipient(Some(happening), customer);
            let said = found.map_or_else(str::to_owned, |mailbox| mailbox.to_string());
            assert!(said.contains(expected), "{to:?} {to_customer} {happening} {customer:?}: {said}");
        }
    }

    #[test]
    fn a_subject_is_one_line() {
        assert_eq!(
            subject("Paid:\r\nBcc: everyone@example.com\n").unwrap(),
            "Paid: Bcc: everyone@example.com"
        );
        assert_eq!(subject(" \n\t").unwrap_err(), "the subject is empty");
        assert_eq!(subject(&"ü".repeat(500)).unwrap().chars().count(), SUBJECT_CHARS_MAX);
    }
}
