//! What a message may tell: the one shape that templates are given, and that is sent as JSON where there is no template.

use paidonce_engine::News;
use paidonce_ledger::{Happening, Unit, Work};
use serde::Serialize;

use crate::clock::rfc3339;
use crate::http::dto::{Amount, CaseShown, EntitlementShown, LineBody};

/// Everything that a message may tell. Money is decimal text beside its unit; absent things are null.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Telling {
    /// The idempotency key: a receiver that has seen it has this message.
    pub key: String,
    /// What happened, as `on` names it; `entitlement` where a copy of one is kept up to date.
    pub happening: &'static str,
    /// The order's revision that made it necessary: a receiver refuses what is older than what it has.
    pub revision: u64,
    /// When it became necessary.
    pub at: String,
    /// `order`, or `line:N`.
    pub unit: String,
    /// The order as it stands.
    pub order: Option<OrderTold>,
    /// The unit's entitlement, once there is one.
    pub entitlement: Option<EntitlementShown>,
    /// What waits for a person.
    pub case: Option<CaseTold>,
}

/// An order, as strangers to the ledger may know it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OrderTold {
    /// Its id.
    pub id: String,
    /// Who gets it.
    pub customer: Option<String>,
    /// What of it this message is about.
    pub items: Vec<LineBody>,
    /// All that is sold.
    pub lines: Vec<LineBody>,
    /// What must be paid.
    pub total: Amount,
    /// What was settled.
    pub captured: Amount,
    /// What of it went back.
    pub reversed: Amount,
    /// `open`, `cancelled` or `expired`.
    pub state: &'static str,
    /// Where it stands, in one word.
    pub standing: &'static str,
    /// When it was placed.
    pub placed_at: String,
}

/// What waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CaseTold {
    /// Its short name, for `paidonce cases show`.
    pub handle: String,
    /// Why it was opened, as a stable code; empty where the order at hand does not have it.
    pub reason: String,
    /// One sentence with the figures.
    pub detail: String,
    /// When it was opened.
    pub opened_at: String,
}

impl Telling {
    /// What a piece of news tells.
    #[must_use]
    pub fn of(news: &News) -> Self {
        let unit = news.task.unit().unwrap_or(Unit::Order);
        let view = news.order.as_deref();
        let entitlement = view.and_then(|view| {
            let row = view.entitlements.iter().find(|(of, _)| *of == unit);
            row.map(|(unit, row)| EntitlementShown::of(&view.id, *unit, row))
        });
        Self {
            key: news.key.clone(),
            happening: happening(news).map_or("entitlement", Happening::as_str),
            revision: news.revision,
            at: rfc3339(news.at),
            unit: unit.to_string(),
            order: view.map(|view| order(view, unit)),
            entitlement,
            case: case(news),
        }
    }

    /// The default body.
    ///
    /// # Errors
    /// None is known: all of it is text, numbers and lists.
    pub fn to_json(&self) -> Result<Vec<u8>, String> {
        serde_json::to_vec(self).map_err(|error| format!("the default body: {error}"))
    }
}

/// What happened; `None` where a copy is kept up to date.
#[must_use]
pub fn happening(news: &News) -> Option<Happening> {
    match &news.task.work {
        Work::Send { occasion, .. } => Some(occasion.what),
        Work::Grant(_) | Work::Lookup | Work::Sync { .. } => None,
    }
}

fn order(view: &paidonce_engine::OrderView, unit: Unit) -> OrderTold {
    let (row, standing) = (&view.order, &view.standing);
    let money = |minor| Amount::of_minor(minor, row.total.unit());
    OrderTold {
        id: view.id.to_string(),
        customer: row.customer.as_ref().map(ToString::to_string),
        items: row.lines_of(unit).iter().map(LineBody::of).collect(),
        lines: row.lines.iter().map(LineBody::of).collect(),
        total: Amount::of(&row.total),
        captured: money(standing.captured_minor),
        reversed: money(standing.reversed_minor),
        state: row.state.as_str(),
        standing: standing.word.as_str(),
        placed_at: rfc3339(row.placed_at),
    }
}

fn case(news: &News) -> Option<CaseTold> {
    let case = news.case.as_ref()?;
    // The occasion of a case that was opened is the case's handle.
    let handle = news.task.occasion().map(|occasion| occasion.which.to_string()).unwrap_or_default();
    let known = news.order.iter().flat_map(|view| &view.cases);
    let shown = known.map(|(key, case)| CaseShown::of(key, case)).find(|shown| shown.handle == handle);
    Some(CaseTold {
        handle,
        reason: shown.map(|shown| shown.reason).unwrap_or_default(),
        detail: case.detail.clone(),
        opened_at: rfc3339(case.opened_at),
    })
}
