//! What NATS and RabbitMQ share: one message for a broker, made once.

use std::collections::BTreeMap;

use paidonce_engine::{News, Sending};
use paidonce_ledger::Happening;
use serde::{Deserialize, Serialize};

use super::parcel::Parcel;
use super::sample::samples;
use super::telling::Telling;
use super::template::Template;

/// The most bytes of a subject or routing key: AMQP's bound.
const ADDRESS_BYTES_MAX: usize = 255;

/// Where a message goes, and what goes beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    /// The subject or routing key.
    pub(super) to: String,
    /// What happened.
    pub(super) happening: String,
    /// When, in milliseconds since the Unix epoch.
    pub(super) at_ms: i64,
}

/// The message about something: its default JSON, under the address that the template gives.
pub(super) fn render(to: &Template, news: &News) -> Result<Vec<u8>, String> {
    let telling = Telling::of(news);
    let to = address(to.render(&telling)?)?;
    let head = Head { to, happening: telling.happening.to_owned(), at_ms: news.at.0 };
    Parcel { head, content: telling.to_json()? }.pack()
}

/// Tries an address's template with everything that it will be used for.
pub(super) fn try_for(to: &Template, all: &[Option<Happening>]) -> Result<(), String> {
    to.try_for(all.iter().copied())?;
    let all = all.iter().copied().flat_map(samples);
    all.map(|telling| address(to.render(&telling)?)).try_for_each(|tried| tried.map(|_| ()))
}

/// Refuses what no broker takes as one address, or takes as many.
fn address(text: String) -> Result<String, String> {
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '*' | '>' | '#');
    let parts = || text.split('.').all(|part| !part.is_empty());
    if text.len() <= ADDRESS_BYTES_MAX && text.chars().all(plain) && parts() {
        return Ok(text);
    }
    Err(format!(
        "{text:?} is no address of a message: write words with dots between, without blanks, *, > and #"
    ))
}

/// What every try carries beside the message.
pub(super) fn headers(head: &Head, sending: &Sending) -> BTreeMap<&'static str, String> {
    let mut headers = BTreeMap::from([
        ("Idempotency-Key", sending.key.clone()),
        ("Paidonce-Happening", head.happening.clone()),
        ("Paidonce-Revision", sending.revision.to_string()),
    ]);
    // Whoever placed the order wrote it: a line break in it would be more headers.
    let trace = sending.trace.as_deref().filter(|trace| trace.bytes().all(|byte| byte.is_ascii_graphic()));
    headers.extend(trace.map(|trace| ("traceparent", trace.to_owned())));
    headers
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use paidonce_ledger::Body;

    use super::*;

    #[test]
    fn nothing_that_a_stranger_wrote_becomes_more_headers() {
        let head = Head { to: "orders".to_owned(), happening: "order_paid".to_owned(), at_ms: 0 };
        let headers = |trace: &str| {
            headers(
                &head,
                &Sending {
                    key: "po_1".to_owned(),
                    body: Body::new(Vec::new()),
                    revision: 3,
                    attempt: 1,
                    trace: Some(trace.into()),
                    deadline: Instant::now(),
                },
            )
        };
        assert_eq!(
            headers("00-4bf9-00f0-01").get("traceparent").map(String::as_str),
            Some("00-4bf9-00f0-01")
        );
        for wrong in ["00\r\nNats-Msg-Id: other", "a b", "ä"] {
            let headers = headers(wrong);
            assert_eq!(
                headers.keys().copied().collect::<Vec<_>>(),
                ["Idempotency-Key", "Paidonce-Happening", "Paidonce-Revision"]
            );
        }
    }

    #[test]
    fn an_address_is_one_address() {
        for right in ["orders", "paidonce.order_paid", "a-b.c_d.Ä"] {
            assert_eq!(address(right.to_owned()).as_deref(), Ok(right));
        }
        let long = "x".repeat(ADDRESS_BYTES_MAX + 1);
        for wrong in ["", "a..b", ".a", "a.", "a b", "a\r\nPUB b", "a.*", "a.>", "#", &long] {
            assert!(address(wrong.to_owned()).is_err(), "{wrong:?}");
        }
    }
}
