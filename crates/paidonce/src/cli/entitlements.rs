//! `paidonce entitlements`: what was granted, whether a customer may have something, taking it back and giving it back.

use clap::{Args, Subcommand};
use paidonce_store::{PAGE_MAX, Page};

use super::argument::reason;
use super::context::Context;
use super::events::PageArgs;
use super::transport::{EntitlementQuery, Transport};
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
    /// Take an entitlement back. Later facts do not give it back; `reinstate` does.
    Revoke(UnitArgs),
    /// Give an entitlement back. The policy does not take it again; `revoke` does.
    Reinstate(UnitArgs),
}

/// Which unit of which order, and why.
#[derive(Debug, Args)]
pub(super) struct UnitArgs {
    /// The order's id.
    order: String,
    /// Which unit: order, or line:N.
    #[arg(default_value = "order")]
    unit: String,
    /// Why, for the audit.
    #[arg(long, value_parser = reason)]
    reason: String,
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
        EntitlementsCommand::Revoke(args) => set(args, false, &*transport, context),
        EntitlementsCommand::Reinstate(args) => set(args, true, &*transport, context),
    }
}

fn set(
    args: &UnitArgs,
    granted: bool,
    transport: &dyn Transport,
    context: &Context,
) -> Result<Exit, Failure> {
    transport.set_entitlement(&args.order, &args.unit, granted, &args.reason)?;
    let query = EntitlementQuery { order: Some(args.order.clone()), ..EntitlementQuery::default() };
    let listing = transport.entitlements(&query, &Page::first(PAGE_MAX))?;
    context.output.show(&listing, |listing| table(&listing.rows));
    Ok(Exit::Ok)
}

/// Whether it stands, and by whose word.
pub(super) fn state(row: &EntitlementShown) -> String {
    match (&row.revoked_by, &row.kept_by) {
        (Some(by), _) => format!("revoked by {by}"),
        (None, Some(by)) => format!("active, kept by {by}"),
        (None, None) => if row.active { "active" } else { "revoked" }.to_owned(),
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
        let customer = row.customer.as_deref().unwrap_or("");
        table.row([&row.order, &row.unit, customer, &lines.join(", "), &row.granted_at, &state(row)]);
    }
    table.text()
}
