//! The real clock. Nothing else of the program asks what time it is.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use paidonce_engine::{Clock, Sleep};
use paidonce_ledger::Timestamp;

/// The operating system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }
}

impl SystemClock {
    /// Seconds since the Unix epoch, as signatures count.
    #[must_use]
    pub fn now_unix_s() -> i64 {
        Self.now().0 / 1000
    }
}

/// A moment as RFC 3339 text in UTC, with milliseconds.
#[must_use]
pub fn rfc3339(at: Timestamp) -> String {
    match jiff::Timestamp::from_millisecond(at.0) {
        Ok(moment) => format!("{moment:.3}"),
        Err(_) => format!("{} ms", at.0),
    }
}

/// Reads RFC 3339 text. A moment without an offset is none.
#[must_use]
pub fn parse_rfc3339(text: &str) -> Option<Timestamp> {
    text.parse::<jiff::Timestamp>().ok().map(|moment| Timestamp(moment.as_millisecond()))
}
