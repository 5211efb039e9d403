//! `[log]`: how and how much is logged. What may never be logged is no setting.

use std::fmt::Write as _;

use tracing::level_filters::LevelFilter;

use super::section::Section;

/// The `[log]` section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogConfig {
    /// For whom.
    pub format: LogFormat,
    /// From which severity on.
    pub level: LevelFilter,
}

/// For whom the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Lines for people.
    Human,
    /// One JSON object a line.
    Json,
}

const FORMATS: &[(&str, LogFormat)] = &[("human", LogFormat::Human), ("json", LogFormat::Json)];
const LEVELS: &[(&str, LevelFilter)] = &[
    ("off", LevelFilter::OFF),
    ("error", LevelFilter::ERROR),
    ("warn", LevelFilter::WARN),
    ("info", LevelFilter::INFO),
    ("debug", LevelFilter::DEBUG),
];

impl LogConfig {
    pub(super) fn read(section: Section<'_>) -> Self {
        let config = Self {
            format: section.choice("format", LogFormat::Human, FORMATS),
            level: section.choice("level", LevelFilter::INFO, LEVELS),
        };
        section.finish();
        config
    }

    pub(super) fn show(&self, out: &mut String) {
        let format = super::word_of(FORMATS, &self.format);
        let _ = writeln!(out, "\n[log]\nformat = \"{format}\"\nlevel = \"{}\"", self.level);
    }
}
