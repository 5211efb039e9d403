//! The ledger's properties, from outside: permutations, lazily loaded ledgers, and what each command may change.
// Helpers of tests are tests: what they expect is what they assert.
#![allow(clippy::unwrap_used)]

mod import;
mod lazy;
mod permutation;
mod picture;
mod rows;
mod standing;
