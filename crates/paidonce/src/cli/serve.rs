//! `paidonce serve`: starts the server, says where it listens, and runs until it is told to stop.

use serde::Serialize;

use super::context::Context;
use crate::output::{Exit, Failure, Output};
use crate::serve::{ServeError, Server, serve, signalled};
use crate::telemetry;

/// Said once, on one line of stdout, when everything is ready.
#[derive(Debug, Serialize)]
struct Ready {
    /// Where notifications are taken.
    public: String,
    /// Where the API answers.
    api: String,
}

pub(super) fn run(context: &Context) -> Result<Exit, Failure> {
    let config = context.config()?;
    telemetry::init(&config.log)
        .map_err(|error| Failure::usage(format!("logging: {error}"), "correct [log] in the configuration"))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::unavailable(format!("no threads for the server: {error}"), "try again"))?;
    let output = context.output;
    runtime.block_on(serve(&config, |server| ready(output, server), signalled()))?;
    Ok(Exit::Ok)
}

fn ready(output: Output, server: &Server) {
    let ready = Ready { public: server.public.to_string(), api: server.api().to_string() };
    if output.json {
        output.json_line(&ready);
        return;
    }
    output.text(&format!(
        "paidonce is ready.\n  notifications  http://{}/in/<source>\n  API            http://{}/v1\nStop it with Ctrl-C.",
        ready.public, ready.api
    ));
}

impl From<ServeError> for Failure {
    fn from(error: ServeError) -> Self {
        let what = error.to_string();
        match error {
            ServeError::Config(error) => error.into(),
            ServeError::Listen { .. } => Self::new(what, "correct [server] in the configuration"),
            ServeError::Usage(_) => Self::usage(what, "correct [store] or [grant] in the configuration"),
            ServeError::Store { .. } => {
                Self::unavailable(what, "check [store] in the configuration, and try again")
            }
            ServeError::Thread(_) => Self::unavailable(what, "try again"),
        }
    }
}
