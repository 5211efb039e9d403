//! `paidonce orders mark-paid` and its like: money that moved outside any provider.

use clap::{Args, Subcommand};

use super::argument::{amount, payment, reason};
use super::context::Context;
use super::orders::shown;
use crate::http::dto::{Amount, OutsideRequest, OutsideWord, PaymentNamed};
use crate::output::Failure;

/// What moved.
#[derive(Debug, Subcommand)]
pub(super) enum OutsideCommand {
    /// Note that an order was paid outside any provider. The same id again changes nothing.
    MarkPaid(MovedArgs),
    /// Note that what `mark-paid` noted under this id was a mistake, or bounced.
    UnmarkPaid(MovedArgs),
    /// Note that money of one of its payments went back outside any provider.
    MarkRefunded {
        #[command(flatten)]
        moved: MovedArgs,
        /// The payment that lost the money; the id alone for one that `mark-paid` noted.
        #[arg(long, value_name = "SOURCE=ID", value_parser = payment)]
        payment: PaymentNamed,
    },
}

/// Money, under an id of its own.
#[derive(Debug, Args)]
pub(super) struct MovedArgs {
    /// The order's id.
    order: String,
    /// The movement's own id: a receipt, a bank reference.
    #[arg(long)]
    id: String,
    /// How much.
    #[arg(long, value_name = "\"19.90 EUR\"", value_parser = amount)]
    money: Amount,
    /// Why, for the audit.
    #[arg(long, value_parser = reason)]
    reason: String,
}

pub(super) fn run(command: &OutsideCommand, context: &Context) -> Result<(), Failure> {
    let (what, moved, payment) = match command {
        OutsideCommand::MarkPaid(moved) => (OutsideWord::Paid, moved, None),
        OutsideCommand::UnmarkPaid(moved) => (OutsideWord::PaidReversed, moved, None),
        OutsideCommand::MarkRefunded { moved, payment } => {
            (OutsideWord::Refunded, moved, Some(payment.clone()))
        }
    };
    let (id, money, reason) = (moved.id.clone(), moved.money.clone(), moved.reason.clone());
    let request = OutsideRequest { what, id, money, payment, reason };
    context.output.show(&context.transport()?.outside(&moved.order, &request)?, shown);
    Ok(())
}
