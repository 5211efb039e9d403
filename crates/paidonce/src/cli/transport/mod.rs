//! How a command reaches the ledger: the store itself, or a server's API. Same questions, same answers.

mod direct;
mod remote;

use paidonce_store::Page;

use crate::http::dto::{
    AuditShown, CaseShown, EntitledAnswer, EntitlementShown, EventShown, ExplanationShown, Listing,
    OrderPlaced, OrderRequest, OrderShown, OrderSummary, OutsideRequest, ProductRequest, ProductShown,
    ReferenceRequest, ReprocessRequest, Reprocessed, ResolveRequest, TaskShown, TaskStory,
};
use crate::output::Failure;

pub(crate) use direct::Direct;
pub(crate) use remote::{Remote, agent};

/// An answer, or why there is none.
pub(crate) type Answer<T> = Result<T, Failure>;

/// Which events.
#[derive(Debug, Clone, Default)]
pub(crate) struct EventQuery {
    pub(crate) source: Option<String>,
    pub(crate) outcome: Option<String>,
    pub(crate) id: Option<String>,
}

/// Which entitlements.
#[derive(Debug, Clone, Default)]
pub(crate) struct EntitlementQuery {
    pub(crate) order: Option<String>,
    pub(crate) customer: Option<String>,
    pub(crate) sku: Option<String>,
    pub(crate) active: bool,
}

/// Which cases.
#[derive(Debug, Clone, Default)]
pub(crate) struct CaseQuery {
    pub(crate) open: bool,
    pub(crate) order: Option<String>,
}

/// Which tasks.
#[derive(Debug, Clone, Default)]
pub(crate) struct TaskQuery {
    pub(crate) state: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) effect: Option<String>,
    pub(crate) order: Option<String>,
}

/// Which audit rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct AuditQuery {
    pub(crate) order: Option<String>,
    pub(crate) by: Option<String>,
}

/// Everything that can be asked on both ways, and what the merchant's own program does.
pub(crate) trait Transport: Operate {
    /// Places an order; the same id and content again is the same order.
    fn place(&self, order: &OrderRequest) -> Answer<OrderPlaced>;
    /// Orders, newest first.
    fn orders(&self, customer: Option<&str>, page: &Page) -> Answer<Listing<OrderSummary>>;
    /// One order with everything that hangs on it.
    fn order(&self, id: &str) -> Answer<OrderShown>;
    /// Registers a reference; answers the order as it stands then.
    fn register(&self, order: &str, reference: &ReferenceRequest) -> Answer<OrderShown>;
    /// An order's story.
    fn explain(&self, order: &str) -> Answer<ExplanationShown>;
    /// Events, newest first.
    fn events(&self, query: &EventQuery, page: &Page) -> Answer<Listing<EventShown>>;
    /// Entitlements, newest first.
    fn entitlements(&self, query: &EntitlementQuery, page: &Page) -> Answer<Listing<EntitlementShown>>;
    /// May this customer have this?
    fn entitled(&self, customer: &str, sku: &str) -> Answer<EntitledAnswer>;
    /// Cases, newest first.
    fn cases(&self, query: &CaseQuery, page: &Page) -> Answer<Listing<CaseShown>>;
    /// The case of this handle.
    fn case(&self, handle: &str) -> Answer<CaseShown>;
    /// Tasks, newest first.
    fn tasks(&self, query: &TaskQuery, page: &Page) -> Answer<Listing<TaskShown>>;
    /// The task of this handle, and its tries.
    fn task(&self, handle: &str) -> Answer<TaskStory>;
    /// Sets a product; the same again changes nothing.
    fn set_product(&self, product: &ProductRequest) -> Answer<()>;
    /// The catalogue, what was set last first.
    fn products(&self, page: &Page) -> Answer<Listing<ProductShown>>;
    /// Who did what, newest first.
    fn audits(&self, query: &AuditQuery, page: &Page) -> Answer<Listing<AuditShown>>;
}

/// Everything that a person does on both ways, each with a reason.
pub(crate) trait Operate {
    /// Cancels an order; answers it as it stands then.
    fn cancel(&self, order: &str, reason: &str) -> Answer<OrderShown>;
    /// Opens a closed order again; answers it as it stands then.
    fn revive(&self, order: &str, reason: &str) -> Answer<OrderShown>;
    /// Notes money that moved outside; answers the order as it stands then.
    fn outside(&self, order: &str, moved: &OutsideRequest) -> Answer<OrderShown>;
    /// Decides about the case of this handle; answers it as it stands then.
    fn resolve(&self, handle: &str, decided: &ResolveRequest) -> Answer<CaseShown>;
    /// Makes the task of this handle due again.
    fn retry(&self, handle: &str, reason: &str) -> Answer<()>;
    /// Stops the task of this handle.
    fn stop(&self, handle: &str, reason: &str) -> Answer<()>;
    /// Gives a unit's entitlement back, or takes it back.
    fn set_entitlement(&self, order: &str, unit: &str, granted: bool, reason: &str) -> Answer<()>;
    /// Reads a page of stored events again.
    fn reprocess(&self, request: &ReprocessRequest) -> Answer<Reprocessed>;
}

fn unknown_case(handle: &str) -> Failure {
    unknown("case", handle, "cases list --all")
}

fn unknown_task(handle: &str) -> Failure {
    unknown("task", handle, "tasks list")
}

/// There is no such thing.
fn unknown(what: &str, id: &str, list: &str) -> Failure {
    Failure::new(format!("there is no {what} {id}"), format!("`paidonce {list}` shows what there is"))
}
