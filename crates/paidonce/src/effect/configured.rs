//! The effects of a configuration, ready to send: secrets, templates and certificates read and tried at start.

mod broker;
mod mail;

use std::sync::Arc;

use paidonce_engine::Destination;
use paidonce_ledger::EffectName;

use super::deadline::Timed;
use super::http::{Http, HttpSettings};
use super::outbound::{Connector, Target};
use super::template::{Template, Writes};
use crate::config::{Config, ConfigError, EffectConfig, EffectKind, HttpConfig};

/// One effect, ready to send.
pub struct Effect {
    /// Its name.
    pub name: EffectName,
    /// Whether it keeps a copy of each entitlement, instead of telling happenings.
    pub sync: bool,
    /// Where it goes.
    pub destination: Arc<dyn Destination>,
    /// Calls at once.
    pub concurrency: usize,
}

impl Config {
    /// All effects, ready to send. Opens no connection.
    ///
    /// # Errors
    /// All secrets, templates and certificates that cannot be used, by effect. Never a secret.
    pub fn ready_effects(&self) -> Result<Vec<Effect>, ConfigError> {
        let (mut effects, mut mistakes) = (Vec::new(), Vec::new());
        for effect in &self.effects {
            match destination(effect) {
                Ok(destination) => effects.push(Effect {
                    name: effect.name.clone(),
                    sync: effect.sync,
                    destination,
                    concurrency: effect.concurrency,
                }),
                Err(problem) => {
                    mistakes.push((Some(effect.line), format!("effect {}: {problem}", effect.name)));
                }
            }
        }
        if mistakes.is_empty() { Ok(effects) } else { Err(ConfigError::new(&self.file, mistakes)) }
    }
}

fn destination(effect: &EffectConfig) -> Result<Arc<dyn Destination>, String> {
    match &effect.kind {
        EffectKind::Http(http) => Ok(Arc::new(http_of(effect, http)?)),
        EffectKind::Smtp(smtp) => timed(effect, mail::smtp_of(effect, smtp)?),
        EffectKind::Resend(resend) => timed(effect, mail::resend_of(effect, resend)?),
        EffectKind::Nats(nats) => timed(effect, broker::nats_of(effect, nats)?),
        EffectKind::Rabbit(rabbit) => timed(effect, broker::rabbit_of(effect, rabbit)?),
    }
}

fn timed<D: Destination + 'static>(effect: &EffectConfig, to: D) -> Result<Arc<dyn Destination>, String> {
    Ok(Arc::new(Timed { timeout: effect.timeout, to }))
}

fn http_of(effect: &EffectConfig, http: &HttpConfig) -> Result<Http, String> {
    let ca_pem = http.ca_file.as_ref().map(|file| {
        std::fs::read(file).map_err(|error| format!("the ca file {} cannot be read: {error}", file.display()))
    });
    let settings = HttpSettings {
        target: Target::parse(&http.url, http.allow_private)?,
        status_url: http.status_url.clone(),
        allow_private: http.allow_private,
        secret: http.secret.read()?,
        authorization: http.authorization.as_ref().map(|secret| secret.read()).transpose()?,
        template: http.template.as_deref().map(|file| Template::load(file, Writes::Text)).transpose()?,
        content_type: http.content_type.clone(),
        timeout: effect.timeout,
        connector: Arc::new(Connector::new(ca_pem.transpose()?.as_deref())?),
    };
    Http::new(settings, &effect.tells())
}
