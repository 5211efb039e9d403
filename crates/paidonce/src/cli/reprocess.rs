//! `paidonce events reprocess`: after a contract was mended. Without --apply it only tells what would change.

use clap::Args;

use super::argument::reason;
use super::context::Context;
use super::transport::Transport;
use crate::http::dto::{CaseShown, ReadAgain, ReprocessRequest, Reprocessed, TaskShown};
use crate::output::{Failure, Progress, Table};

/// Events in one request, so that none takes long.
const PAGE: usize = 100;

/// Which events, and whether to apply what is found.
#[derive(Debug, Args)]
pub(super) struct ReprocessArgs {
    /// Only those that this source received first.
    #[arg(long)]
    source: Option<String>,
    /// Only the one of this id, however it stands.
    #[arg(long, value_name = "ID")]
    event: Option<String>,
    /// Those that were ignored too, for a type that the contract has learnt.
    #[arg(long)]
    ignored: bool,
    /// Commit what would change, one event after another.
    #[arg(long, requires = "reason")]
    apply: bool,
    /// Why, for the audit; needed to apply.
    #[arg(long, value_parser = reason)]
    reason: Option<String>,
}

pub(super) fn run(args: &ReprocessArgs, context: &Context) -> Result<(), Failure> {
    let transport = context.transport()?;
    let mut all = Reprocessed { applied: args.apply, looked_at: 0, rows: Vec::new(), next: None };
    let done = read_all(args, &*transport, &mut all);
    // What was committed before a failure is told as well.
    if done.is_ok() || !all.rows.is_empty() {
        context.output.show(&all, text);
    }
    done
}

fn read_all(args: &ReprocessArgs, transport: &dyn Transport, all: &mut Reprocessed) -> Result<(), Failure> {
    let mut progress = Progress::open("events read again:");
    let mut request = ReprocessRequest {
        source: args.source.clone(),
        event: args.event.clone(),
        ignored: args.ignored,
        apply: args.apply,
        reason: args.reason.clone(),
        limit: Some(PAGE),
        after: None,
    };
    loop {
        let page = transport.reprocess(&request)?;
        all.looked_at += page.looked_at;
        all.rows.extend(page.rows);
        progress.at(all.looked_at);
        match page.next {
            Some(next) => request.after = Some(next),
            None => return Ok(()),
        }
    }
}

fn text(all: &Reprocessed) -> String {
    let becomes = if all.applied { "became" } else { "would become" };
    let heading = ["event", "source", "type", becomes, "order", "standing", "what changes"];
    let mut table = Table::new(&heading, "Nothing is there to read again.");
    for row in &all.rows {
        let order = row.order.as_deref().unwrap_or("");
        table.row([&row.id, &row.source, &row.kind, &row.becomes, order, &standing(row), &what(row)]);
    }
    let changed = all.rows.iter().filter(|row| row.changes).count();
    let end = match (all.applied, changed) {
        (true, _) => format!("{changed} changed."),
        (false, 0) => "none would change.".to_owned(),
        (false, _) => {
            format!("{changed} would change; nothing was. To commit it: --apply --reason \"...\"")
        }
    };
    format!("{}\n\n{} event(s) looked at, {end}", table.text(), all.looked_at)
}

fn standing(row: &ReadAgain) -> String {
    let change = row.standing.as_ref().map(|change| format!("{} -> {}", change.before, change.after));
    change.unwrap_or_default()
}

fn what(row: &ReadAgain) -> String {
    let task = |task: &TaskShown| format!("{} {}", task.work(), task.state);
    let case = |case: &CaseShown| {
        let verb = if case.open { "opens" } else { "ends" };
        format!("{verb} {} {}", case.reason, case.handle)
    };
    let mut words: Vec<_> = row.tasks.iter().map(task).collect();
    words.extend(row.entitlements.iter().map(|row| {
        let verb = if row.active { "gives back" } else { "takes back" };
        format!("{verb} {}", row.unit)
    }));
    words.extend(row.cases.iter().map(case));
    words.extend(row.detail.clone());
    words.join("; ")
}
