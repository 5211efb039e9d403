//! `paidonce tasks`: the outbox. What is due, what was done, putting something back to work and stopping it.

use clap::Subcommand;
use paidonce_store::{PAGE_MAX, Page};

use super::argument::reason;
use super::context::Context;
use super::events::PageArgs;
use super::transport::{TaskQuery, Transport};
use crate::http::dto::TaskShown;
use crate::output::{Exit, Failure, Table};

/// What to do with tasks.
#[derive(Debug, Subcommand)]
pub(super) enum TasksCommand {
    /// List tasks, newest first.
    List {
        /// Only in this state: pending, calling, uncertain, done, cancelled, parked, held or stopped.
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
        #[arg(long, value_parser = reason)]
        reason: String,
    },
    /// Stop the grant of a unit. It stays stopped until it is retried.
    Cancel {
        /// The order's id.
        order: String,
        /// Which unit: order, or line:N.
        #[arg(default_value = "order")]
        unit: String,
        /// Why, for the audit.
        #[arg(long, value_parser = reason)]
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
            show_tasks(order, &*transport, context)?;
        }
        TasksCommand::Cancel { order, unit, reason } => {
            transport.stop(order, unit, reason)?;
            show_tasks(order, &*transport, context)?;
        }
    }
    Ok(Exit::Ok)
}

fn show_tasks(order: &str, transport: &dyn Transport, context: &Context) -> Result<(), Failure> {
    let query = TaskQuery { order: Some(order.to_owned()), state: None };
    let tasks = transport.tasks(&query, &Page::first(PAGE_MAX))?;
    context.output.show(&tasks, |tasks| table(&tasks.rows));
    Ok(())
}

fn table(rows: &[TaskShown]) -> String {
    let mut table = Table::new(&["task", "about", "work", "state", "attempts", "due"], "No tasks.");
    for row in rows {
        let (attempts, about) = (row.attempts.to_string(), row.order.as_ref().unwrap_or(&row.subject));
        table.row([&row.handle, about, &row.work(), &row.state, &attempts, &row.due_at]);
    }
    table.text()
}
