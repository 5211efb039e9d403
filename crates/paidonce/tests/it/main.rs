//! The program from outside: real servers, real sockets, real stores. One module per group of routes, named alike.

// Clippy takes only the bodies of `#[test]` functions for tests; all of this crate is one.
#![allow(clippy::unwrap_used)]

mod auth;
mod cases;
mod cli;
mod config;
mod connection;
mod demo;
mod destination;
mod effect;
mod entitlements;
mod events;
mod health;
mod incoming;
mod kill;
mod logs;
mod malformed;
mod mine;
mod operator;
mod orders;
mod outside;
mod products;
mod providers;
mod reprocess;
mod shop;
mod tasks;
mod wire;
