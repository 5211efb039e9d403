//! `paidonce entitlements`: what was granted, and whether a customer may have something.

use clap::Subcommand;

use super::context::Context;
use super::events::PageArgs;
use super::transport::EntitlementQuery;
use crate::http::dto::{EntitledAnswer, EntitlementShown};
use crate::output::{Exit, Failure, Table, plain};

/// What to do with entitlements.
#[derive(Debug, Subcommand)]
pub(super) enum EntitlementsCommand {
    /// List entitlements, newest first.
    List {
        /// Only this order's.
        #[arg(long)]
        order: Option<String>,
        /// Only this customer's.
        #[arg(long)]
        customer: Option<String>,
        /// Only for this sku.
        #[arg(long)]
        sku: Option<String>,
        /// Only those that were not taken back.
        #[arg(long)]
        active: bool,
        #[command(flatten)]
        page: PageArgs,
    },
    /// May this customer have this? Exit code 0 for yes, 1 for no.
    Check {
        /// Who asks.
        #[arg(long)]
        customer: String,
        /// For what.
        #[arg(long)]
        sku: String,
    },
}

pub(super) fn run(command: &EntitlementsCommand, context: &Context) -> Result<Exit, Failure> {
    let transport = context.transport()?;
    match command {
        EntitlementsCommand::List { order, customer, sku, active, page } => {
            let (order, customer, sku) = (order.clone(), customer.clone(), sku.clone());
            let query = EntitlementQuery { order, customer, sku, active: *active };
            let listing = transport.entitlements(&query, &page.page())?;
            context.output.show(&listing, |listing| table(&listing.rows));
            page.more(context.output, listing.next.as_deref());
            Ok(Exit::Ok)
        }
        EntitlementsCommand::Check { customer, sku } => {
            let answer = transport.entitled(customer, sku)?;
            context.output.show(&answer, answered);
            Ok(if answer.entitled { Exit::Ok } else { Exit::Failed })
        }
    }
}

fn answered(answer: &EntitledAnswer) -> String {
    let (customer, sku) = (plain(&answer.customer), plain(&answer.sku));
    if !answer.entitled {
        return format!("No: {customer} may not have {sku}.");
    }
    let by: Vec<_> = answer.entitlements.iter().map(|row| format!("order {}", plain(&row.order))).collect();
    format!("Yes: {customer} may have {sku}, by {}.", by.join(", "))
}

fn table(rows: &[EntitlementShown]) -> String {
    let mut table =
        Table::new(&["order", "unit", "customer", "what", "granted", "state"], "Nothing was granted.");
    for row in rows {
        let lines: Vec<_> =
            row.lines.iter().map(|line| format!("{} x {}", line.quantity, line.sku)).collect();
        let state = if row.active { "active" } else { "revoked" };
        let customer = row.customer.as_deref().unwrap_or("");
        table.row([&row.order, &row.unit, customer, &lines.join(", "), &row.granted_at, state]);
    }
    table.text()
}
