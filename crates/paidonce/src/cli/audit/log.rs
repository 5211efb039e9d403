//! `paidonce audit log`: the audit rows. The store has no listing of them, so they are taken out of a copy of it all.

use std::collections::BTreeSet;

use clap::Args;
use paidonce_ledger::{Audit, AuditKey, Case, CaseKey, Ledger, OrderId, PaymentKey, Subject};
use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::transport::Direct;
use crate::clock::rfc3339;
use crate::output::{Exit, Failure, Table};

/// Which rows.
#[derive(Debug, Args)]
pub(super) struct LogArgs {
    /// Only what was done to this order, its cases and its events.
    #[arg(long)]
    order: Option<String>,
    /// At most so many rows.
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

/// One thing that somebody did.
#[derive(Debug, Serialize)]
struct AuditShown {
    at: String,
    by: String,
    action: String,
    subject: String,
    reason: Option<String>,
    command: String,
}

pub(super) fn run(args: &LogArgs, direct: &Direct, context: &Context) -> Result<Exit, Failure> {
    let order = args.order.as_ref().map(OrderId::new).transpose();
    let order = order.map_err(|error| Failure::usage(format!("--order: {error}"), "correct the argument"))?;
    let ledger = direct.store().snapshot()?;
    let of_it = order.map(|order| OfOrder::new(order, &ledger));
    let wanted = |(_, audit): &(&AuditKey, &Audit)| of_it.as_ref().is_none_or(|it| it.holds(&audit.subject));
    let rows = ledger.audits.rows().iter().rev().filter(wanted).take(args.limit);
    let rows: Vec<_> = rows.map(|(key, audit)| shown(key, audit)).collect();
    context.output.show(&rows, |rows| table(rows));
    Ok(Exit::Ok)
}

/// What the subjects of one order's audit rows are or begin with.
struct OfOrder {
    starts: BTreeSet<String>,
    events: BTreeSet<String>,
    /// Orders whose ids only begin like this one's.
    others: Vec<String>,
}

impl OfOrder {
    fn new(order: OrderId, ledger: &Ledger) -> Self {
        let of_order = |payment: &PaymentKey| {
            ledger.payments.get(payment).is_some_and(|row| row.order.as_ref() == Some(&order))
        };
        let about = |key: &CaseKey, case: &Case| {
            case.order.as_ref() == Some(&order)
                || match &key.subject {
                    Subject::Order(id) => *id == order,
                    Subject::Payment(payment) => of_order(payment),
                    Subject::Event(_) => false,
                }
        };
        let cases = ledger.cases.rows().iter().filter(|(key, case)| about(key, case));
        let events = ledger.events.rows().iter().filter(|(key, event)| {
            let id = event.payment.clone();
            id.is_some_and(|id| of_order(&PaymentKey { account: key.account.clone(), id }))
        });
        let mut starts: BTreeSet<_> = cases.map(|(key, _)| format!("case {}", key.handle())).collect();
        let events = events.map(|(key, _)| format!("event {key}")).collect();
        starts.insert(format!("order {order}"));
        // An id may hold blanks, and a subject is a text.
        let longer = format!("{order} ");
        let others = ledger.orders.rows().keys().filter(|id| id.as_str().starts_with(&longer));
        Self { starts, events, others: others.map(|id| format!("order {id}")).collect() }
    }

    fn holds(&self, subject: &str) -> bool {
        let begins = |start: &String| {
            subject.strip_prefix(start.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        self.events.contains(subject) || self.starts.iter().any(begins) && !self.others.iter().any(begins)
    }
}

fn shown(key: &AuditKey, audit: &Audit) -> AuditShown {
    AuditShown {
        at: rfc3339(key.at),
        by: audit.by.to_string(),
        action: audit.action.to_string(),
        subject: audit.subject.clone(),
        reason: audit.reason.as_ref().map(ToString::to_string),
        command: key.command.to_string(),
    }
}

fn table(rows: &[AuditShown]) -> String {
    let mut table = Table::new(&["when", "who", "what", "to", "why"], "Nobody did anything.");
    for row in rows {
        table.row([&row.at, &row.by, &row.action, &row.subject, row.reason.as_deref().unwrap_or("")]);
    }
    table.text()
}
