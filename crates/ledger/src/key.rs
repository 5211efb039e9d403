//! What a store loads and locks: aggregates, in the one global order.

use std::collections::BTreeSet;

use crate::id::{CommandId, EventKey, KeyName, OrderId, PaymentKey, ReferenceKey, Sku};

/// One aggregate. The order of the variants is the order in which locks are taken: references and hints first,
/// so that a registration and a receipt that name the same one cannot miss each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Key {
    /// A reference row.
    Reference(ReferenceKey),
    /// An order with its entitlements, its tasks and the cases about it.
    Order(OrderId),
    /// A product of the catalogue with its figures.
    Product(Sku),
    /// A payment with its facts, its lookup and the cases about it.
    Payment(PaymentKey),
    /// An event, what is to be told of it, and the cases about it.
    Event(EventKey),
    /// A command's record.
    Command(CommandId),
    /// An API key.
    ApiKey(KeyName),
}

/// A set of aggregates, in lock order.
pub type Keys = BTreeSet<Key>;

/// The answer of a lookup in a part of the ledger that was not loaded. Absence is never inferred from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need(pub Keys);

impl Need {
    pub(crate) fn one(key: Key) -> Self {
        Self(BTreeSet::from([key]))
    }
}
