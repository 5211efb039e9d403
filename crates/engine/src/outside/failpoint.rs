//! Points at which a test kills the process: as a power cut would, nothing is flushed and nobody says good-bye.
//!
//! Without the feature `failpoints`, which no released binary has, a point is nothing at all (SETTLED 21).

/// Between which steps of a try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "failpoints"), allow(dead_code))]
pub(super) enum Point {
    /// The lease is held; nothing is prepared.
    Claimed,
    /// What will be sent is stored; nothing has left.
    Prepared,
    /// The answer is here; nothing is recorded.
    Answered,
    /// The record is about to be written.
    Recording,
    /// It is written.
    Recorded,
}

/// Ends the process here, if `PAIDONCE_FAILPOINT` names this point.
#[cfg(feature = "failpoints")]
pub(super) fn at(point: Point) {
    let name = format!("{point:?}").to_lowercase();
    if std::env::var("PAIDONCE_FAILPOINT").is_ok_and(|wanted| wanted == name) {
        std::process::abort();
    }
}

/// Nothing.
#[cfg(not(feature = "failpoints"))]
pub(super) fn at(_: Point) {}
