//! `paidonce explain ORDER`: what a support person needs to answer "I paid, where is it?".

use clap::Args;

use super::context::Context;
use crate::http::dto::ExplanationShown;
use crate::output::{Exit, Failure, Table, plain};

/// Which order.
#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// The order's id.
    order: String,
}

pub(super) fn run(args: &ExplainArgs, context: &Context) -> Result<Exit, Failure> {
    context.output.show(&context.transport()?.explain(&args.order)?, shown);
    Ok(Exit::Ok)
}

fn shown(explanation: &ExplanationShown) -> String {
    let mut table = Table::new(&["when", "about", "what happened"], "Nothing happened.");
    for entry in &explanation.timeline {
        table.row([&entry.at, &entry.kind, &entry.what]);
    }
    let mut text = format!("{}\n\n{}", table.text(), plain(&explanation.sentence));
    if let Some(next) = &explanation.next {
        text.push_str(&format!("\nnext: {}", plain(next)));
    }
    text
}
