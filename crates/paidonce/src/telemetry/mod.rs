//! What the program tells about itself: logs for people, figures for machines.
//!
//! Neither ever holds a body, a signature, a secret or a customer (P14): events carry ids and outcomes only.

mod metrics;
mod outside;

use std::io::IsTerminal as _;

pub use metrics::{Metrics, RouteLabels, SourceMetrics};

use crate::config::{LogConfig, LogFormat};

/// Writes the log to standard error, for the rest of the process.
///
/// # Errors
/// A log was set up before.
pub fn init(config: &LogConfig) -> Result<(), String> {
    let builder = tracing_subscriber::fmt()
        .with_max_level(config.level)
        .with_writer(std::io::stderr)
        .with_target(false)
        .with_ansi(std::io::stderr().is_terminal());
    let done = match config.format {
        LogFormat::Human => builder.try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    done.map_err(|error| error.to_string())
}
