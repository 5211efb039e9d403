//! What is true about payments and orders, and what to do about it.
//!
//! Pure: no clock, no I/O, no async, no randomness, no floats, no hash maps.

pub mod digest;
pub mod fact;
pub mod id;
pub mod money;
pub mod notice;
