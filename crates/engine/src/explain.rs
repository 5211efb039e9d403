//! "The customer paid, why was nothing delivered?": one timeline, one sentence, and the command that repairs it.

use paidonce_ledger::{
    EventOutcome, OrderState, Standing, Subject, Task, TaskKey, TaskState, Timestamp, Word, Work,
};

use crate::view::OrderView;

/// One line of a timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When.
    pub at: Timestamp,
    /// One word for what kind of thing happened: `order`, `event`, `task`, `entitlement`, `case`.
    pub kind: &'static str,
    /// What happened.
    pub what: String,
}

/// An order's story.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// What happened, oldest first.
    pub timeline: Vec<Entry>,
    /// Where it stands and why, in one sentence a support person can pass on.
    pub sentence: String,
    /// What to run next, if a person has to do something.
    pub next: Option<String>,
}

/// Tells an order's story from everything that hangs on it.
#[must_use]
pub fn explain(view: &OrderView) -> Explanation {
    let mut timeline = vec![placed(view)];
    timeline.extend(events(view));
    timeline.extend(tasks(view));
    timeline.extend(granted(view));
    timeline.extend(cases(view));
    timeline.sort_by_key(|entry| entry.at);
    let (sentence, next) = conclude(view);
    Explanation { timeline, sentence, next }
}

fn placed(view: &OrderView) -> Entry {
    let lines: Vec<_> =
        view.order.lines.iter().map(|line| format!("{} x {}", line.quantity, line.sku)).collect();
    let what = format!("placed: {} for {}", lines.join(", "), view.order.total);
    Entry { at: view.order.placed_at, kind: "order", what }
}

fn events(view: &OrderView) -> Vec<Entry> {
    let mut entries = Vec::new();
    for payment in &view.payments {
        for (key, event) in &payment.events {
            let outcome = match &event.outcome {
                EventOutcome::Unreadable(why) => format!("unreadable: {why}"),
                other => other.as_str().to_owned(),
            };
            let what = format!("{} {} about payment {}: {outcome}", event.kind, key.id, payment.key.id);
            entries.push(Entry { at: event.received_at, kind: "event", what });
            if event.duplicates > 0 {
                let what = format!("{} came {} more time(s), last now", key.id, event.duplicates);
                entries.push(Entry { at: event.last_at, kind: "event", what });
            }
            if let Some(at) = event.dropped_at {
                entries.push(Entry { at, kind: "event", what: format!("{}: its body was dropped", key.id) });
            }
        }
    }
    entries
}

fn tasks(view: &OrderView) -> Vec<Entry> {
    let entry = |(key, task): &(TaskKey, Task)| Entry {
        at: task.created_at,
        kind: "task",
        what: format!("{}: {} after {} attempt(s)", named(key), task.state.as_str(), task.attempts),
    };
    view.tasks.iter().map(entry).collect()
}

/// A task, without the order whose story it stands in.
fn named(key: &TaskKey) -> String {
    match (&key.work, &key.subject) {
        (Work::Grant(unit), _) => format!("grant {unit}"),
        (Work::Lookup, Subject::Payment(payment)) => format!("lookup of payment {}", payment.id),
        (Work::Lookup, _) => "lookup".to_owned(),
        (Work::Sync { unit, effect }, _) => format!("sync {unit} with {effect}"),
        (Work::Send { effect, occasion, .. }, _) => format!("send {occasion} by {effect}"),
    }
}

fn granted(view: &OrderView) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (unit, entitlement) in &view.entitlements {
        let to = entitlement.customer.as_ref().map(|customer| format!(" to {customer}")).unwrap_or_default();
        let what = format!("{unit} granted{to}");
        entries.push(Entry { at: entitlement.granted_at, kind: "entitlement", what });
        if let Some(at) = entitlement.revoked_at {
            entries.push(Entry { at, kind: "entitlement", what: format!("{unit} revoked") });
        }
    }
    entries
}

fn cases(view: &OrderView) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (key, case) in &view.cases {
        let what = format!("{} {} opened about {}: {}", key.reason, key.handle(), key.subject, case.detail);
        entries.push(Entry { at: case.opened_at, kind: "case", what });
        if let Some(resolution) = &case.resolution {
            let by = resolution.by.as_deref().unwrap_or("paidonce");
            let what = format!("{} {} ended by {by}: {}", key.reason, key.handle(), resolution.note);
            entries.push(Entry { at: resolution.at, kind: "case", what });
        }
    }
    entries
}

fn conclude(view: &OrderView) -> (String, Option<String>) {
    let standing = &view.standing;
    let active = view.entitlements.iter().filter(|(_, row)| row.revoked_at.is_none()).count();
    let units = view.order.units().len();
    let grants = |key: &TaskKey| matches!(key.work, Work::Grant(_));
    let pending = view.tasks.iter().find(|(key, task)| task.state == TaskState::Pending && grants(key));
    let why = standing.why(&view.order).join("; ");
    let open: Vec<_> = view.cases.iter().filter(|(_, case)| case.resolution.is_none()).collect();
    let look = open.first().map(|(key, _)| format!("paidonce cases show {}", key.handle()));
    match pending {
        _ if active == units => (format!("Granted; {}: {why}.", standing.word), look),
        Some((key, task)) => (
            format!(
                "{}, not granted yet: {} is due, {} attempt(s) so far; {why}.",
                capital(standing.word),
                named(key),
                task.attempts
            ),
            Some("paidonce serve (a running server grants it; workers.grant must not be off)".to_owned()),
        ),
        None if view.order.state == OrderState::Open && waiting(standing) => {
            (format!("{}, nothing to grant yet: {why}.", capital(standing.word)), look)
        }
        None => (format!("{}, not granted: {why}.", capital(standing.word)), look),
    }
}

fn waiting(standing: &Standing) -> bool {
    matches!(standing.word, Word::Unpaid | Word::Pending | Word::Authorized | Word::PartPaid)
}

fn capital(word: Word) -> String {
    let text = word.as_str().replace('_', " ");
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
