//! A letter as a message of RFC 5322, made once: the same news gives the same bytes, without randomness.

use std::time::{Duration, UNIX_EPOCH};

use lettre::address::Envelope;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message, MultiPart, SinglePart};
use lettre::{Address, message::MessageBuilder};
use paidonce_engine::News;
use serde::{Deserialize, Serialize};

use crate::effect::letter::{Letter, LetterSettings};
use crate::effect::parcel::Parcel;

/// Who hands a message to whom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    from: String,
    /// Nobody, if `nobody` says why.
    to: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nobody: Option<String>,
}

impl Head {
    /// The envelope; or why there is none.
    pub(super) fn envelope(&self) -> Result<Envelope, String> {
        if let Some(nobody) = &self.nobody {
            return Err(nobody.clone());
        }
        let unreadable = |_| "the stored request holds what is no address".to_owned();
        let from = self.from.parse::<Address>().map_err(unreadable)?;
        let to = self.to.iter().map(|to| to.parse::<Address>().map_err(unreadable));
        let to = to.collect::<Result<Vec<_>, _>>()?;
        Envelope::new(Some(from), to).map_err(|_| "the stored request has no recipient".to_owned())
    }
}

/// The message about something, with its envelope. Without a recipient there is no message, and the reason instead.
pub(super) fn render(settings: &LetterSettings, news: &News) -> Result<Vec<u8>, String> {
    let letter = settings.write(news)?;
    let from = settings.from.email.to_string();
    let parcel = match letter.to.clone() {
        Ok(to) => {
            let head = Head { from, to: vec![to.email.to_string()], nobody: None };
            Parcel { head, content: message(settings, news, letter, to)? }
        }
        Err(nobody) => {
            let head = Head { from, to: Vec::new(), nobody: Some(nobody.to_owned()) };
            Parcel { head, content: Vec::new() }
        }
    };
    parcel.pack()
}

fn message(settings: &LetterSettings, news: &News, letter: Letter, to: Mailbox) -> Result<Vec<u8>, String> {
    let since = Duration::from_millis(u64::try_from(news.at.0).unwrap_or(0));
    let mut builder = Message::builder()
        .from(settings.from.clone())
        .to(to)
        .subject(letter.subject)
        .date(UNIX_EPOCH + since)
        // P11: whoever compares Message-IDs sees a repeat.
        .message_id(Some(format!("<{}@{}>", news.key, settings.from.email.domain())));
    if let Some(reply_to) = &settings.reply_to {
        builder = builder.reply_to(reply_to.clone());
    }
    builder = header(builder, "Auto-Submitted", "auto-generated");
    builder = header(builder, "Paidonce-Key", &news.key);
    builder = header(builder, "Paidonce-Revision", &news.revision.to_string());
    let text = SinglePart::builder().header(ContentType::TEXT_PLAIN).body(letter.text);
    let built = match letter.html {
        // The boundary is the key's, not a random one.
        Some(html) => builder.multipart(
            MultiPart::alternative()
                .boundary(format!("={}", news.key))
                .singlepart(text)
                .singlepart(SinglePart::builder().header(ContentType::TEXT_HTML).body(html)),
        ),
        None => builder.singlepart(text),
    };
    built.map(|message| message.formatted()).map_err(|error| format!("the mail cannot be made: {error}"))
}

fn header(builder: MessageBuilder, name: &'static str, value: &str) -> MessageBuilder {
    builder.raw_header(HeaderValue::new(HeaderName::new_from_ascii_str(name), value.to_owned()))
}
