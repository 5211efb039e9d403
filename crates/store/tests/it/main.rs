//! Every store is handed to the suite that defines what a store is.

mod memory;
mod sqlite;
