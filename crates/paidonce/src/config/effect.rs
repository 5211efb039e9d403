//! `[[effect]]`: one destination outside, as the file states it. What it becomes is `crate::effect::configured`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use paidonce_ledger::{EffectName, EffectRule, Happening, Retries};

use super::broker::{NatsConfig, RabbitConfig};
use super::mail::{ResendConfig, SmtpConfig};
use super::secret::SecretRef;
use super::section::{Section, Text};
use crate::effect::http::KEY_MARK;
use crate::effect::outbound::Target;
use crate::effect::resend::KEY_WINDOW;

/// One `[[effect]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectConfig {
    /// Its name: part of every key, so it is never given to another destination.
    pub name: EffectName,
    /// What it tells; nothing, where it keeps a copy.
    pub on: BTreeSet<Happening>,
    /// Whether it keeps a copy of each entitlement.
    pub sync: bool,
    /// Where it goes.
    pub kind: EffectKind,
    /// Calls at once.
    pub concurrency: usize,
    /// No call takes longer.
    pub timeout: Duration,
    /// After so many tries it is a case.
    pub attempts_max: u32,
    /// For how long the receiver knows a key again; zero if it has no keys.
    pub key_window: Duration,
    /// The line it begins at, for messages.
    pub(crate) line: usize,
}

/// Where an effect goes.
#[derive(Debug, Clone, PartialEq)]
pub enum EffectKind {
    /// A signed HTTP call.
    Http(HttpConfig),
    /// An e-mail by SMTP.
    Smtp(SmtpConfig),
    /// An e-mail by Resend.
    Resend(ResendConfig),
    /// A message to NATS JetStream.
    Nats(NatsConfig),
    /// A message to RabbitMQ.
    Rabbit(RabbitConfig),
}

/// `kind = "http"`.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpConfig {
    /// Where calls go.
    pub url: String,
    /// What signs them.
    pub secret: SecretRef,
    /// A whole `Authorization` header.
    pub authorization: Option<SecretRef>,
    /// The body's template.
    pub template: Option<PathBuf>,
    /// The body's type.
    pub content_type: String,
    /// Who is asked what became of a message.
    pub status_url: Option<String>,
    /// Whether addresses that are not on the public internet may be reached, and http be spoken.
    pub allow_private: bool,
    /// One more root certificate, in PEM.
    pub ca_file: Option<PathBuf>,
}

/// How long a call may take, if the file does not say, in seconds.
const TIMEOUT_S: u64 = 10;

const KEY_WINDOW_S: RangeInclusive<u64> = 0..=31_536_000;

/// Requests are repeated only while the key is known for another minute: less than two leave nothing of it.
const KEY_WINDOW_LEAST_S: u64 = 120;

fn effect_name(text: &str) -> Result<EffectName, &'static str> {
    let wrong = "write 1 to 64 of a-z, 0-9, - and _";
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    if text.len() > 64 || !text.bytes().all(plain) {
        return Err(wrong);
    }
    EffectName::new(text).map_err(|_| wrong)
}

impl EffectConfig {
    /// `None` if something that everything hangs on is missing; the mistakes say so.
    pub(super) fn read(section: Section<'_>, folder: &Path, line: usize) -> Option<Self> {
        let name = section.required("name", "\"shop\"");
        let name = name.and_then(|text| section.understood("name", text, effect_name));
        let kind = kind(&section, folder);
        let (on, sync) = (happenings(&section), section.flag("sync", false));
        let about =
            "an effect tells happenings or keeps a copy: write on = [\"order_paid\", …], or sync = true";
        if on.is_empty() != sync {
            section.wrong(section.span(), about);
        }
        let concurrency = section.number("concurrency", 8, 1..=256);
        let timeout = Duration::from_secs(section.number("timeout_s", TIMEOUT_S, 1..=3_600));
        let attempts_max = section.number("attempts_max", 12, 1..=1_000);
        let (usual, within) = kind.as_ref().map_or((86_400, KEY_WINDOW_S), EffectKind::key_window_s);
        let window = section.number("key_window_s", usual, within);
        if (1..KEY_WINDOW_LEAST_S).contains(&window) {
            let message = format!(
                "effect.key_window_s must be 0, if the receiver has no keys, or at least {KEY_WINDOW_LEAST_S}"
            );
            section.wrong(section.span(), message);
        }
        section.finish();
        Some(Self {
            name: name?,
            on,
            sync,
            kind: kind?,
            concurrency: usize::try_from(concurrency).unwrap_or(1),
            timeout,
            attempts_max: u32::try_from(attempts_max).unwrap_or(u32::MAX),
            key_window: Duration::from_secs(window),
            line,
        })
    }

    /// What the ledger has to know of it.
    #[must_use]
    pub fn rule(&self) -> EffectRule {
        let window = i64::try_from(self.key_window.as_millis()).ok();
        EffectRule {
            on: self.on.clone(),
            sync: self.sync,
            key_window_ms: window.filter(|window| *window > 0),
            can_ask: match &self.kind {
                EffectKind::Http(http) => http.status_url.is_some(),
                _ => false,
            },
            unconfigured: match &self.kind {
                EffectKind::Smtp(smtp) => smtp.host.is_none(),
                EffectKind::Resend(resend) => resend.api_key.is_none(),
                _ => false,
            },
            retries: Retries { attempts_max: self.attempts_max, ..Retries::default() },
        }
    }

    /// What its templates will be rendered for; `None` is a copy.
    #[must_use]
    pub fn tells(&self) -> Vec<Option<Happening>> {
        if self.sync { vec![None] } else { self.on.iter().copied().map(Some).collect() }
    }

    pub(super) fn show(&self, out: &mut String) {
        let _ = writeln!(out, "\n[[effect]]\nname = \"{}\"", self.name);
        if self.sync {
            let _ = writeln!(out, "sync = true");
        } else {
            let on: Vec<_> = self.on.iter().map(|happening| format!("\"{happening}\"")).collect();
            let _ = writeln!(out, "on = [{}]", on.join(", "));
        }
        match &self.kind {
            EffectKind::Http(http) => http.show(out),
            EffectKind::Smtp(smtp) => smtp.show(out),
            EffectKind::Resend(resend) => resend.show(out),
            EffectKind::Nats(nats) => nats.show(out),
            EffectKind::Rabbit(rabbit) => rabbit.show(out),
        }
        let _ = writeln!(out, "concurrency = {}\ntimeout_s = {}", self.concurrency, self.timeout.as_secs());
        let (attempts_max, window) = (self.attempts_max, self.key_window.as_secs());
        let _ = writeln!(out, "attempts_max = {attempts_max}\nkey_window_s = {window}");
    }
}

fn happenings(section: &Section<'_>) -> BTreeSet<Happening> {
    let parse = |text: Text<'_>| {
        let found = Happening::parse(text.text);
        if found.is_none() {
            let words: Vec<_> = Happening::ALL.iter().map(|happening| happening.as_str()).collect();
            section.wrong(text.span, format!("effect.on knows {}", words.join(", ")));
        }
        found
    };
    section.texts("on").into_iter().filter_map(parse).collect()
}

fn kind(section: &Section<'_>, folder: &Path) -> Option<EffectKind> {
    let kind = section.required("kind", "\"http\"")?;
    match kind.text {
        "http" => HttpConfig::read(section, folder).map(EffectKind::Http),
        "smtp" => SmtpConfig::read(section, folder).map(EffectKind::Smtp),
        "resend" => ResendConfig::read(section, folder).map(EffectKind::Resend),
        "nats" => Some(EffectKind::Nats(NatsConfig::read(section, folder))),
        "rabbitmq" => Some(EffectKind::Rabbit(RabbitConfig::read(section, folder))),
        _ => {
            let message = "effect.kind must be \"http\", \"smtp\", \"resend\", \"nats\" or \"rabbitmq\"";
            section.wrong(kind.span, message);
            None
        }
    }
}

impl EffectKind {
    /// For how long its receiver knows a key again if the file does not say, and what the file may say.
    fn key_window_s(&self) -> (u64, RangeInclusive<u64>) {
        match self {
            Self::Http(_) => (86_400, KEY_WINDOW_S),
            // Neither has keys. Whoever says otherwise knows who reads the Message-ID or message_id.
            Self::Smtp(_) | Self::Rabbit(_) => (0, KEY_WINDOW_S),
            Self::Resend(_) => {
                let known = KEY_WINDOW.as_secs();
                (known, 0..=known)
            }
            // JetStream's own default of duplicate_window.
            Self::Nats(_) => (120, KEY_WINDOW_S),
        }
    }
}

/// A text as TOML.
pub(super) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A setting that may be absent.
pub(super) fn optional(out: &mut String, key: &str, value: Option<impl std::fmt::Display>) {
    if let Some(value) = value {
        let _ = writeln!(out, "{key} = {}", quoted(&value.to_string()));
    }
}

impl HttpConfig {
    fn read(section: &Section<'_>, folder: &Path) -> Option<Self> {
        let allow_private = section.flag("allow_private", false);
        let url = section.required("url", "\"https://your-shop.example/paidonce\"");
        let target = |text: &str| Target::parse(text, allow_private).map(|_| text.to_owned());
        let url = url.and_then(|text| section.understood("url", text, target));
        let secret = section.required("secret", "\"env:SHOP_SIGNING_SECRET\"");
        let secret =
            secret.and_then(|text| section.understood("secret", text, |text| SecretRef::parse(text, folder)));
        let authorization = section.parsed("authorization", |text| SecretRef::parse(text, folder));
        let status = |text: &str| {
            Target::parse(&text.replace(KEY_MARK, "key"), allow_private)?;
            text.contains(KEY_MARK)
                .then(|| text.to_owned())
                .ok_or(format!("write {KEY_MARK} where the key belongs"))
        };
        let status_url = section.parsed("status_url", status);
        let file = |key| section.text(key).map(|text| folder.join(text.text));
        let (template, ca_file) = (file("template"), file("ca_file"));
        let content_type =
            section.text("content_type").map_or("application/json", |text| text.text).to_owned();
        let (url, secret) = (url?, secret?);
        Some(Self { url, secret, authorization, template, content_type, status_url, allow_private, ca_file })
    }

    fn show(&self, out: &mut String) {
        let _ = writeln!(out, "kind = \"http\"\nurl = {}", quoted(&self.url));
        let _ = writeln!(out, "secret = {} # is ***", quoted(&self.secret.to_string()));
        if let Some(secret) = &self.authorization {
            let _ = writeln!(out, "authorization = {} # is ***", quoted(&secret.to_string()));
        }
        if let Some(url) = &self.status_url {
            let _ = writeln!(out, "status_url = {}", quoted(url));
        }
        for (key, file) in [("template", &self.template), ("ca_file", &self.ca_file)] {
            if let Some(file) = file {
                let _ = writeln!(out, "{key} = {}", quoted(&file.display().to_string()));
            }
        }
        let _ = writeln!(out, "content_type = {}", quoted(&self.content_type));
        let _ = writeln!(out, "allow_private = {}", self.allow_private);
    }
}
