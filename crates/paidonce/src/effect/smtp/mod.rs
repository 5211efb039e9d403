//! E-mail by SMTP. A mail is made whole once and sent byte for byte at every try, under one Message-ID; SMTP has no
//! keys, so what may have been taken is not sent again by itself (P11).

mod message;
mod session;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use lettre::Address;
use lettre::address::Envelope;
use lettre::transport::smtp::client::{Certificate, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use paidonce_engine::{Answer, Answering, Destination, News, Sending};

use super::answer::{Mask, not_configured, refused, retry, shown, uncertain};
use super::certificate;
use super::deadline::by;
use super::letter::{Head, LetterSettings};
use super::login::Login;
use super::parcel::Parcel;
use session::Session;

/// How the connection is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmtpTls {
    /// The connection begins in the clear and is upgraded, or nothing is sent (port 587).
    StartTls,
    /// TLS from the first byte (port 465).
    Tls,
    /// None: for a relay on the same machine or network.
    None,
}

/// Where mails are handed in.
#[derive(Debug, Clone)]
pub struct SmtpServer {
    /// Its name, which its certificate must have.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How the connection is protected.
    pub tls: SmtpTls,
    /// How to log in, if one must.
    pub login: Option<Login>,
    /// A file with a certificate in PEM that is trusted besides the system's.
    pub ca_file: Option<PathBuf>,
}

/// What `kind = "smtp"` needs.
#[derive(Debug, Clone)]
pub struct SmtpSettings {
    /// Where mails are handed in; `None` while that is not configured.
    pub server: Option<SmtpServer>,
    /// What they say and who gets them.
    pub letter: LetterSettings,
}

/// Mails by SMTP.
pub struct Smtp {
    letter: LetterSettings,
    route: Option<Route>,
}

/// A server that can be spoken to.
struct Route {
    server: SmtpServer,
    tls: Option<TlsParameters>,
    hello: ClientId,
}

impl Smtp {
    /// Prepares what a connection needs; opens none.
    ///
    /// # Errors
    /// A certificate that cannot be read, or a password that would travel in the clear.
    pub fn new(settings: SmtpSettings) -> Result<Self, String> {
        let hello = ClientId::Domain(settings.letter.from.email.domain().to_owned());
        let route = |server: SmtpServer| {
            if server.tls == SmtpTls::None && server.login.is_some() {
                return Err(
                    "a password is not sent without TLS: remove the login or tls = \"none\"".to_owned()
                );
            }
            let tls = if server.tls == SmtpTls::None { None } else { Some(tls(&server)?) };
            Ok(Route { server, tls, hello })
        };
        Ok(Self { route: settings.server.map(route).transpose()?, letter: settings.letter })
    }

    async fn deliver(&self, sending: Sending) -> Answer {
        let Some(route) = &self.route else {
            return shown(not_configured("no SMTP server is configured"), []);
        };
        let read = Parcel::<Head>::unpack(sending.body.bytes());
        let (envelope, mail) = match read.and_then(|parcel| Ok((envelope(&parcel.head)?, parcel.content))) {
            Ok(read) => read,
            Err(why) => return shown(refused(why), []),
        };
        let left = AtomicBool::new(false);
        let session = Session { route, left: &left };
        let said = by(sending.deadline, session.hand_in(&envelope, &mail)).await;
        let answer = said.unwrap_or_else(|| match left.load(Ordering::Relaxed) {
            true => uncertain("the mail was handed over, and nothing was answered in time"),
            false => retry("no time was left to hand the mail over: the server is slow or silent"),
        });
        let secrets = route.server.login.iter().map(|login| Mask::Secret(&login.password));
        let recipients = envelope.to().iter().map(|to| Mask::Recipient(to.as_ref()));
        shown(answer, secrets.chain(recipients))
    }
}

impl Destination for Smtp {
    fn objection(&self, news: &News) -> Option<String> {
        self.letter.objection(news)
    }

    fn render(&self, news: &News) -> Result<Vec<u8>, String> {
        message::render(&self.letter, news)
    }

    fn send(&self, sending: Sending) -> Answering<'_> {
        Box::pin(self.deliver(sending))
    }
}

/// The envelope of what is stored.
fn envelope(head: &Head) -> Result<Envelope, String> {
    let address = |text: &String| {
        text.parse::<Address>().map_err(|_| "the stored request holds what is no address".to_owned())
    };
    let to = head.to.iter().map(address).collect::<Result<Vec<_>, _>>()?;
    Envelope::new(Some(address(&head.from)?), to)
        .map_err(|_| "the stored request has no recipient".to_owned())
}

fn tls(server: &SmtpServer) -> Result<TlsParameters, String> {
    let mut builder = TlsParameters::builder(server.host.clone());
    if let Some(file) = &server.ca_file {
        let certificate = Certificate::from_pem(certificate::read(file)?.as_bytes());
        let unusable = |error| format!("the ca_file {}: {error}", file.display());
        builder = builder.add_root_certificate(certificate.map_err(unusable)?);
    }
    builder.build().map_err(|error| format!("TLS for {}: {error}", server.host))
}
