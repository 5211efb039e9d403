//! How far long work has come, on a terminal only.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// Between two updates. Faster ones cost time and cannot be read.
const INTERVAL: Duration = Duration::from_millis(100);

/// A line that is written over.
pub(crate) struct Progress {
    what: &'static str,
    total: Option<usize>,
    shown: Option<Instant>,
    visible: bool,
}

impl Progress {
    /// Progress of `total` steps. Nothing is shown for work that ends at once, nor to nobody.
    pub(crate) fn new(what: &'static str, total: usize) -> Self {
        Self { what, total: Some(total), shown: None, visible: total > 1 && io::stderr().is_terminal() }
    }

    /// Progress of work whose end is not known before it is reached.
    pub(crate) fn open(what: &'static str) -> Self {
        Self { what, total: None, shown: None, visible: io::stderr().is_terminal() }
    }

    /// `done` of the steps are done.
    pub(crate) fn at(&mut self, done: usize) {
        if !self.visible || self.shown.is_some_and(|at| at.elapsed() < INTERVAL) {
            return;
        }
        self.shown = Some(Instant::now());
        let of = self.total.map(|total| format!("/{total}")).unwrap_or_default();
        let _ = write!(io::stderr().lock(), "\r\u{1b}[K{} {done}{of}", self.what);
    }

    /// Wipes the line, so that what is printed next stands alone.
    pub(crate) fn clear(&mut self) {
        if self.shown.take().is_some() {
            let _ = write!(io::stderr().lock(), "\r\u{1b}[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
