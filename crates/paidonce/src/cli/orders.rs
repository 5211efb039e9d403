//! `paidonce orders`: place, list, show, cancel and revive what is expected to be paid.

use clap::{Args, Subcommand, ValueEnum};

use super::argument::{amount, line, reason, reference};
use super::context::Context;
use super::entitlements::state;
use super::events::PageArgs;
use super::outside::{self, OutsideCommand};
use crate::http::dto::{
    Amount, FulfilWord, LineBody, OrderPlaced, OrderRequest, OrderShown, ReferenceRequest,
};
use crate::output::{Exit, Failure, Table, plain};

/// What to do with orders.
#[derive(Debug, Subcommand)]
pub(super) enum OrdersCommand {
    /// Place an order. The same id and content again is the same order.
    Add(AddArgs),
    /// List orders, newest first.
    List {
        /// Only this customer's.
        #[arg(long)]
        customer: Option<String>,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Show one order with its payments, entitlements and cases.
    Show {
        /// The order's id.
        order: String,
    },
    /// Call an order off. Refused once something was granted.
    Cancel {
        /// The order's id.
        order: String,
        /// Why, for the audit.
        #[arg(long, value_parser = reason)]
        reason: String,
    },
    /// Open a closed order again. What it was paid counts as before.
    Revive {
        /// The order's id.
        order: String,
        /// Why, for the audit.
        #[arg(long, value_parser = reason)]
        reason: String,
    },
    #[command(flatten)]
    Outside(OutsideCommand),
}

/// An order's content.
#[derive(Debug, Args)]
pub(super) struct AddArgs {
    /// Your own id of it [default: one is made].
    #[arg(long)]
    id: Option<String>,
    /// Who gets it, in your own words.
    #[arg(long)]
    customer: Option<String>,
    /// What is sold; repeatable.
    #[arg(long = "line", required = true, value_name = "sku=SKU,quantity=N", value_parser = line)]
    lines: Vec<LineBody>,
    /// What must be paid.
    #[arg(long, value_name = "\"19.90 EUR\"", value_parser = amount)]
    total: Amount,
    /// A provider's object that was made for it; repeatable.
    #[arg(long = "reference", value_name = "SOURCE=ID", value_parser = reference)]
    references: Vec<ReferenceRequest>,
    /// How it is cut into units that are granted on their own.
    #[arg(long, value_enum, default_value_t = FulfilArg::Order)]
    fulfil: FulfilArg,
    /// When it may be closed unpaid, as in 2026-12-31T00:00:00Z.
    #[arg(long, value_name = "TIME")]
    expires_at: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FulfilArg {
    /// The whole order is one unit.
    Order,
    /// Each line is a unit.
    Line,
}

pub(super) fn run(command: &OrdersCommand, context: &Context) -> Result<Exit, Failure> {
    let (output, transport) = (context.output, context.transport()?);
    match command {
        OrdersCommand::Add(args) => output.show(&transport.place(&request(args))?, placed),
        OrdersCommand::List { customer, page } => {
            let listing = transport.orders(customer.as_deref(), &page.page())?;
            output.show(&listing, |listing| {
                let mut table = Table::new(
                    &["order", "standing", "covered", "total", "customer", "placed"],
                    "No orders. Place one: paidonce orders add --help",
                );
                for row in &listing.rows {
                    let customer = row.customer.as_deref().unwrap_or("");
                    table.row([
                        &row.id,
                        &row.standing,
                        &row.covering,
                        &money(&row.total),
                        customer,
                        &row.placed_at,
                    ]);
                }
                table.text()
            });
            page.more(output, listing.next.as_deref());
        }
        OrdersCommand::Show { order } => output.show(&transport.order(order)?, shown),
        OrdersCommand::Cancel { order, reason } => output.show(&transport.cancel(order, reason)?, shown),
        OrdersCommand::Revive { order, reason } => output.show(&transport.revive(order, reason)?, shown),
        OrdersCommand::Outside(command) => outside::run(command, context)?,
    }
    Ok(Exit::Ok)
}

fn request(args: &AddArgs) -> OrderRequest {
    OrderRequest {
        id: args.id.clone(),
        customer: args.customer.clone(),
        lines: args.lines.clone(),
        total: args.total.clone(),
        fulfil: Some(match args.fulfil {
            FulfilArg::Order => FulfilWord::Order,
            FulfilArg::Line => FulfilWord::Line,
        }),
        expires_at: args.expires_at.clone(),
        references: args.references.clone(),
    }
}

/// Money in words.
pub(super) fn money(amount: &Amount) -> String {
    format!("{} {}", amount.amount, amount.unit)
}

fn placed(order: &OrderPlaced) -> String {
    let mut text = format!(
        "Order {} is placed: {} to be paid.\nPut this hint into the provider's metadata, as paidonce: {}",
        plain(&order.id),
        money(&order.total),
        order.hint
    );
    if let Some(token) = &order.token {
        text.push_str(&format!("\nThe buyer's page: /status/{token}"));
    }
    text
}

/// One order, for people.
pub(super) fn shown(order: &OrderShown) -> String {
    let revived = if order.revived { " and revived by later money" } else { "" };
    let mut text = vec![
        format!("order     {}", plain(&order.id)),
        format!("standing  {}, {}", order.standing, if order.eligible { "eligible" } else { "not eligible" }),
        format!("total     {}", money(&order.total)),
        format!("covered   {}, {} outstanding", order.covering, order.outstanding),
        format!("customer  {}", plain(order.customer.as_deref().unwrap_or("-"))),
        format!("state     {}{revived}, revision {}", order.state, order.revision),
        format!("placed    {}", order.placed_at),
        format!("hint      {}", order.hint),
    ];
    text.extend(order.why.iter().map(|why| format!("why       {}", plain(why))));
    for reference in &order.references {
        text.push(format!("reference {} {}", reference.account, plain(&reference.id)));
    }
    for payment in &order.payments {
        let facts: Vec<_> = payment.facts.iter().map(|fact| fact.words.as_str()).collect();
        text.push(format!("payment   {}: {}", plain(&payment.id), plain(&facts.join("; "))));
    }
    for row in &order.entitlements {
        text.push(format!("granted   {} at {}, {}", row.unit, row.granted_at, plain(&state(row))));
    }
    for task in order.tasks.iter().filter(|task| task.state != "done") {
        text.push(format!("task      {}: {}", task.work(), task.state));
    }
    for case in order.cases.iter().filter(|case| case.open) {
        text.push(format!("case      {} {}: {}", case.handle, case.reason, plain(&case.detail)));
    }
    text.join("\n")
}
