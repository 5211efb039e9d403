//! One mail over one connection, step by step, because what a failure means depends on the step that failed: before
//! the mail's own bytes nothing can have arrived, after them anything may.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lettre::Address;
use lettre::address::Envelope;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::AsyncSmtpConnection;
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::{Extension, MailBodyParameter, MailParameter};
use paidonce_engine::Answer;

use super::{Route, SmtpTls};
use crate::effect::answer::{done, refused, retry, uncertain};

/// How long the farewell may take. The mail was taken or not by then.
const QUIT_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) struct Session<'a> {
    pub(super) route: &'a Route,
    /// Set before the first byte of the mail leaves.
    pub(super) left: &'a AtomicBool,
}

impl Session<'_> {
    /// Hands a mail in, and says what became of it.
    pub(super) async fn hand_in(&self, envelope: &Envelope, mail: &[u8]) -> Answer {
        let mut connection = match self.open().await {
            Ok(connection) => connection,
            // Whatever is wrong here is wrong with the connection and not with the mail: it can be mended, and the
            // mail is not to blame, whether the reply is a 4xx or a 5xx.
            Err((step, error)) => return retry(format!("{step}: {error}")),
        };
        let answer = match announce(&mut connection, envelope, mail).await {
            Ok(()) => {
                self.left.store(true, Ordering::Relaxed);
                transfer(&mut connection, mail).await
            }
            Err(answer) => answer,
        };
        // Beside, so that a slow farewell does not widen the gap between what was taken and what is recorded.
        tokio::spawn(async move {
            let _ = tokio::time::timeout(QUIT_TIMEOUT, connection.quit()).await;
        });
        answer
    }

    async fn open(&self) -> Result<AsyncSmtpConnection, (&'static str, Error)> {
        let (server, hello) = (&self.route.server, &self.route.hello);
        let at = (server.host.as_str(), server.port);
        let implicit = self.route.tls.clone().filter(|_| server.tls == SmtpTls::Tls);
        let connected = AsyncSmtpConnection::connect_tokio1(at, None, hello, implicit, None).await;
        let mut connection = connected.map_err(|error| ("no connection", error))?;
        if let (SmtpTls::StartTls, Some(tls)) = (server.tls, self.route.tls.clone()) {
            connection.starttls(tls, hello).await.map_err(|error| ("no TLS", error))?;
        }
        if let Some(login) = &server.login {
            let credentials = Credentials::new(login.user.clone(), login.password.expose().to_owned());
            let logged_in = connection.auth(DEFAULT_MECHANISMS, &credentials).await;
            logged_in.map_err(|error| ("the login was refused", error))?;
        }
        Ok(connection)
    }
}

/// Everything before the mail's own bytes. A reply here is about this mail: a 5xx is for ever.
async fn announce(
    connection: &mut AsyncSmtpConnection,
    envelope: &Envelope,
    mail: &[u8],
) -> Result<(), Answer> {
    let mut parameters = Vec::new();
    let ascii = |address: &Address| -> bool { AsRef::<str>::as_ref(address).is_ascii() };
    if !envelope.from().into_iter().chain(envelope.to()).all(ascii) {
        if !connection.server_info().supports_feature(Extension::SmtpUtfEight) {
            return Err(refused("the server takes no addresses beyond ASCII (SMTPUTF8)"));
        }
        parameters.push(MailParameter::SmtpUtfEight);
    }
    if !mail.is_ascii() && connection.server_info().supports_feature(Extension::EightBitMime) {
        parameters.push(MailParameter::Body(MailBodyParameter::EightBitMime));
    }
    let about = |step: &'static str| {
        move |error: Error| {
            let detail = format!("{step}: {error}");
            if error.is_permanent() { refused(detail) } else { retry(detail) }
        }
    };
    let mail_from = Mail::new(envelope.from().cloned(), parameters);
    connection.command(mail_from).await.map_err(about("the sender"))?;
    for to in envelope.to() {
        connection.command(Rcpt::new(to.clone(), Vec::new())).await.map_err(about("the recipient"))?;
    }
    connection.command(Data).await.map_err(about("the mail"))?;
    Ok(())
}

/// The mail's own bytes, and the reply to them. Without a reply it may have been taken.
async fn transfer(connection: &mut AsyncSmtpConnection, mail: &[u8]) -> Answer {
    match connection.message(mail).await {
        Ok(response) => done(format!("{} {}", response.code(), response.first_line().unwrap_or_default())),
        Err(error) if error.is_permanent() => refused(format!("the mail: {error}")),
        Err(error) if error.is_transient() => retry(format!("the mail: {error}")),
        Err(error) => uncertain(format!("no reply to the mail: {error}")),
    }
}
