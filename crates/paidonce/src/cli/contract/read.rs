//! `paidonce contract read`: the events and facts that a body would become.

use std::io::Read as _;
use std::path::Path;

use paidonce_contracts::{Delivery, Truth};
use paidonce_ledger::{CaptureState, DisputeState, Fact, FactKey, Money, Notice, Reading, RefundState};
use serde::Serialize;

use super::named::Named;
use crate::cli::context::Context;
use crate::output::{Exit, Failure, Table};

/// The largest body that is read: more than any provider sends.
const BODY_BYTES_MAX: u64 = 16 << 20;

/// One event.
#[derive(Debug, Serialize)]
struct EventShown {
    id: String,
    kind: String,
    account: Option<String>,
    mode: Option<String>,
    /// `facts`, `ignored` or `unreadable`.
    reading: &'static str,
    /// What could not be read, and why.
    problem: Option<String>,
    payment: Option<String>,
    references: Vec<String>,
    hints: Vec<String>,
    facts: Vec<FactShown>,
}

/// One fact.
#[derive(Debug, Serialize)]
struct FactShown {
    kind: &'static str,
    id: Option<String>,
    state: Option<String>,
    amount: Option<String>,
}

/// The whole body.
#[derive(Debug, Serialize)]
struct Shown {
    /// A test notification: answered, and kept nowhere.
    test: bool,
    /// `event`: these facts count; `fetch`: the provider would be asked, and only its answer counts.
    truth: &'static str,
    events: Vec<EventShown>,
}

pub(super) fn run(
    contract: &str,
    body: &Path,
    settings: Option<&Path>,
    context: &Context,
) -> Result<Exit, Failure> {
    let contract = Named::load(contract, settings)?.contract()?;
    let bytes = bytes(body)?;
    let events = match contract.read_sample(&bytes) {
        Delivery::Test => None,
        Delivery::Events(notices) => Some(notices.iter().map(event).collect::<Vec<_>>()),
    };
    let truth = if contract.truth() == Truth::Fetch { "fetch" } else { "event" };
    let shown = Shown { test: events.is_none(), truth, events: events.unwrap_or_default() };
    let unreadable = shown.events.iter().any(|event| event.problem.is_some());
    context.output.show(&shown, people);
    Ok(if unreadable { Exit::Failed } else { Exit::Ok })
}

fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(BODY_BYTES_MAX).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(BODY_BYTES_MAX).read_to_end(&mut bytes))
    };
    let failed =
        |error| Failure::usage(format!("{}: {error}", path.display()), "name a file that can be read");
    read.map_err(failed).map(|_| bytes)
}

fn event(notice: &Notice) -> EventShown {
    let mut shown = EventShown {
        id: notice.id.to_string(),
        kind: notice.kind.to_string(),
        account: notice.account.as_ref().map(ToString::to_string),
        mode: notice.mode.map(|mode| mode.to_string()),
        reading: "ignored",
        problem: None,
        payment: None,
        references: Vec::new(),
        hints: Vec::new(),
        facts: Vec::new(),
    };
    match &notice.reading {
        Reading::Ignored => {}
        Reading::Unreadable(why) => {
            shown.reading = "unreadable";
            shown.problem = Some(why.clone());
        }
        Reading::Facts(claims) => {
            shown.reading = "facts";
            shown.payment = Some(claims.payment.to_string());
            shown.references = claims.references.iter().map(ToString::to_string).collect();
            shown.hints = claims.hints.iter().map(ToString::to_string).collect();
            shown.facts = claims.facts.iter().map(fact).collect();
        }
    }
    shown
}

fn fact(fact: &Fact) -> FactShown {
    let rank = fact.value.rank;
    let (id, state) = match &fact.key {
        FactKey::Captured { id, .. } => {
            (Some(id.to_string()), Some(format!("{:?}", CaptureState::of_rank(rank))))
        }
        FactKey::Refunded { id, .. } => {
            (Some(id.to_string()), Some(format!("{:?}", RefundState::of_rank(rank))))
        }
        FactKey::Disputed { id, stage, .. } => {
            (Some(id.to_string()), Some(format!("{:?}, stage {stage}", DisputeState::of_rank(rank))))
        }
        _ => (None, None),
    };
    let amount = fact.key.unit().zip(fact.value.amount_minor);
    let amount = amount.and_then(|(unit, minor)| Money::new(minor, unit.clone()).ok());
    FactShown {
        kind: fact.key.kind(),
        id,
        state: state.map(|state| state.to_lowercase()),
        amount: amount.map(|money| money.to_string()),
    }
}

fn people(shown: &Shown) -> String {
    if shown.test {
        return "a test notification: answered with success, kept nowhere".to_owned();
    }
    let mut table = Table::new(&["event", "type", "what", "id", "state", "amount"], "No events.");
    for event in &shown.events {
        let what = match (&event.problem, &event.payment) {
            (Some(problem), _) => format!("unreadable: {problem}"),
            (None, Some(payment)) => format!("payment {payment}"),
            (None, None) => "ignored".to_owned(),
        };
        let mode = event.mode.as_deref().unwrap_or_default();
        table.row([&event.id, &event.kind, &what, "", mode, ""]);
        event.references.iter().for_each(|id| table.row(["", "", "reference", id, "", ""]));
        event.hints.iter().for_each(|hint| table.row(["", "", "hint", hint, "", ""]));
        for fact in &event.facts {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            table.row(["", "", fact.kind, &text(&fact.id), &text(&fact.state), &text(&fact.amount)]);
        }
    }
    let fetch = if shown.truth == "fetch" {
        "\n\nOnly the provider's own answer counts: it would be asked."
    } else {
        ""
    };
    format!("{}{fetch}", table.text())
}
