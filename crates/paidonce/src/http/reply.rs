//! From a command's reply to a status: each business refusal has its own, and none is an error of the server.

use axum::http::StatusCode;
use paidonce_engine::{Engine, SubmitError};
use paidonce_ledger::{Command, Refusal as Refused, Reply};
use paidonce_store::{StoreError, StoreErrorKind};

use super::problem::Refusal;
use crate::reprocess::Fault;

/// Submits a command; a business refusal becomes a problem.
pub(super) async fn submit(engine: &Engine, command: Command) -> Result<Reply, Refusal> {
    let (name, subject) = (command.name(), command.subject());
    match engine.submit(command).await {
        Ok(Reply::Refused(refused)) => {
            tracing::info!(command = name, subject, outcome = refused.code(), "refused");
            Err(refusal(&refused))
        }
        Ok(reply) => {
            tracing::info!(command = name, subject, outcome = "done", "committed");
            Ok(reply)
        }
        Err(error) => Err(not_submitted(&error)),
    }
}

/// A reply that the command cannot have: a bug of ours.
pub(super) fn unexpected(reply: &Reply) -> Refusal {
    tracing::error!(?reply, "a command was answered with another command's reply");
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "this is a bug of paidonce; please report it")
}

fn refusal(refused: &Refused) -> Refusal {
    let status = match refused {
        Refused::CommandReused => StatusCode::UNPROCESSABLE_ENTITY,
        Refused::UnknownOrder
        | Refused::UnknownTask
        | Refused::UnknownKey
        | Refused::UnknownPayment
        | Refused::UnknownCase
        | Refused::UnknownEvent
        | Refused::NotGranted => StatusCode::NOT_FOUND,
        Refused::OrderExists
        | Refused::ReferenceTaken { .. }
        | Refused::ReferenceDiffers
        | Refused::AlreadyGranted
        | Refused::NotUnpaid
        | Refused::NotForSale { .. }
        | Refused::NoPrice { .. }
        | Refused::PriceDiffers { .. }
        | Refused::OutOfStock { .. }
        | Refused::StockTaken { .. }
        | Refused::TaskNotRetryable { .. }
        | Refused::LeaseLost
        | Refused::Superseded
        | Refused::NotWanted
        | Refused::KeyExists
        | Refused::CaseEnded
        | Refused::NotAPayment
        | Refused::OlderSnapshot { .. }
        | Refused::NeverAsked
        | Refused::OtherBytes
        | Refused::AlreadyApplied
        | Refused::NotOfThisOrder
        | Refused::RowDiffers => StatusCode::CONFLICT,
    };
    Refusal::new(status, refused.code(), refused.to_string())
}

/// Nothing was committed, or it is safe to send it again.
pub(super) fn not_submitted(error: &SubmitError) -> Refusal {
    match error {
        SubmitError::Full => Refusal::unavailable("too many commands are waiting; try again in a moment"),
        SubmitError::Stopped => Refusal::unavailable("the server is stopping"),
        SubmitError::Store(error) => {
            tracing::error!(%error, "a command cannot be committed");
            Refusal::unavailable("the store does not answer")
        }
    }
}

/// Stored events that were not all read again.
pub(super) fn not_reprocessed(fault: &Fault) -> Refusal {
    match fault {
        Fault::UnknownEvent => Refusal::not_found("unknown_event", "there is no such event"),
        Fault::Store(error) => not_answered(error),
        Fault::Submit(error) => not_submitted(error),
    }
}

/// A question that the store did not answer.
pub(super) fn not_answered(error: &StoreError) -> Refusal {
    if error.kind() == StoreErrorKind::Usage {
        return Refusal::mistake("after", error);
    }
    tracing::error!(%error, "the store does not answer");
    Refusal::unavailable("the store does not answer")
}
