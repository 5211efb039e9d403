//! `paidonce audit`: checks everything in the store against the promises. `paidonce audit log`: who did what.
//! Both only read; the first reads all of it.

mod log;

use clap::{Args, Subcommand};
use paidonce_ledger::invariants::check_settled;
use serde::Serialize;

use super::context::Context;
use crate::output::{Exit, Failure, Table};

/// What an audit found.
#[derive(Debug, Default, Serialize)]
pub(crate) struct AuditReport {
    /// Orders, events and entitlements that were looked at.
    checked: Checked,
    /// What breaks a promise.
    violations: Vec<Violation>,
}

#[derive(Debug, Default, Serialize)]
struct Checked {
    orders: usize,
    events: usize,
    payments: usize,
    entitlements: usize,
}

#[derive(Debug, Serialize)]
struct Violation {
    promise: &'static str,
    what: String,
}

/// What to do with the audit.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct AuditArgs {
    #[command(subcommand)]
    command: Option<AuditCommand>,
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    /// List who did what and why, newest first.
    Log(log::LogArgs),
}

pub(super) fn run(args: &AuditArgs, context: &Context) -> Result<Exit, Failure> {
    if let Some(AuditCommand::Log(args)) = &args.command {
        return log::run(args, context);
    }
    let report = audit(&context.direct()?)?;
    context.output.show(&report, AuditReport::text);
    Ok(report.exit())
}

/// Audits an open store.
pub(crate) fn audit(direct: &super::transport::Direct) -> Result<AuditReport, Failure> {
    let ledger = direct.store().snapshot()?;
    let found = check_settled(&ledger, direct.policy());
    Ok(AuditReport {
        checked: Checked {
            orders: ledger.orders.rows().len(),
            events: ledger.events.rows().len(),
            payments: ledger.payments.rows().len(),
            entitlements: ledger.entitlements.rows().len(),
        },
        violations: found.into_iter().map(|v| Violation { promise: v.promise, what: v.what }).collect(),
    })
}

impl AuditReport {
    /// How the audit ends.
    pub(crate) fn exit(&self) -> Exit {
        if self.violations.is_empty() { Exit::Ok } else { Exit::Differs }
    }

    /// For people.
    pub(crate) fn text(&self) -> String {
        let Checked { orders, events, payments, entitlements } = &self.checked;
        let checked = format!(
            "Checked {orders} orders, {events} events, {payments} payments, {entitlements} entitlements."
        );
        if self.violations.is_empty() {
            return format!("{checked} Every promise holds.");
        }
        let mut table = Table::new(&["promise", "what is wrong"], "");
        for violation in &self.violations {
            table.row([violation.promise, &violation.what]);
        }
        format!("{}\n\n{checked} {} violation(s).", table.text(), self.violations.len())
    }
}
