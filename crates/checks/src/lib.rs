//! What watches the other crates: the benchmark's harness, and tidy tests over the tree.
//!
//! Nothing depends on it, and it promises nothing to anybody. `cargo bench -p paidonce-checks` measures admission
//! beside the naive handlers of `bench/`; `cargo test -p paidonce-checks` reads the tree.

pub mod arguments;
pub mod build;
pub mod database;
pub mod drain;
pub mod latency;
pub mod outcome;
pub mod preload;
pub mod quiet;
pub mod receipt;
pub mod report;
pub mod rows;
pub mod side;
