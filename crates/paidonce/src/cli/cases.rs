//! `paidonce cases`: what is held for a person, and what that person decides.

use clap::{Args, Subcommand};

use super::argument::reason;
use super::context::Context;
use super::events::PageArgs;
use super::transport::CaseQuery;
use crate::http::dto::{CaseShown, DecisionWord, ResolveRequest};
use crate::output::{Exit, Failure, Table, plain};

/// What to do with cases.
#[derive(Debug, Subcommand)]
pub(super) enum CasesCommand {
    /// List open cases, newest first.
    List {
        /// Ended ones too.
        #[arg(long)]
        all: bool,
        /// Only those that concern this order.
        #[arg(long)]
        order: Option<String>,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Show one case.
    Show {
        /// Its short name: the first column of `cases list`.
        case: String,
    },
    /// Decide about a case, or leave a note.
    Resolve {
        /// Its short name: the first column of `cases list`.
        case: String,
        #[command(flatten)]
        decision: DecisionArgs,
        /// Why, for the audit and the case.
        #[arg(long, value_parser = reason)]
        reason: String,
    },
}

/// What is decided: one of them.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct DecisionArgs {
    /// It is right as it is.
    #[arg(long)]
    accept: bool,
    /// It is wrong, and is dealt with elsewhere.
    #[arg(long)]
    reject: bool,
    /// It stays open; the reason is a note.
    #[arg(long)]
    note: bool,
    /// Its payment serves this order.
    #[arg(long, value_name = "ORDER")]
    bind: Option<String>,
}

impl DecisionArgs {
    fn word(&self) -> DecisionWord {
        match self {
            Self { bind: Some(_), .. } => DecisionWord::Bind,
            Self { accept: true, .. } => DecisionWord::Accept,
            Self { reject: true, .. } => DecisionWord::Reject,
            Self { .. } => DecisionWord::Note,
        }
    }
}

pub(super) fn run(command: &CasesCommand, context: &Context) -> Result<Exit, Failure> {
    let transport = context.transport()?;
    match command {
        CasesCommand::List { all, order, page } => {
            let query = CaseQuery { open: !all, order: order.clone() };
            let listing = transport.cases(&query, &page.page())?;
            context.output.show(&listing, |listing| table(&listing.rows));
            page.more(context.output, listing.next.as_deref());
        }
        CasesCommand::Show { case } => context.output.show(&transport.case(case)?, shown),
        CasesCommand::Resolve { case, decision, reason } => {
            let (word, order) = (decision.word(), decision.bind.clone());
            let decided = ResolveRequest { decision: word, order, reason: reason.clone() };
            context.output.show(&transport.resolve(case, &decided)?, shown);
        }
    }
    Ok(Exit::Ok)
}

fn table(rows: &[CaseShown]) -> String {
    let mut table = Table::new(&["case", "opened", "reason", "order", "about", "detail"], "No open cases.");
    for row in rows {
        let order = row.order.as_deref().unwrap_or("");
        table.row([&row.handle, &row.opened_at, &row.reason, order, &row.subject, &row.detail]);
    }
    table.text()
}

fn shown(case: &CaseShown) -> String {
    let mut text = vec![
        format!("case    {}", case.handle),
        format!("reason  {}", case.reason),
        format!("about   {}", plain(&case.subject)),
        format!("order   {}", plain(case.order.as_deref().unwrap_or("-"))),
        format!("opened  {}", case.opened_at),
        format!("detail  {}", plain(&case.detail)),
    ];
    text.push(match &case.resolution {
        None => "state   open".to_owned(),
        Some(end) => {
            let by = end.by.as_deref().unwrap_or("paidonce");
            format!("state   ended at {} by {}: {}", end.at, plain(by), plain(&end.note))
        }
    });
    text.join("\n")
}
