//! Builders for tests: short ways to write commands, and random programs of them. Not part of the product.

mod program;

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Account, Body, CancelOrder, Claims, Command, CommandId, Customer, Digest, EffectRule, EventId, Fact,
    Fulfil, Happening, Hint, Line, LookupRule, Mode, Money, MoneyUnit, Name, NewReference, Notice, OrderId,
    PaymentId, PlaceOrder, Policy, Reading, Receive, ReferenceId, RegisterReference, Retries, SetProduct,
    Sku, SourceName, Stamp,
};

pub use program::{any_batches, any_facts, permuted};

/// An identifier out of test text.
///
/// # Panics
/// The text is no identifier.
pub fn id<T: std::str::FromStr>(text: &str) -> T
where
    T::Err: std::fmt::Debug,
{
    text.parse().expect("test ids are well-formed")
}

/// `stripe/acme/live`.
#[must_use]
pub fn account() -> Account {
    Account { provider: id::<Name>("stripe"), name: id::<Name>("acme"), mode: Mode::Live }
}

/// Euros, from decimal text.
///
/// # Panics
/// The text is no amount.
#[must_use]
pub fn eur(text: &str) -> Money {
    money(text, "EUR")
}

/// Money, from decimal text and a unit of money.
///
/// # Panics
/// The texts are no amount.
#[must_use]
pub fn money(text: &str, unit: &str) -> Money {
    let unit = MoneyUnit::parse(unit).expect("a unit of money");
    Money::parse(text, unit).expect("an amount")
}

/// A stamp whose command id is `command`.
#[must_use]
pub fn stamp(command: &str) -> Stamp {
    Stamp { id: id::<CommandId>(command), by: "tester".into(), reason: None }
}

/// A reference at [`account`].
#[must_use]
pub fn reference(text: &str) -> NewReference {
    NewReference { account: account(), id: id::<ReferenceId>(text), expected: None }
}

/// An order of the merchant's own id: one ebook for one customer, with these references.
#[must_use]
pub fn place(order: &str, total: &Money, references: &[&str]) -> PlaceOrder {
    PlaceOrder {
        stamp: stamp(&format!("place-{order}")),
        order: id::<OrderId>(order),
        generated: false,
        hint: id::<Hint>(&format!("po_{order}")),
        customer: Some(id::<Customer>("alice")),
        lines: vec![Line { sku: id::<Sku>("ebook"), quantity: 1 }],
        total: total.clone(),
        fulfil: Fulfil::Order,
        expires_at: None,
        references: references.iter().map(|text| reference(text)).collect(),
        token: None,
        trace: None,
    }
}

/// Sets a product of the catalogue: one price, and pieces or as many as are wanted.
#[must_use]
pub fn product(command: &str, sku: &str, price: &Money, stock: Option<u64>) -> Command {
    let prices = vec![price.clone()];
    Command::SetProduct(SetProduct { stamp: stamp(command), sku: id(sku), prices, stock })
}

/// Registers a reference.
#[must_use]
pub fn register(order: &str, text: &str) -> Command {
    Command::RegisterReference(RegisterReference {
        stamp: stamp(&format!("register-{order}-{text}")),
        order: id(order),
        reference: reference(text),
    })
}

/// Cancels an order.
#[must_use]
pub fn cancel(order: &str) -> Command {
    let stamp = stamp(&format!("cancel-{order}"));
    Command::CancelOrder(CancelOrder { stamp, order: id(order), unpaid: false })
}

/// A notice whose bytes are made of its id and what it claims, so that equal notices have equal bodies.
#[must_use]
pub fn notice(event: &str, reading: Reading) -> Notice {
    let body = Body::new(format!("{event} {reading:?}").into_bytes());
    Notice {
        id: id::<EventId>(event),
        kind: "test".into(),
        account: None,
        mode: None,
        reading,
        content: body.digest(),
        body,
    }
}

/// A notice about a payment.
#[must_use]
pub fn about(event: &str, payment: &str, facts: Vec<Fact>) -> Notice {
    let claims = Claims { payment: id::<PaymentId>(payment), references: vec![], hints: vec![], facts };
    notice(event, Reading::Facts(claims))
}

/// A delivery to the source `shop` at [`account`].
#[must_use]
pub fn receive(notices: Vec<Notice>) -> Command {
    Command::Receive(Receive { source: id::<SourceName>("shop"), account: account(), notices, trace: None })
}

/// The same notice with other bytes.
#[must_use]
pub fn with_other_bytes(notice: &Notice) -> Notice {
    let mut bytes = notice.body.bytes().to_vec();
    bytes.push(b'!');
    let body = Body::new(bytes);
    Notice { content: Digest::of_bytes(body.bytes()), body, ..notice.clone() }
}

/// A policy under which everything happens: a destination that keeps copies, a mailer that tells all, and an account
/// whose payments can be looked up. Bodies are dropped after twenty seconds.
#[must_use]
pub fn busy_policy() -> Policy {
    let retries = Retries { attempts_max: 3, first_ms: 1_000, longest_ms: 60_000 };
    let copy = EffectRule {
        sync: true,
        key_window_ms: Some(86_400_000),
        on: BTreeSet::new(),
        retries,
        ..EffectRule::default()
    };
    let mail = EffectRule { on: Happening::ALL.into(), retries, ..EffectRule::default() };
    Policy {
        effects: BTreeMap::from([(id("copy"), copy), (id("mail"), mail)]),
        lookups: BTreeMap::from([(account(), LookupRule::default())]),
        body_retention_ms: Some(20_000),
        ..Policy::default()
    }
}
