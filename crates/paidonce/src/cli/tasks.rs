//! `paidonce tasks`: the outbox. What is due, what was done, putting something back to work and stopping it.

use clap::Subcommand;

use super::argument::reason;
use super::context::Context;
use super::events::PageArgs;
use super::transport::TaskQuery;
use crate::http::dto::{TaskShown, TaskStory};
use crate::output::{Exit, Failure, Table, plain};

/// What to do with tasks.
#[derive(Debug, Subcommand)]
pub(super) enum TasksCommand {
    /// List tasks, newest first.
    List {
        /// Only in this state: pending, calling, uncertain, done, cancelled, parked, held or stopped.
        #[arg(long)]
        state: Option<String>,
        /// Only of this kind: grant, lookup, sync or send.
        #[arg(long)]
        kind: Option<String>,
        /// Only this effect's.
        #[arg(long)]
        effect: Option<String>,
        /// Only this order's.
        #[arg(long)]
        order: Option<String>,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Show one task and its tries.
    Show {
        /// Its short name: the first column of `tasks list`.
        task: String,
    },
    /// Make a task due at once. Whether it may be done is decided again, as always.
    Retry {
        /// Its short name: the first column of `tasks list`.
        task: String,
        /// Why, for the audit.
        #[arg(long, value_parser = reason)]
        reason: String,
    },
    /// Stop a task. It stays stopped until it is retried.
    Cancel {
        /// Its short name: the first column of `tasks list`.
        task: String,
        /// Why, for the audit.
        #[arg(long, value_parser = reason)]
        reason: String,
    },
}

pub(super) fn run(command: &TasksCommand, context: &Context) -> Result<Exit, Failure> {
    let transport = context.transport()?;
    let show = |task: &str| transport.task(task).map(|story| context.output.show(&story, shown));
    match command {
        TasksCommand::List { state, kind, effect, order, page } => {
            let (state, kind, effect) = (state.clone(), kind.clone(), effect.clone());
            let query = TaskQuery { state, kind, effect, order: order.clone() };
            let listing = transport.tasks(&query, &page.page())?;
            context.output.show(&listing, |listing| table(&listing.rows));
            page.more(context.output, listing.next.as_deref());
        }
        TasksCommand::Show { task } => show(task)?,
        TasksCommand::Retry { task, reason } => {
            transport.retry(task, reason)?;
            show(task)?;
        }
        TasksCommand::Cancel { task, reason } => {
            transport.stop(task, reason)?;
            show(task)?;
        }
    }
    Ok(Exit::Ok)
}

fn table(rows: &[TaskShown]) -> String {
    let mut table = Table::new(&["task", "about", "work", "state", "attempts", "due"], "No tasks.");
    for row in rows {
        let (attempts, about) = (row.attempts.to_string(), row.order.as_ref().unwrap_or(&row.subject));
        table.row([&row.handle, about, &row.work(), &row.state, &attempts, &row.due_at]);
    }
    table.text()
}

fn shown(story: &TaskStory) -> String {
    let task = &story.task;
    let mut text = vec![
        format!("task     {}", task.handle),
        format!("about    {}", plain(&task.subject)),
        format!("work     {}", plain(&task.work())),
        format!("state    {}", task.state),
        format!("due      {}", task.due_at),
    ];
    if let Some(key) = &story.idempotency_key {
        let arrived = if story.may_have_arrived { ", and it may have arrived" } else { "" };
        text.push(format!("key      {key}{arrived}"));
    }
    let mut tries = Table::new(&["recorded", "outcome", "took", "answer"], "It was not tried yet.");
    for one in &story.tries {
        tries.row([&one.at, &one.outcome, &format!("{} ms", one.took_ms), &one.detail]);
    }
    format!("{}\n\n{}", text.join("\n"), tries.text())
}
