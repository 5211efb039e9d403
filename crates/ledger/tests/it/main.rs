//! The ledger's properties, from outside: permutations, lazily loaded ledgers, and what each command may change.

mod lazy;
mod permutation;
mod picture;
