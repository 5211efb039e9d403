//! `paidonce completions SHELL`: made from the command line's own definition.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Cli;
use super::context::Context;
use crate::output::{Exit, Failure};

/// For which shell.
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn run(args: &CompletionsArgs, context: &Context) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "paidonce", &mut script);
    context.output.bytes(&script);
    Ok(Exit::Ok)
}
