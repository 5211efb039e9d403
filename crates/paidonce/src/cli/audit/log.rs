//! `paidonce audit log`: who did what, and why.

use clap::Args;

use crate::cli::context::Context;
use crate::cli::events::PageArgs;
use crate::cli::transport::AuditQuery;
use crate::http::dto::AuditShown;
use crate::output::{Exit, Failure, Table};

/// Which rows.
#[derive(Debug, Args)]
pub(super) struct LogArgs {
    /// Only what concerned this order: its cases and its events included.
    #[arg(long)]
    order: Option<String>,
    /// Only what was done by this key, user or program. (`--by` says who *you* are.)
    #[arg(long, value_name = "NAME")]
    who: Option<String>,
    #[command(flatten)]
    page: PageArgs,
}

pub(super) fn run(args: &LogArgs, context: &Context) -> Result<Exit, Failure> {
    let query = AuditQuery { order: args.order.clone(), by: args.who.clone() };
    let listed = context.transport()?.audits(&query, &args.page.page())?;
    context.output.show(&listed, |listed| table(&listed.rows));
    args.page.more(context.output, listed.next.as_deref());
    Ok(Exit::Ok)
}

fn table(rows: &[AuditShown]) -> String {
    let mut table = Table::new(&["when", "who", "what", "to", "why"], "Nobody did anything.");
    for row in rows {
        table.row([&row.at, &row.by, &row.action, &row.subject, row.reason.as_deref().unwrap_or("")]);
    }
    table.text()
}
