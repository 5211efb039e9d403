//! News as the engine would tell it.

use std::sync::Arc;

use paidonce_engine::{News, OrderView};
use paidonce_ledger::{
    Customer, Digest, EffectName, Fulfil, Happening, Hint, Line, Money, MoneyUnit, Occasion, Order, OrderId,
    OrderState, Policy, Sku, Standing, Subject, TaskKey, Timestamp, Unit, Work,
};

/// 2026-03-01 12:00:00 UTC.
pub(super) const AT: Timestamp = Timestamp(1_772_366_400_000);

/// An order of one customer was paid.
pub(super) fn paid(order: &str, customer: Option<&str>) -> News {
    about(order, customer, Happening::OrderPaid)
}

/// Something happened to an order of one customer.
pub(super) fn about(order: &str, customer: Option<&str>, what: Happening) -> News {
    let id = OrderId::new(order).unwrap();
    let work = Work::Send {
        unit: Unit::Order,
        effect: EffectName::new("tests").unwrap(),
        occasion: Occasion { what, which: "".into() },
    };
    let task = TaskKey { subject: Subject::Order(id.clone()), work };
    News {
        key: task.idempotency_key(3),
        task,
        revision: 3,
        at: AT,
        order: Some(Arc::new(view(id, customer))),
        case: None,
    }
}

fn view(id: OrderId, customer: Option<&str>) -> OrderView {
    let order = Order {
        customer: customer.map(|customer| Customer::new(customer).unwrap()),
        lines: vec![Line { sku: Sku::new("ebook <1>").unwrap(), quantity: 2 }],
        total: Money::parse("19.90", MoneyUnit::iso("EUR").unwrap()).unwrap(),
        fulfil: Fulfil::Order,
        hint: Hint::new("h").unwrap(),
        state: OrderState::Open,
        closed_covering_minor: 0,
        placed_at: AT,
        expires_at: None,
        request: Digest::of_bytes(b""),
        token: None,
        stock: None,
        revision: 3,
        payments: [].into(),
        references: [].into(),
        trace: None,
    };
    OrderView {
        standing: Standing::of(&id, &order, &[], &Policy::default()),
        id,
        order,
        payments: Vec::new(),
        references: Vec::new(),
        tasks: Vec::new(),
        entitlements: Vec::new(),
        cases: Vec::new(),
    }
}
