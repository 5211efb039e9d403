//! The demo: a real server process on a fresh store, real signed notifications over real sockets, one row for each
//! scenario of [`crate::scenario`]. It knows nothing of the server but its command line, its API and its signals.

mod child;
mod player;
mod shop;

use std::sync::Arc;

use serde::Serialize;

use crate::cli::{AuditReport, Direct, audit};
use crate::config::Config;
use crate::output::{Exit, Failure, Output, Progress, Table};
use crate::scenario::{Scenario, all};
use child::Child;
use player::Player;
use shop::Shop;

/// One scenario as it went.
#[derive(Debug, Serialize)]
struct Row {
    scenario: &'static str,
    promises: &'static [&'static str],
    sent: &'static str,
    expected: String,
    observed: String,
    ok: bool,
}

/// Everything that went.
#[derive(Debug, Serialize)]
struct Report {
    scenarios: Vec<Row>,
    audit: AuditReport,
}

/// Plays every scenario. Without `once` the server stays up until Ctrl-C.
///
/// # Errors
/// The server does not start, or its store cannot be read.
pub(crate) fn demo(once: bool, output: Output) -> Result<Exit, Failure> {
    let shop = Shop::open()?;
    let child = Child::start(&shop, true)?;
    let mut player = Player::new(&shop, child)?;
    let mut progress = Progress::new("playing scenario", all().count());
    let mut rows = Vec::new();
    for scenario in all() {
        progress.at(rows.len() + 1);
        rows.push(row(scenario, &mut player));
    }
    progress.clear();
    let report = Report { scenarios: rows, audit: audited(&shop)? };
    output.show(&report, text);
    if !once {
        output.remark(&shop.where_to_look(player.child()?));
        stay()?;
    }
    Ok(report.exit())
}

impl Report {
    fn exit(&self) -> Exit {
        if self.scenarios.iter().all(|row| row.ok) { self.audit.exit() } else { Exit::Differs }
    }
}

fn row(scenario: &Scenario, player: &mut Player<'_>) -> Row {
    let (answers, outcome) = (scenario.answers(), player.play(scenario));
    Row {
        scenario: scenario.name,
        promises: scenario.promises,
        sent: scenario.sent,
        expected: scenario.expected.text(&answers),
        observed: outcome.to_string(),
        ok: scenario.expected.met(&answers, &outcome),
    }
}

/// As `paidonce audit` would, beside the running server.
fn audited(shop: &Shop) -> Result<AuditReport, Failure> {
    audit(&Direct::open(Config::load(&shop.config_file())?, Arc::from("demo"))?)
}

fn text(report: &Report) -> String {
    let mut table = Table::new(&["scenario", "sent", "expected", "observed", "ok"], "");
    for row in &report.scenarios {
        let ok = if row.ok { "ok" } else { "DIFFERS" };
        table.row([row.scenario, row.sent, &row.expected, &row.observed, ok]);
    }
    let (all, good) = (report.scenarios.len(), report.scenarios.iter().filter(|row| row.ok).count());
    format!("{}\n\n{good} of {all} scenarios as expected.\n{}", table.text(), report.audit.text())
}

/// Until Ctrl-C.
fn stay() -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::unavailable(error.to_string(), "try again"))?;
    runtime.block_on(crate::serve::signalled());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(ok: bool) -> Report {
        let (expected, observed) = ("paid".to_owned(), if ok { "paid" } else { "unpaid" }.to_owned());
        let row = Row { scenario: "accepted", promises: &["P1"], sent: "a payment", expected, observed, ok };
        Report { scenarios: vec![row], audit: AuditReport::default() }
    }

    #[test]
    fn one_difference_fails_the_demo_and_is_seen() {
        assert_eq!((report(true).exit(), report(false).exit()), (Exit::Ok, Exit::Differs));
        assert!(text(&report(false)).contains("DIFFERS"));
        assert!(text(&report(false)).contains("0 of 1 scenarios as expected"));
    }
}
