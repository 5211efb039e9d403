//! The outside effects: each is a [`Destination`](paidonce_engine::Destination) that renders a message once, sends it
//! by a deadline, and says honestly what may have arrived. When to try, how often and what is safe to repeat is
//! the ledger's to decide, not theirs.

pub mod answer;
mod broker;
mod certificate;
pub mod configured;
mod deadline;
pub mod http;
pub mod letter;
mod link;
pub mod login;
pub mod nats;
pub mod outbound;
pub mod parcel;
pub mod rabbitmq;
pub mod resend;
pub mod sample;
pub mod smtp;
pub mod telling;
pub mod template;
