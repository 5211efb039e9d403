//! Effects from outside: real receivers on real sockets, real processes that are killed and stopped.

mod crash;
mod http;
mod lookup;
mod receiver;
mod stopped;
mod story;
