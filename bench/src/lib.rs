//! What the naive sides and the load generator share. No crate of paidonce is used here.

pub mod admission;
pub mod arguments;
pub mod report;
pub mod shop;
pub mod signature;
pub mod write;
