//! The crate from outside: bytes and headers in, notices or a refusal out. One binary, a module for each subject.

// Helpers of tests are tests: they may unwrap, though no attribute tells clippy so.
#![allow(clippy::unwrap_used)]

mod arbitrary;
mod batch;
mod bits;
mod code;
mod contract;
mod covered;
mod flipped;
mod generic;
mod lookup;
mod overlay_sources;
mod providers;
mod recent;
mod samples;
mod secrets;
mod stored;
mod stripe;
mod support;
mod unreadable;
mod vectors;
mod window;
