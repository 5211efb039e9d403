//! What an answer's status means for a message. The table stands in docs/effects.md.

use paidonce_ledger::{Outcome, Timestamp};

/// No wait that a receiver asks for is longer: a day.
const WAIT_MAX_S: i64 = 86_400;

/// What a status says about a message that was sent.
#[must_use]
pub(super) fn outcome(status: u16, retry_after: Option<&str>, now: Timestamp) -> Outcome {
    let later = || Outcome::Retry(retry_after.and_then(|text| not_before(text, now)));
    match status {
        200..=299 => Outcome::Done,
        // Too slow, still busy with this key, too early, too many.
        408 | 409 | 425 | 429 => later(),
        // Said by somebody between us and the receiver, who does not know what became of it either.
        502 | 504 | 520..=527 => Outcome::Uncertain,
        500..=599 => later(),
        // Redirects are not followed, and a 4xx is the receiver's last word.
        _ => Outcome::Refused,
    }
}

/// What a status says about a message that was asked about.
#[must_use]
pub(super) fn whereabouts(status: u16) -> Outcome {
    match status {
        200..=299 => Outcome::Done,
        404 => Outcome::Retry(None),
        _ => Outcome::Uncertain,
    }
}

/// `Retry-After`: seconds, or a date.
#[must_use]
pub(crate) fn not_before(text: &str, now: Timestamp) -> Option<Timestamp> {
    let text = text.trim();
    let wait_s = match text.parse::<u32>() {
        Ok(seconds) => i64::from(seconds),
        Err(_) => jiff::fmt::rfc2822::parse(text).ok()?.timestamp().as_second() - now.0.div_euclid(1_000),
    };
    (wait_s > 0).then(|| now.plus_ms(wait_s.min(WAIT_MAX_S) * 1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_700_000_000_000);

    #[test]
    fn every_status_means_one_thing() {
        for (statuses, expected) in [
            (&[200, 201, 202, 204, 299][..], "done"),
            (&[408, 409, 425, 429, 500, 501, 503, 505, 599][..], "retry"),
            (&[502, 504, 520, 522, 524, 527][..], "uncertain"),
            (
                &[199, 300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 405, 410, 413, 422, 451, 600][..],
                "refused",
            ),
        ] {
            for status in statuses {
                assert_eq!(outcome(*status, None, NOW).as_str(), expected, "{status}");
            }
        }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date_and_never_more_than_a_day() {
        for (text, seconds) in [
            ("7", Some(7)),
            (" 120 ", Some(120)),
            ("999999999", Some(86_400)),
            ("Tue, 14 Nov 2023 22:13:50 GMT", Some(30)),
            ("Tue, 14 Nov 2023 22:13:10 GMT", None),
            ("0", None),
            ("-5", None),
            ("soon", None),
            ("", None),
        ] {
            let expected = Outcome::Retry(seconds.map(|seconds: i64| NOW.plus_ms(seconds * 1_000)));
            assert_eq!(outcome(429, Some(text), NOW), expected, "{text}");
            assert_eq!(outcome(503, Some(text), NOW), expected, "{text}");
        }
        assert_eq!(outcome(400, Some("7"), NOW), Outcome::Refused);
    }

    #[test]
    fn who_is_asked_says_yes_no_or_nothing() {
        assert_eq!(whereabouts(200), Outcome::Done);
        assert_eq!(whereabouts(404), Outcome::Retry(None));
        for status in [302, 401, 410, 429, 500, 502] {
            assert_eq!(whereabouts(status), Outcome::Uncertain, "{status}");
        }
    }
}
