//! What the program tells about itself: logs for people, figures for machines.
//!
//! Neither ever holds a body, a signature, a secret or a customer (P14): events carry ids and outcomes only.

mod metrics;
mod outside;

use std::io::IsTerminal as _;

use tracing::Subscriber;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, Registry, fmt};

pub use metrics::{Metrics, RouteLabels, SourceMetrics};

use crate::config::{LogConfig, LogFormat};

/// What our own crates' lines are logged under.
const OURS: &str = "paidonce";

/// Writes the log to standard error, for the rest of the process.
///
/// # Errors
/// A log was set up before.
pub fn init(config: &LogConfig) -> Result<(), String> {
    let log = log(config, std::io::stderr, std::io::stderr().is_terminal());
    log.try_init().map_err(|error| error.to_string())
}

/// P14: only our own lines. Libraries log what they are given: messages that a broker returned, frames that hold a
/// password. What they have to say about a try is in its answer.
fn log<W>(config: &LogConfig, writer: W, colours: bool) -> impl Subscriber + Send + Sync
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let layer = fmt::layer().with_writer(writer).with_target(false).with_ansi(colours);
    let layer = match config.format {
        LogFormat::Human => layer.boxed(),
        LogFormat::Json => layer.json().flatten_event(true).boxed(),
    };
    Registry::default().with(layer.with_filter(Targets::new().with_target(OURS, config.level)))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::sync::Arc;

    use tracing::level_filters::LevelFilter;

    use super::*;

    #[test]
    fn p14_libraries_lines_are_not_logged() {
        for format in [LogFormat::Human, LogFormat::Json] {
            let file = tempfile::NamedTempFile::new().unwrap();
            let writer = Arc::new(File::create(file.path()).unwrap());
            let config = LogConfig { format, level: LevelFilter::INFO };
            tracing::subscriber::with_default(log(&config, writer, false), || {
                tracing::warn!(target: "lapin::returned_messages", "a customer's name");
                tracing::info!(target: "paidonce_engine::worker", "of the engine");
                tracing::info!("of the program");
                tracing::debug!("of no interest");
            });
            let log = std::fs::read_to_string(file.path()).unwrap();
            assert_eq!(log.lines().count(), 2, "{log}");
            assert!(log.contains("of the engine") && log.contains("of the program"), "{log}");
        }
    }
}
