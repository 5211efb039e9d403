//! `paidonce events`: the notifications that were received and kept, and reading them again. Their bodies hold personal data, so they are
//! shown only when asked for by name, and only from the store itself.

use clap::{Args, Subcommand};
use paidonce_ledger::EventId;
use paidonce_store::{EventFilter, PAGE_MAX, Page};

use super::context::Context;
use super::reprocess::{self, ReprocessArgs};
use super::transport::EventQuery;
use crate::clock::rfc3339;
use crate::http::dto::EventShown;
use crate::output::{Exit, Failure, Output, Table, plain};

/// Which part of a listing.
#[derive(Debug, Clone, Args)]
pub(super) struct PageArgs {
    /// At most so many rows.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=500))]
    limit: u16,
    /// Where the page before ended.
    #[arg(long, value_name = "NEXT")]
    after: Option<String>,
}

impl PageArgs {
    /// The page that is asked for.
    pub(super) fn page(&self) -> Page {
        Page { limit: usize::from(self.limit), after: self.after.clone() }
    }

    /// Says how to go on, to people.
    pub(super) fn more(&self, output: Output, next: Option<&str>) {
        if let (Some(next), false) = (next, output.json) {
            output.remark(&format!("more: --after '{next}'"));
        }
    }
}

/// What to do with events.
#[derive(Debug, Subcommand)]
pub(super) enum EventsCommand {
    /// List events, newest first.
    List {
        /// Only those that this source received first.
        #[arg(long)]
        source: Option<String>,
        /// Only those that ended so: applied, ignored, unreadable or held.
        #[arg(long)]
        outcome: Option<String>,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Show one event.
    Show {
        /// The provider's id of it.
        event: String,
        /// Print its bytes as they came, and nothing else.
        #[arg(long)]
        body: bool,
    },
    /// Read stored events again that were unreadable, by the contracts as they are now, and tell what would change.
    Reprocess(ReprocessArgs),
}

pub(super) fn run(command: &EventsCommand, context: &Context) -> Result<Exit, Failure> {
    match command {
        EventsCommand::List { source, outcome, page } => {
            let query = EventQuery { source: source.clone(), outcome: outcome.clone(), id: None };
            let listing = context.transport()?.events(&query, &page.page())?;
            context.output.show(&listing, |listing| table(&listing.rows));
            page.more(context.output, listing.next.as_deref());
        }
        EventsCommand::Reprocess(args) => reprocess::run(args, context)?,
        EventsCommand::Show { event, body: true } => body(event, context)?,
        EventsCommand::Show { event, body: false } => {
            let query = EventQuery { id: Some(event.clone()), ..EventQuery::default() };
            let rows = context.transport()?.events(&query, &Page::first(PAGE_MAX))?.rows;
            if rows.is_empty() {
                return Err(none(event));
            }
            context.output.show(&rows, |rows| rows.iter().map(shown).collect::<Vec<_>>().join("\n\n"));
        }
    }
    Ok(Exit::Ok)
}

fn none(event: &str) -> Failure {
    Failure::new(format!("there is no event {event}"), "`paidonce events list` shows what there is")
}

fn body(event: &str, context: &Context) -> Result<(), Failure> {
    let id =
        EventId::new(event).map_err(|error| Failure::usage(error.to_string(), "correct the argument"))?;
    let filter = EventFilter { id: Some(id), ..EventFilter::default() };
    let rows = context.direct()?.store().events(&filter, &Page::first(1))?.rows;
    let (_, found) = rows.first().ok_or_else(|| none(event))?;
    if let Some(at) = found.dropped_at {
        return Err(Failure::new(
            format!("the body of event {event} was dropped at {}", rfc3339(at)),
            "its SHA-256 is kept: `paidonce events show EVENT`; ask the provider for the event itself",
        ));
    }
    context.output.bytes(found.body.bytes());
    Ok(())
}

fn table(rows: &[EventShown]) -> String {
    let mut table = Table::new(
        &["received", "source", "event", "type", "outcome", "payment", "repeats"],
        "No events. Post one: paidonce send FILE --source NAME",
    );
    for row in rows {
        let (payment, repeats) = (row.payment.as_deref().unwrap_or(""), row.duplicates.to_string());
        table.row([&row.received_at, &row.source, &row.id, &row.kind, &row.outcome, payment, &repeats]);
    }
    table.text()
}

fn shown(event: &EventShown) -> String {
    let mut text = vec![
        format!("event     {}", plain(&event.id)),
        format!("type      {}", plain(&event.kind)),
        format!("source    {} ({}/{}/{})", event.source, event.provider, event.account, event.mode),
        format!("outcome   {}", event.outcome),
    ];
    text.extend(event.detail.as_ref().map(|detail| format!("detail    {}", plain(detail))));
    text.extend(event.payment.as_ref().map(|payment| format!("payment   {}", plain(payment))));
    text.push(format!("received  {}", event.received_at));
    text.push(format!("repeats   {}, last at {}", event.duplicates, event.last_at));
    let kept = match (&event.body_dropped_at, event.body_bytes) {
        (Some(at), _) => format!("dropped at {at}"),
        (None, bytes) => format!("{} bytes", bytes.unwrap_or_default()),
    };
    text.push(format!("body      {kept}, sha256 {}", event.body_sha256));
    text.join("\n")
}
