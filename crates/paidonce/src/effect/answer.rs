//! What came of a try, in words for people: one line, capped, and without the secrets that it was sent with (P14).

use paidonce_contracts::Secret;
use paidonce_engine::Answer;
use paidonce_ledger::{Outcome, Timestamp};

/// The most characters that a detail keeps.
pub const DETAIL_CHARS_MAX: usize = 500;

/// The receiver has it.
#[must_use]
pub fn done(detail: impl AsRef<str>) -> Answer {
    answer(Outcome::Done, detail)
}

/// The receiver does not have it, and may take it later.
#[must_use]
pub fn retry(detail: impl AsRef<str>) -> Answer {
    answer(Outcome::Retry(None), detail)
}

/// The receiver does not have it, and said when to come again.
#[must_use]
pub fn retry_at(at: Option<Timestamp>, detail: impl AsRef<str>) -> Answer {
    answer(Outcome::Retry(at), detail)
}

/// It may have arrived.
#[must_use]
pub fn uncertain(detail: impl AsRef<str>) -> Answer {
    answer(Outcome::Uncertain, detail)
}

/// The receiver will never take it.
#[must_use]
pub fn refused(detail: impl AsRef<str>) -> Answer {
    answer(Outcome::Refused, detail)
}

/// There is nothing that could carry it out.
#[must_use]
pub fn not_configured(detail: impl AsRef<str>) -> Answer {
    answer(Outcome::NotConfigured, detail)
}

fn answer(outcome: Outcome, detail: impl AsRef<str>) -> Answer {
    Answer { outcome, detail: detail.as_ref().to_owned() }
}

/// An answer as it may be stored and shown: secrets and addresses masked (receivers and libraries sometimes repeat
/// what they were given), then one line of at most [`DETAIL_CHARS_MAX`] characters. Masked first, because a cut
/// through the middle of a secret would hide it from the mask and not from the reader.
#[must_use]
pub fn shown<'a>(answer: Answer, masks: impl IntoIterator<Item = Mask<'a>>) -> Answer {
    let hide = |text: String, mask: Mask<'_>| match mask {
        Mask::Secret(secret) => text.replace(secret.expose(), "***"),
        Mask::Recipient(address) => text.replace(address, "<recipient>"),
    };
    let detail = line(&masks.into_iter().fold(answer.detail, hide));
    Answer { outcome: answer.outcome, detail }
}

/// What an answer must not show.
#[derive(Debug, Clone, Copy)]
pub enum Mask<'a> {
    /// What it was sent with.
    Secret(&'a Secret),
    /// Whom it was sent to.
    Recipient(&'a str),
}

/// One line: what a receiver answered is shown on terminals and pages.
fn line(text: &str) -> String {
    let plain = text.split(|c: char| c.is_control() || c.is_whitespace()).filter(|word| !word.is_empty());
    let joined = plain.collect::<Vec<_>>().join(" ");
    match joined.char_indices().nth(DETAIL_CHARS_MAX - 1) {
        // There is a last character that still fits; if more follow it, it makes room for the mark.
        Some((at, last)) if at + last.len_utf8() < joined.len() => format!("{}…", &joined[..at]),
        _ => joined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail(said: &str, masks: &[Mask<'_>]) -> String {
        shown(retry(said), masks.iter().copied()).detail
    }

    #[test]
    fn a_detail_is_one_line_of_bounded_length() {
        assert_eq!(detail("451 4.3.0\r\n\tBcc: x\u{1b}[31m", &[]), "451 4.3.0 Bcc: x [31m");
        let fits = "ä".repeat(DETAIL_CHARS_MAX);
        assert_eq!(detail(&fits, &[]), fits);
        let cut = detail(&format!("{fits}ä"), &[]);
        assert_eq!(cut.chars().count(), DETAIL_CHARS_MAX);
        assert!(cut.ends_with('…'));
    }

    #[test]
    fn p14_what_is_repeated_to_us_is_not_repeated_by_us() {
        let secret = Secret::new("hunter2");
        let masks = [Mask::Secret(&secret), Mask::Recipient("a@example.org")];
        assert_eq!(detail("535 shop hunter2: no <a@example.org>", &masks), "535 shop ***: no <<recipient>>");
        let long = format!("{}hunter2", "x".repeat(DETAIL_CHARS_MAX - 4));
        assert!(!detail(&long, &masks).contains("hun"), "a cut shows no half of it");
    }
}
