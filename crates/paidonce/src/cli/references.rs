//! `paidonce references`: tell which of a provider's objects were made for an order.

use clap::Subcommand;

use super::argument::reference;
use super::context::Context;
use super::orders::shown;
use crate::http::dto::ReferenceRequest;
use crate::output::{Exit, Failure};

/// What to do with references.
#[derive(Debug, Subcommand)]
pub(super) enum ReferencesCommand {
    /// Register a payment, session, invoice or address for an order. Payments that wait for it bind at once.
    Add {
        /// The order's id.
        order: String,
        /// The source and the provider's id, with the amount that is expected of it if that is not the total.
        #[arg(value_name = "SOURCE=ID[=\"19.90 EUR\"]", value_parser = reference)]
        reference: ReferenceRequest,
    },
}

pub(super) fn run(command: &ReferencesCommand, context: &Context) -> Result<Exit, Failure> {
    let ReferencesCommand::Add { order, reference } = command;
    context.output.show(&context.transport()?.register(order, reference)?, shown);
    Ok(Exit::Ok)
}
