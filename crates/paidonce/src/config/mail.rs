//! `[[effect]]` of the kinds `smtp` and `resend`: what a mail says, who gets it, and where it is handed in.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use lettre::message::Mailbox;

use super::effect::{optional, quoted};
use super::secret::SecretRef;
use super::section::Section;
use super::word_of;
use crate::effect::smtp::SmtpTls;

/// What every mail needs, however it is sent.
#[derive(Debug, Clone, PartialEq)]
pub struct LetterConfig {
    /// Who it is from.
    pub from: Mailbox,
    /// Where answers go, if not there.
    pub reply_to: Option<Mailbox>,
    /// The merchant's own address.
    pub to: Option<Mailbox>,
    /// Whether it goes to the order's customer, if that is an address.
    pub to_customer: bool,
    /// The subject's template, as it is.
    pub subject: String,
    /// The file of the text's template.
    pub text: PathBuf,
    /// The file of the HTML's template.
    pub html: Option<PathBuf>,
}

/// `kind = "smtp"`.
#[derive(Debug, Clone, PartialEq)]
pub struct SmtpConfig {
    /// What mails say and who gets them.
    pub letter: LetterConfig,
    /// The server; without one nothing is configured, and mails wait.
    pub host: Option<String>,
    /// Its port.
    pub port: u16,
    /// How the connection is protected.
    pub tls: SmtpTls,
    /// The name to log in with.
    pub user: Option<String>,
    /// Its password.
    pub password: Option<SecretRef>,
    /// One more root certificate, in PEM.
    pub ca_file: Option<PathBuf>,
}

/// `kind = "resend"`.
#[derive(Debug, Clone, PartialEq)]
pub struct ResendConfig {
    /// What mails say and who gets them.
    pub letter: LetterConfig,
    /// The API's key; without one nothing is configured, and mails wait.
    pub api_key: Option<SecretRef>,
}

const TLS: [(&str, SmtpTls); 3] =
    [("starttls", SmtpTls::StartTls), ("tls", SmtpTls::Tls), ("none", SmtpTls::None)];

fn mailbox(text: &str) -> Result<Mailbox, &'static str> {
    text.parse()
        .map_err(|_| "write an e-mail address: \"shop@example.com\" or \"The Shop <shop@example.com>\"")
}

impl LetterConfig {
    fn read(section: &Section<'_>, folder: &Path) -> Option<Self> {
        let from = section.required("from", "\"The Shop <shop@example.com>\"");
        let from = from.and_then(|text| section.understood("from", text, mailbox));
        let subject = section.required("subject", "\"Your order {{ order.id }}\"");
        let text = section.required("text", "\"mail.txt\", a file");
        let file = |text: &str| folder.join(text);
        let letter = Self {
            reply_to: section.parsed("reply_to", mailbox),
            to: section.parsed("to", mailbox),
            to_customer: section.flag("to_customer", true),
            html: section.text("html").map(|text| file(text.text)),
            from: from?,
            subject: subject?.text.to_owned(),
            text: file(text?.text),
        };
        if letter.to.is_none() && !letter.to_customer {
            section.wrong(section.span(), "nobody gets these mails: set to, or to_customer = true");
        }
        Some(letter)
    }

    fn show(&self, out: &mut String) {
        let _ = writeln!(out, "from = {}", quoted(&self.from.to_string()));
        optional(out, "reply_to", self.reply_to.as_ref());
        optional(out, "to", self.to.as_ref());
        let _ = writeln!(out, "to_customer = {}", self.to_customer);
        let _ = writeln!(out, "subject = {}", quoted(&self.subject));
        let _ = writeln!(out, "text = {}", quoted(&self.text.display().to_string()));
        optional(out, "html", self.html.as_ref().map(|file| file.display()));
    }
}

impl SmtpConfig {
    pub(super) fn read(section: &Section<'_>, folder: &Path) -> Option<Self> {
        let tls = section.choice("tls", SmtpTls::StartTls, &TLS);
        let usual = match tls {
            SmtpTls::StartTls => 587,
            SmtpTls::Tls => 465,
            SmtpTls::None => 25,
        };
        let user = section.text("user").map(|text| text.text.to_owned());
        let password = section.parsed("password", |text| SecretRef::parse(text, folder));
        if user.is_some() != password.is_some() {
            section.wrong(section.span(), "effect.user and effect.password belong together");
        }
        if tls == SmtpTls::None && password.is_some() {
            let message =
                "a password is not sent without TLS: write tls = \"starttls\" or \"tls\", or leave it out";
            section.wrong(section.span(), message);
        }
        let host = section.text("host").map(|text| text.text.to_owned());
        let port = section.port(usual);
        let ca_file = section.text("ca_file").map(|text| folder.join(text.text));
        let letter = LetterConfig::read(section, folder)?;
        Some(Self { letter, host, port, tls, user, password, ca_file })
    }

    pub(super) fn show(&self, out: &mut String) {
        let _ = writeln!(out, "kind = \"smtp\"");
        optional(out, "host", self.host.as_ref());
        let _ = writeln!(out, "port = {}\ntls = \"{}\"", self.port, word_of(&TLS, &self.tls));
        optional(out, "user", self.user.as_ref());
        if let Some(password) = &self.password {
            let _ = writeln!(out, "password = {} # is ***", quoted(&password.to_string()));
        }
        optional(out, "ca_file", self.ca_file.as_ref().map(|file| file.display()));
        self.letter.show(out);
    }
}

impl ResendConfig {
    pub(super) fn read(section: &Section<'_>, folder: &Path) -> Option<Self> {
        let api_key = section.parsed("api_key", |text| SecretRef::parse(text, folder));
        Some(Self { letter: LetterConfig::read(section, folder)?, api_key })
    }

    pub(super) fn show(&self, out: &mut String) {
        let _ = writeln!(out, "kind = \"resend\"");
        if let Some(api_key) = &self.api_key {
            let _ = writeln!(out, "api_key = {} # is ***", quoted(&api_key.to_string()));
        }
        self.letter.show(out);
    }
}
