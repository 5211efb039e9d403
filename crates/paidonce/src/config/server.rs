//! `[server]`: where to listen, and what a connection may cost.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use super::secret::{self, SecretRef};
use super::section::Section;

/// The `[server]` section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// What the internet may reach: `/in` and `/healthz` if there is a private listener, else everything.
    pub public: SocketAddr,
    /// Where `/v1`, `/metrics` and the rest answer.
    pub private: Option<SocketAddr>,
    /// Secrets that buyers' tokens are derived with, the current one first. Without one there are no tokens.
    pub token_secrets: Vec<SecretRef>,
    /// The largest request body, in bytes.
    pub body_max: usize,
    /// Connections at once, over both listeners. More wait to be accepted.
    pub connections_max: usize,
    /// How long a request's headers may take.
    pub header_timeout: Duration,
    /// How long a request's body may take, all of it.
    pub body_timeout: Duration,
    /// How long a connection may stand idle between requests.
    pub idle_timeout: Duration,
    /// How long a stop waits for requests in flight.
    pub stop_timeout: Duration,
}

const SECONDS: std::ops::RangeInclusive<u64> = 1..=3600;

impl ServerConfig {
    pub(super) fn read(section: Section<'_>, folder: &Path) -> Self {
        let address = |key| {
            section.parsed(key, |text| {
                text.parse::<SocketAddr>()
                    .map_err(|_| "write address and port, for example \"127.0.0.1:8080\"")
            })
        };
        let seconds = |key, default| Duration::from_secs(section.number(key, default, SECONDS));
        let size = |key, default, most| {
            usize::try_from(section.number(key, default, 1..=most)).unwrap_or(usize::MAX)
        };
        let config = Self {
            public: address("public").unwrap_or(SocketAddr::from(([127, 0, 0, 1], 8080))),
            private: address("private"),
            token_secrets: secret::places(&section, "token_secrets", folder),
            body_max: size("body_max", 1024 * 1024, 64 * 1024 * 1024),
            connections_max: size("connections_max", 1024, 1_000_000),
            header_timeout: seconds("header_timeout_s", 5),
            body_timeout: seconds("body_timeout_s", 10),
            idle_timeout: seconds("idle_timeout_s", 30),
            stop_timeout: seconds("stop_timeout_s", 10),
        };
        section.finish();
        config
    }

    pub(super) fn show(&self, out: &mut String) {
        let _ = writeln!(out, "[server]\npublic = \"{}\"", self.public);
        if let Some(private) = self.private {
            let _ = writeln!(out, "private = \"{private}\"");
        }
        if !self.token_secrets.is_empty() {
            let _ = writeln!(out, "token_secrets = {}", secret::shown(&self.token_secrets));
        }
        let _ = writeln!(out, "body_max = {}\nconnections_max = {}", self.body_max, self.connections_max);
        for (key, time) in [
            ("header_timeout_s", self.header_timeout),
            ("body_timeout_s", self.body_timeout),
            ("idle_timeout_s", self.idle_timeout),
            ("stop_timeout_s", self.stop_timeout),
        ] {
            let _ = writeln!(out, "{key} = {}", time.as_secs());
        }
    }
}
