//! `[[effect]]` of the kinds `nats` and `rabbitmq`: which broker, and under which address messages are published.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::effect::{optional, quoted};
use super::secret::SecretRef;
use super::section::Section;
use super::word_of;

/// The address that messages have if the file does not say.
const ADDRESS: &str = "paidonce.{{ happening }}";

/// AMQP's bound of a name, in bytes.
const NAME_BYTES_MAX: usize = 255;

/// What every broker needs.
#[derive(Debug, Clone, PartialEq)]
pub struct BrokerConfig {
    /// The server; without one nothing is configured, and messages wait.
    pub host: Option<String>,
    /// Its port.
    pub port: u16,
    /// Whether the connection is protected.
    pub tls: bool,
    /// One more root certificate, in PEM.
    pub ca_file: Option<PathBuf>,
    /// The name to log in with.
    pub user: Option<String>,
    /// Its password.
    pub password: Option<SecretRef>,
}

/// `kind = "nats"`.
#[derive(Debug, Clone, PartialEq)]
pub struct NatsConfig {
    /// Which server.
    pub broker: BrokerConfig,
    /// A token, instead of a name and a password.
    pub token: Option<SecretRef>,
    /// The subject's template.
    pub subject: String,
}

/// `kind = "rabbitmq"`.
#[derive(Debug, Clone, PartialEq)]
pub struct RabbitConfig {
    /// Which broker.
    pub broker: BrokerConfig,
    /// The virtual host.
    pub vhost: String,
    /// The exchange; empty for the default one.
    pub exchange: String,
    /// The routing key's template.
    pub routing_key: String,
}

const TLS: [(&str, bool); 2] = [("tls", true), ("none", false)];

impl BrokerConfig {
    /// `usual` is the port with TLS, then without.
    fn read(section: &Section<'_>, folder: &Path, usual: (u16, u16)) -> Self {
        let tls = section.choice("tls", true, &TLS);
        let user = section.text("user").map(|text| text.text.to_owned());
        let password = section.parsed("password", |text| SecretRef::parse(text, folder));
        if user.is_some() != password.is_some() {
            section.wrong(section.span(), "effect.user and effect.password belong together");
        }
        Self {
            host: section.text("host").map(|text| text.text.to_owned()),
            port: section.port(if tls { usual.0 } else { usual.1 }),
            tls,
            ca_file: section.text("ca_file").map(|text| folder.join(text.text)),
            user,
            password,
        }
    }

    fn show(&self, out: &mut String) {
        optional(out, "host", self.host.as_ref());
        let _ = writeln!(out, "port = {}\ntls = \"{}\"", self.port, word_of(&TLS, &self.tls));
        optional(out, "ca_file", self.ca_file.as_ref().map(|file| file.display()));
        optional(out, "user", self.user.as_ref());
        if let Some(password) = &self.password {
            let _ = writeln!(out, "password = {} # is ***", quoted(&password.to_string()));
        }
    }
}

impl NatsConfig {
    pub(super) fn read(section: &Section<'_>, folder: &Path) -> Self {
        let broker = BrokerConfig::read(section, folder, (4222, 4222));
        let token = section.parsed("token", |text| SecretRef::parse(text, folder));
        if token.is_some() && broker.user.is_some() {
            section.wrong(section.span(), "write effect.user and effect.password, or effect.token, not both");
        }
        let subject = section.text("subject").map_or(ADDRESS, |text| text.text).to_owned();
        Self { broker, token, subject }
    }

    pub(super) fn show(&self, out: &mut String) {
        let _ = writeln!(out, "kind = \"nats\"");
        self.broker.show(out);
        if let Some(token) = &self.token {
            let _ = writeln!(out, "token = {} # is ***", quoted(&token.to_string()));
        }
        let _ = writeln!(out, "subject = {}", quoted(&self.subject));
    }
}

impl RabbitConfig {
    pub(super) fn read(section: &Section<'_>, folder: &Path) -> Self {
        let broker = BrokerConfig::read(section, folder, (5671, 5672));
        if broker.host.is_some() && broker.user.is_none() {
            section.wrong(section.span(), "effect.user is missing: RabbitMQ lets nobody in without one");
        }
        let short = |text: &str| {
            let fits = text.len() <= NAME_BYTES_MAX;
            fits.then(|| text.to_owned()).ok_or(format!("a name has at most {NAME_BYTES_MAX} bytes"))
        };
        Self {
            broker,
            vhost: section.parsed("vhost", short).unwrap_or_else(|| "/".to_owned()),
            exchange: section.parsed("exchange", short).unwrap_or_default(),
            routing_key: section.text("routing_key").map_or(ADDRESS, |text| text.text).to_owned(),
        }
    }

    pub(super) fn show(&self, out: &mut String) {
        let _ = writeln!(out, "kind = \"rabbitmq\"");
        self.broker.show(out);
        for (key, value) in
            [("vhost", &self.vhost), ("exchange", &self.exchange), ("routing_key", &self.routing_key)]
        {
            let _ = writeln!(out, "{key} = {}", quoted(value));
        }
    }
}
