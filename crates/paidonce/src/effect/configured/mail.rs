//! Mailers of a configuration: templates parsed and tried for all that they tell.

use std::sync::Arc;

use crate::config::{EffectConfig, LetterConfig, ResendConfig, SmtpConfig};
use crate::effect::letter::LetterSettings;
use crate::effect::login::Login;
use crate::effect::outbound::{Connector, Target};
use crate::effect::resend::{API, Resend, ResendSettings};
use crate::effect::smtp::{Smtp, SmtpServer, SmtpSettings};
use crate::effect::template::{Template, Writes};

pub(super) fn smtp_of(effect: &EffectConfig, smtp: &SmtpConfig) -> Result<Smtp, String> {
    let login = smtp.user.clone().zip(smtp.password.as_ref());
    let login = login.map(|(user, password)| Ok::<_, String>(Login { user, password: password.read()? }));
    let login = login.transpose()?;
    let server = smtp.host.clone().map(|host| SmtpServer {
        host,
        port: smtp.port,
        tls: smtp.tls,
        login,
        ca_file: smtp.ca_file.clone(),
    });
    Smtp::new(SmtpSettings { server, letter: letter(effect, &smtp.letter)? })
}

pub(super) fn resend_of(effect: &EffectConfig, resend: &ResendConfig) -> Result<Resend, String> {
    Resend::new(ResendSettings {
        api_key: resend.api_key.as_ref().map(|secret| secret.read()).transpose()?,
        letter: letter(effect, &resend.letter)?,
        target: Target::parse(&format!("{API}/emails"), false)?,
        connector: Arc::new(Connector::new(None)?),
    })
}

fn letter(effect: &EffectConfig, letter: &LetterConfig) -> Result<LetterSettings, String> {
    let settings = LetterSettings {
        from: letter.from.clone(),
        reply_to: letter.reply_to.clone(),
        to: letter.to.clone(),
        to_customer: letter.to_customer,
        subject: Template::parse("subject", letter.subject.clone(), Writes::Text)?,
        text: Template::load(&letter.text, Writes::Text)?,
        html: letter.html.as_deref().map(|file| Template::load(file, Writes::Html)).transpose()?,
    };
    settings.try_for(&effect.tells())?;
    Ok(settings)
}
