//! `paidonce tasks`: the outbox. What is due, what was done, and putting something back to work.

use clap::Subcommand;

use super::context::Context;
use super::events::PageArgs;
use super::transport::TaskQuery;
use crate::http::dto::TaskShown;
use crate::output::{Exit, Failure, Table};

/// What to do with tasks.
#[derive(Debug, Subcommand)]
pub(super) enum TasksCommand {
    /// List tasks, newest first.
    List {
        /// Only in this state: pending, done or cancelled.
        #[arg(long)]
        state: Option<String>,
        /// Only this order's.
        #[arg(long)]
        order: Option<String>,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Make the grant of a unit due at once. Whether it may be granted is decided again, as always.
    Retry {
        /// The order's id.
        order: String,
        /// Which unit: order, or line:N.
        #[arg(default_value = "order")]
        unit: String,
        /// Why, for the audit.
        #[arg(long)]
        reason: String,
    },
}

pub(super) fn run(command: &TasksCommand, context: &Context) -> Result<Exit, Failure> {
    let transport = context.transport()?;
    match command {
        TasksCommand::List { state, order, page } => {
            let query = TaskQuery { state: state.clone(), order: order.clone() };
            let listing = transport.tasks(&query, &page.page())?;
            context.output.show(&listing, |listing| table(&listing.rows));
            page.more(context.output, listing.next.as_deref());
        }
        TasksCommand::Retry { order, unit, reason } => {
            transport.retry(order, unit, reason)?;
            let query = TaskQuery { order: Some(order.clone()), state: None };
            let tasks = transport.tasks(&query, &paidonce_store::Page::first(paidonce_store::PAGE_MAX))?;
            context.output.show(&tasks, |tasks| table(&tasks.rows));
        }
    }
    Ok(Exit::Ok)
}

fn table(rows: &[TaskShown]) -> String {
    let mut table = Table::new(&["order", "unit", "task", "state", "attempts", "due"], "No tasks.");
    for row in rows {
        let attempts = row.attempts.to_string();
        table.row([&row.order, &row.unit, &row.kind, &row.state, &attempts, &row.due_at]);
    }
    table.text()
}
