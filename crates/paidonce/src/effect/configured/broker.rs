//! Brokers of a configuration: addresses parsed and tried for all that they tell.

use paidonce_ledger::Happening;

use crate::config::{BrokerConfig, EffectConfig, NatsConfig, RabbitConfig};
use crate::effect::broker::try_for;
use crate::effect::certificate;
use crate::effect::login::Login;
use crate::effect::nats::{Nats, NatsAuth, NatsServer, NatsSettings};
use crate::effect::rabbitmq::{Rabbit, RabbitServer, RabbitSettings};
use crate::effect::template::{Template, Writes};

pub(super) fn nats_of(effect: &EffectConfig, nats: &NatsConfig) -> Result<Nats, String> {
    let (broker, token) = (&nats.broker, nats.token.as_ref().map(|token| token.read()).transpose()?);
    let auth = match (login(broker)?, token) {
        (Some(login), _) => NatsAuth::Login(login),
        (None, Some(token)) => NatsAuth::Token(token),
        (None, None) => NatsAuth::Open,
    };
    let server = broker.host.clone().map(|host| NatsServer {
        host,
        port: broker.port,
        tls: broker.tls,
        ca_file: broker.ca_file.clone(),
        auth,
    });
    let subject = address("subject", &nats.subject, &effect.tells())?;
    Ok(Nats::new(NatsSettings { server, subject, key_window: effect.key_window }))
}

pub(super) fn rabbit_of(effect: &EffectConfig, rabbit: &RabbitConfig) -> Result<Rabbit, String> {
    let broker = &rabbit.broker;
    let server = broker.host.clone().zip(login(broker)?).map(|(host, login)| RabbitServer {
        host,
        port: broker.port,
        tls: broker.tls,
        ca_file: broker.ca_file.clone(),
        vhost: rabbit.vhost.clone(),
        login,
    });
    let routing_key = address("routing_key", &rabbit.routing_key, &effect.tells())?;
    Ok(Rabbit::new(RabbitSettings { server, exchange: rabbit.exchange.clone(), routing_key }))
}

/// Reads the password. The certificates are read again for each connection, so that they can be renewed; here they are
/// tried.
fn login(broker: &BrokerConfig) -> Result<Option<Login>, String> {
    broker.ca_file.as_deref().map(certificate::read).transpose()?;
    let login = broker.user.clone().zip(broker.password.as_ref());
    login.map(|(user, password)| Ok(Login { user, password: password.read()? })).transpose()
}

fn address(key: &str, source: &str, tells: &[Option<Happening>]) -> Result<Template, String> {
    let template = Template::parse(key, source.to_owned(), Writes::Text)?;
    try_for(&template, tells).map_err(|error| format!("{key}: {error}"))?;
    Ok(template)
}
