//! The shape of each table's keys and rows in a line. The compiler sees that no member is forgotten; a member that
//! is new gets a default here, so that older lines are read. (`deny_unknown_fields`: what is not understood is
//! refused and never dropped.)

#[cfg(feature = "document")]
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::sync::Arc;

use paidonce_ledger::{
    ApiKey, Attempt, AttemptKey, Audit, AuditKey, Body, Case, CaseKey, CommandId, CommandRecord, Customer,
    Digest, Entitlement, Event, EventKey, EventOutcome, FactKey, FactValue, Fulfil, Hint, KeyName, Lease,
    Line, Money, Order, OrderId, OrderState, OrderStock, OrderToken, Owner, Payment, PaymentId, PaymentKey,
    Product, Reason, Reference, ReferenceKey, Reply, Request, Resolution, Scope, SecretId, Sku, SourceName,
    Subject, Task, TaskKey, TaskState, Timestamp, Unit,
};
use serde::de::Deserializer;
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::value::{amount, body, digest, maybe_body, maybe_money, money};

/// How a value of the ledger is written and read.
pub(super) trait Form<T> {
    fn write<S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error>;
    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<T, D::Error>;
}

/// The form of what serde knows itself.
pub(super) struct Own;

impl<T: Serialize + for<'de> Deserialize<'de>> Form<T> for Own {
    fn write<S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
        value.serialize(to)
    }
    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        T::deserialize(from)
    }
}

/// A value in its form.
pub(super) struct Shown<'a, F, T>(&'a T, PhantomData<F>);

impl<'a, F, T> Shown<'a, F, T> {
    pub(super) fn new(value: &'a T) -> Self {
        Self(value, PhantomData)
    }
}

impl<F: Form<T>, T> Serialize for Shown<'_, F, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        F::write(self.0, to)
    }
}

pub(super) fn read<F: Form<T>, T>(text: &RawValue) -> Result<T, serde_json::Error> {
    let mut from = serde_json::Deserializer::from_str(text.get());
    F::read(&mut from)
}

/// A table's forms.
pub(super) trait Shape: Sized {
    const TABLE: &'static str;
    type Key;
    type KeyShape: Form<Self::Key>;
    type RowShape: Form<Self>;

    /// Where the row's body was moved to.
    #[cfg(feature = "document")]
    fn archive<'a>(_key: &Self::Key, _archives: &'a BTreeMap<EventKey, Arc<str>>) -> Option<&'a str> {
        None
    }
}

macro_rules! forms {
    ($($shape:ident: $value:ty,)+) => {$(
        impl Form<$value> for $shape {
            fn write<S: Serializer>(value: &$value, to: S) -> Result<S::Ok, S::Error> {
                $shape::serialize(value, to)
            }
            fn read<'de, D: Deserializer<'de>>(from: D) -> Result<$value, D::Error> {
                $shape::deserialize(from)
            }
        }
    )+};
}

forms! {
    EventShape: Event,
    PaymentShape: Payment,
    OrderShape: Order,
    ProductShape: Product,
    ReferenceShape: Reference,
    TaskShape: Task,
    AttemptShape: Attempt,
    EntitlementShape: Entitlement,
    CaseShape: Case,
    CaseKeyShape: CaseKey,
    CommandShape: CommandRecord,
    AuditShape: Audit,
    ApiKeyShape: ApiKey,
}

macro_rules! shapes {
    ($($row:ty: $table:literal, $key:ty as $key_shape:ty, $shape:ty;)+) => {$(
        impl Shape for $row {
            const TABLE: &'static str = $table;
            type Key = $key;
            type KeyShape = $key_shape;
            type RowShape = $shape;
        }
    )+};
}

shapes! {
    Payment: "payments", PaymentKey as Own, PaymentShape;
    FactValue: "facts", (PaymentKey, FactKey) as Own, Own;
    Order: "orders", OrderId as Own, OrderShape;
    Product: "products", Sku as Own, ProductShape;
    Reference: "references", ReferenceKey as Own, ReferenceShape;
    Task: "tasks", TaskKey as Own, TaskShape;
    Attempt: "attempts", AttemptKey as Own, AttemptShape;
    Entitlement: "entitlements", (OrderId, Unit) as Own, EntitlementShape;
    Case: "cases", CaseKey as CaseKeyShape, CaseShape;
    CommandRecord: "commands", CommandId as Own, CommandShape;
    Audit: "audits", AuditKey as Own, AuditShape;
    ApiKey: "api_keys", KeyName as Own, ApiKeyShape;
}

impl Shape for Event {
    const TABLE: &'static str = "events";
    type Key = EventKey;
    type KeyShape = Own;
    type RowShape = EventShape;

    #[cfg(feature = "document")]
    fn archive<'a>(key: &EventKey, archives: &'a BTreeMap<EventKey, Arc<str>>) -> Option<&'a str> {
        archives.get(key).map(|name| &**name)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Event", deny_unknown_fields)]
pub(super) struct EventShape {
    source: SourceName,
    kind: Arc<str>,
    outcome: EventOutcome,
    payment: Option<PaymentId>,
    #[serde(with = "digest")]
    content: Digest,
    #[serde(with = "body")]
    body: Body,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dropped_at: Option<Timestamp>,
    received_at: Timestamp,
    duplicates: u32,
    last_at: Timestamp,
    trace: Option<Arc<str>>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Payment", deny_unknown_fields)]
pub(super) struct PaymentShape {
    order: Option<OrderId>,
    mentions: BTreeSet<ReferenceKey>,
    first_at: Timestamp,
    asked: u32,
    listing: u32,
    provider_revision: Option<u64>,
    listed_at: Option<Timestamp>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Order", deny_unknown_fields)]
pub(super) struct OrderShape {
    customer: Option<Customer>,
    lines: Vec<Line>,
    #[serde(with = "money")]
    total: Money,
    fulfil: Fulfil,
    hint: Hint,
    state: OrderState,
    #[serde(with = "amount")]
    closed_covering_minor: i128,
    placed_at: Timestamp,
    expires_at: Option<Timestamp>,
    #[serde(with = "digest")]
    request: Digest,
    #[serde(default, with = "maybe_token", skip_serializing_if = "Option::is_none")]
    token: Option<OrderToken>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stock: Option<OrderStock>,
    revision: u64,
    payments: BTreeSet<PaymentKey>,
    references: BTreeSet<ReferenceKey>,
    trace: Option<Arc<str>>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Product", deny_unknown_fields)]
pub(super) struct ProductShape {
    prices: Vec<Money>,
    stock: Option<u64>,
    reserved: u64,
    sold: u64,
    set_at: Timestamp,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Reference", deny_unknown_fields)]
pub(super) struct ReferenceShape {
    order: Option<OrderId>,
    #[serde(with = "maybe_money")]
    expected: Option<Money>,
    payments: BTreeSet<PaymentKey>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Task", deny_unknown_fields)]
pub(super) struct TaskShape {
    state: TaskState,
    created_at: Timestamp,
    due_at: Timestamp,
    attempts: u32,
    order_revision: u64,
    delivered: u64,
    version: u64,
    lease: Option<Lease>,
    #[serde(with = "maybe_request")]
    request: Option<Request>,
    trace: Option<Arc<str>>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Request", deny_unknown_fields)]
pub(super) struct RequestShape {
    revision: u64,
    #[serde(with = "body")]
    body: Body,
    first_at: Timestamp,
    uncertain: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "OrderToken", deny_unknown_fields)]
pub(super) struct OrderTokenShape {
    secret: SecretId,
    #[serde(with = "digest")]
    mac: Digest,
}

/// [`OrderTokenShape`] where there may be none.
mod maybe_token {
    use super::{Deserialize, Deserializer, OrderToken, OrderTokenShape, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct One(#[serde(with = "OrderTokenShape")] OrderToken);

    pub(super) fn serialize<S: Serializer>(value: &Option<OrderToken>, to: S) -> Result<S::Ok, S::Error> {
        value.clone().map(One).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<OrderToken>, D::Error> {
        Ok(Option::<One>::deserialize(from)?.map(|one| one.0))
    }
}

/// [`RequestShape`] where there may be none.
mod maybe_request {
    use super::{Deserialize, Deserializer, Request, RequestShape, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct One(#[serde(with = "RequestShape")] Request);

    pub(super) fn serialize<S: Serializer>(value: &Option<Request>, to: S) -> Result<S::Ok, S::Error> {
        value.clone().map(One).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Request>, D::Error> {
        Ok(Option::<One>::deserialize(from)?.map(|one| one.0))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Attempt", deny_unknown_fields)]
pub(super) struct AttemptShape {
    owner: Owner,
    at: Timestamp,
    took_ms: u64,
    outcome: Arc<str>,
    detail: Arc<str>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Entitlement", deny_unknown_fields)]
pub(super) struct EntitlementShape {
    customer: Option<Customer>,
    lines: Vec<Line>,
    granted_at: Timestamp,
    order_revision: u64,
    revoked_at: Option<Timestamp>,
    revoked_by: Option<Arc<str>>,
    kept_by: Option<Arc<str>>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "CaseKey", deny_unknown_fields)]
pub(super) struct CaseKeyShape {
    subject: Subject,
    reason: Reason,
    #[serde(with = "digest")]
    evidence: Digest,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Case", deny_unknown_fields)]
pub(super) struct CaseShape {
    opened_at: Timestamp,
    detail: String,
    order: Option<OrderId>,
    #[serde(with = "maybe_body")]
    body: Option<Body>,
    resolution: Option<Resolution>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "CommandRecord", deny_unknown_fields)]
pub(super) struct CommandShape {
    #[serde(with = "digest")]
    fingerprint: Digest,
    reply: Reply,
    at: Timestamp,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Audit", deny_unknown_fields)]
pub(super) struct AuditShape {
    by: Arc<str>,
    action: Arc<str>,
    subject: String,
    order: Option<OrderId>,
    reason: Option<Arc<str>>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ApiKey", deny_unknown_fields)]
pub(super) struct ApiKeyShape {
    #[serde(with = "digest")]
    digest: Digest,
    scope: Scope,
    created_at: Timestamp,
    revoked_at: Option<Timestamp>,
}
