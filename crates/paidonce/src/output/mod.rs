//! Everything the command line prints, in one place: tables for people, JSON for programs, errors on stderr.
//!
//! It knows no command and decides nothing. A closed pipe (`paidonce events list | head`) ends the printing, not
//! the program.

mod error;
mod progress;
mod table;

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

pub(crate) use error::{Exit, Failure};
pub(crate) use progress::Progress;
pub(crate) use table::{Table, plain};

/// Where a command's results go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    /// JSON instead of tables.
    pub(crate) json: bool,
}

impl Output {
    /// A value as JSON, or what `people` makes of it.
    pub(crate) fn show<T: Serialize>(self, value: &T, people: impl FnOnce(&T) -> String) {
        if self.json {
            self.json(value);
        } else {
            self.text(&people(value));
        }
    }

    /// A value as indented JSON.
    pub(crate) fn json<T: Serialize>(self, value: &T) {
        let text =
            serde_json::to_string_pretty(value).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"));
        self.text(&text);
    }

    /// A value as JSON on one line, for whoever reads line by line.
    pub(crate) fn json_line<T: Serialize>(self, value: &T) {
        self.text(&serde_json::to_string(value).unwrap_or_default());
    }

    /// Text, with a line end if it has none.
    pub(crate) fn text(self, text: &str) {
        let mut out = io::stdout().lock();
        let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
        // Nobody is left to tell when the reader has gone.
        let _ = write!(out, "{text}{end}").and_then(|()| out.flush());
    }

    /// Bytes as they are.
    pub(crate) fn bytes(self, bytes: &[u8]) {
        let mut out = io::stdout().lock();
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    }

    /// A failure: what happened, and what to do.
    pub(crate) fn failure(self, failure: &Failure) {
        self.remark(&failure.to_string());
    }

    /// A remark that is no result: on stderr, so that it never mixes with what a program reads.
    pub(crate) fn remark(self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }
}

/// The terminal's width in columns; `None` if nobody is watching, and nothing has to fit.
pub(crate) fn width() -> Option<u16> {
    if !io::stdout().is_terminal() {
        return None;
    }
    terminal_size::terminal_size().map(|(terminal_size::Width(columns), _)| columns)
}
