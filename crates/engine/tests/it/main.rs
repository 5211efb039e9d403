//! The engine from outside: batches, poison, panics, a full queue, stopping, and grants.

mod commit;
mod faulty;
mod story;
mod worker;
