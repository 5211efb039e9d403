//! `paidonce demo`: the command; what it plays is in [`crate::demo`].

use clap::Args;

use super::context::Context;
use crate::demo::demo;
use crate::output::{Exit, Failure};

/// How long it stays.
#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// End after the scenarios, with exit code 0 if everything was as expected and 3 if not.
    #[arg(long)]
    once: bool,
}

pub(super) fn run(args: &DemoArgs, context: &Context) -> Result<Exit, Failure> {
    demo(args.once, context.output)
}
