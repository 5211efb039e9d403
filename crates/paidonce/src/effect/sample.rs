//! Messages that never happened, to try templates with before the first real one: one for each shape that a real one
//! can have.

use paidonce_ledger::Happening;

use super::telling::{CaseTold, OrderTold, Telling};
use crate::http::dto::{Amount, EntitlementShown, LineBody};

const MOMENT: &str = "2026-01-01T00:00:00.000Z";

/// Every shape that news of this can have; `None` is what keeps an entitlement's copy up to date. A case may concern
/// no order, so what tells of cases is tried without one as well.
#[must_use]
pub fn samples(happening: Option<Happening>) -> Vec<Telling> {
    let granted = matches!(
        happening,
        None | Some(
            Happening::EntitlementGranted | Happening::EntitlementRevoked | Happening::EntitlementReinstated
        )
    );
    let case = happening == Some(Happening::CaseOpened);
    let full = Telling {
        key: "po_0000000000000000000000000000000000000000".to_owned(),
        happening: happening.map_or("entitlement", Happening::as_str),
        revision: 2,
        at: MOMENT.to_owned(),
        unit: "order".to_owned(),
        order: Some(order()),
        entitlement: granted.then(|| entitlement(happening != Some(Happening::EntitlementRevoked))),
        case: case.then(|| CaseTold {
            handle: "000000000000".to_owned(),
            reason: "overpaid".to_owned(),
            detail: "an example".to_owned(),
            opened_at: MOMENT.to_owned(),
        }),
    };
    let alone = case.then(|| Telling { order: None, revision: 0, ..full.clone() });
    [Some(full), alone].into_iter().flatten().collect()
}

fn order() -> OrderTold {
    let money = |amount: &str| Amount { amount: amount.to_owned(), unit: "EUR".to_owned() };
    OrderTold {
        id: "order-1".to_owned(),
        customer: Some("customer@example.com".to_owned()),
        items: lines(),
        lines: lines(),
        total: money("19.90"),
        captured: money("19.90"),
        reversed: money("0.00"),
        state: "open",
        standing: "paid",
        placed_at: MOMENT.to_owned(),
    }
}

fn entitlement(active: bool) -> EntitlementShown {
    EntitlementShown {
        order: "order-1".to_owned(),
        unit: "order".to_owned(),
        customer: Some("customer@example.com".to_owned()),
        lines: lines(),
        granted_at: MOMENT.to_owned(),
        revoked_at: (!active).then(|| MOMENT.to_owned()),
        revoked_by: None,
        kept_by: None,
        active,
        order_revision: 2,
    }
}

fn lines() -> Vec<LineBody> {
    vec![LineBody { sku: "ebook-1".to_owned(), quantity: 1 }]
}
