//! A letter as a message of RFC 5322, made once: the same news gives the same bytes, without randomness.

use std::time::{Duration, UNIX_EPOCH};

use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Message, MessageBuilder, MultiPart, SinglePart};
use paidonce_engine::News;

use crate::effect::letter::{Letter, LetterSettings};

/// The message about something, with its envelope.
pub(super) fn render(settings: &LetterSettings, news: &News) -> Result<Vec<u8>, String> {
    settings.pack(news, |letter| message(settings, news, letter))
}

fn message(settings: &LetterSettings, news: &News, letter: Letter) -> Result<Vec<u8>, String> {
    let since = Duration::from_millis(u64::try_from(news.at.0).unwrap_or(0));
    let mut builder = Message::builder()
        .from(settings.from.clone())
        .to(letter.to)
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
