//! The command line: one file per command. A command reads arguments, submits commands or asks, and hands what it
//! got to `output`; it decides nothing about payments.

mod argument;
mod audit;
mod cases;
mod completions;
mod config;
mod context;
mod contract;
mod demo;
mod entitlements;
mod events;
mod explain;
mod export;
mod import;
mod init;
mod keys;
mod orders;
mod outside;
mod products;
mod receive;
mod references;
mod reprocess;
mod send;
mod serve;
mod sweep;
mod tasks;
mod transport;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::output::{Exit, Failure, Output};
pub(crate) use audit::{AuditReport, audit};
pub(crate) use keys::add as add_key;
pub(crate) use transport::{CaseQuery, Direct, EventQuery, Remote, Transport, agent};

use context::Context;

/// Receives payment notifications, and fulfils each payment once.
///
/// Commands open the configured store directly, as one more process beside a running server. With --server they
/// ask that server instead; the output is the same.
#[derive(Debug, Parser)]
#[command(name = "paidonce", version, after_help = Exit::HELP, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Clone, Args)]
struct Global {
    /// The configuration file.
    #[arg(long, global = true, value_name = "FILE", default_value = "paidonce.toml")]
    config: PathBuf,
    /// Print JSON for programs instead of tables for people.
    #[arg(long, global = true)]
    json: bool,
    /// Who does it, for the audit [default: the operating system's user].
    #[arg(long, global = true, value_name = "NAME")]
    by: Option<String>,
    /// Ask this server over HTTP instead of opening the store.
    #[arg(long, global = true, value_name = "URL", requires = "key")]
    server: Option<String>,
    /// Where the API key for --server is: env:NAME or file:PATH.
    #[arg(long, global = true, value_name = "env:NAME")]
    key: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write a commented paidonce.toml, create the store, and make the first API key.
    Init(init::InitArgs),
    /// Run the server: notifications, API and workers. One line on stdout says when and where it is ready.
    Serve,
    /// Run every scenario against a real server on a fresh store, and show what was sent, expected and observed.
    Demo(demo::DemoArgs),
    /// Sign a payload file like a provider would, and post it to a source.
    Send(send::SendArgs),
    /// Receive what effects send, verify it, and print it: for trying them.
    Receive(receive::ReceiveArgs),
    /// Orders: what is expected to be paid.
    #[command(subcommand)]
    Orders(orders::OrdersCommand),
    /// The catalogue: prices, and how many there are.
    #[command(subcommand)]
    Products(products::ProductsCommand),
    /// Provider objects that belong to orders.
    #[command(subcommand)]
    References(references::ReferencesCommand),
    /// Notifications that were received.
    #[command(subcommand)]
    Events(events::EventsCommand),
    /// What was granted.
    #[command(subcommand)]
    Entitlements(entitlements::EntitlementsCommand),
    /// What is held for a person.
    #[command(subcommand)]
    Cases(cases::CasesCommand),
    /// The work that is due, done, cancelled or stopped.
    #[command(subcommand)]
    Tasks(tasks::TasksCommand),
    /// API keys.
    #[command(subcommand)]
    Keys(keys::KeysCommand),
    /// An order's story: what happened, where it stands and why, and what repairs it.
    Explain(explain::ExplainArgs),
    /// Check everything in the store against the promises, or list who did what.
    Audit(audit::AuditArgs),
    /// Do now what time has made due; with --all, apply the present policy to every order.
    Sweep(sweep::SweepArgs),
    /// Write everything that the store holds to a file, from any kind of store: to move it, or to keep it.
    Export(export::ExportArgs),
    /// Put an export into an empty store of any kind. Killed half way, it goes on when run again.
    Import(import::ImportArgs),
    /// The configuration.
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// The delivery contracts that are built in.
    #[command(subcommand)]
    Contract(contract::ContractCommand),
    /// Print completions for a shell.
    Completions(completions::CompletionsArgs),
}

/// Runs the command line of this process.
#[must_use]
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    let output = Output { json: cli.global.json };
    let context = Context::new(cli.global, output);
    match dispatch(cli.command, &context) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            output.failure(&failure);
            failure.exit.into()
        }
    }
}

fn dispatch(command: Command, context: &Context) -> Result<Exit, Failure> {
    match command {
        Command::Init(args) => init::run(&args, context),
        Command::Serve => serve::run(context),
        Command::Demo(args) => demo::run(&args, context),
        Command::Send(args) => send::run(&args, context),
        Command::Receive(args) => receive::run(&args, context),
        Command::Orders(command) => orders::run(&command, context),
        Command::Products(command) => products::run(&command, context),
        Command::References(command) => references::run(&command, context),
        Command::Events(command) => events::run(&command, context),
        Command::Entitlements(command) => entitlements::run(&command, context),
        Command::Cases(command) => cases::run(&command, context),
        Command::Tasks(command) => tasks::run(&command, context),
        Command::Keys(command) => keys::run(&command, context),
        Command::Explain(args) => explain::run(&args, context),
        Command::Audit(args) => audit::run(&args, context),
        Command::Sweep(args) => sweep::run(&args, context),
        Command::Export(args) => export::run(&args, context),
        Command::Import(args) => import::run(&args, context),
        Command::Config(command) => config::run(&command, context),
        Command::Contract(command) => contract::run(&command, context),
        Command::Completions(args) => completions::run(&args, context),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
