//! The program, as a library so that tests and `checks` can run a server in-process.
//!
//! The only crate that knows argv, the environment, TOML files and sockets. Nothing here decides about payments:
//! it turns requests into the engine's commands and replies into answers.

pub mod certificate;
pub mod cli;
pub mod clock;
pub mod config;
mod delivery;
mod demo;
pub mod effect;
pub mod fresh;
pub mod http;
mod output;
pub mod provider;
mod reprocess;
mod scenario;
pub mod serve;
pub mod source;
pub mod store;
pub mod telemetry;
pub mod token;
