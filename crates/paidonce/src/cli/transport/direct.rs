//! The store itself, opened by this process beside whoever else has it open. Writes go through an engine without
//! workers: what becomes due is done by the server.

use std::cell::OnceCell;
use std::sync::Arc;

use paidonce_engine::{Engine, Settings, SubmitError, explain, order_view};
use paidonce_ledger::{
    CancelOrder, Command, Customer, IdError, OrderId, Policy, RegisterReference, Reply, RetryTask, Stamp,
    TaskKey, TaskKind, TaskState, Unit,
};
use paidonce_store::{
    CaseFilter, EntitlementFilter, EventFilter, OrderFilter, PAGE_MAX, Page, Store, StoreError,
    StoreErrorKind, TaskFilter,
};
use tokio::runtime::Runtime;

use super::{Answer, CaseQuery, EntitlementQuery, EventQuery, TaskQuery, Transport, unknown};
use crate::clock::SystemClock;
use crate::config::{Config, StoreUrl};
use crate::fresh;
use crate::http::dto::{
    CaseShown, EntitledAnswer, EntitlementShown, EventShown, ExplanationShown, Listing, Mistakes,
    OrderPlaced, OrderRequest, OrderShown, OrderSummary, ReferenceRequest, TaskShown,
};
use crate::http::order_summaries;
use crate::output::Failure;

/// As many entitlements as the API shows for a yes.
const EVIDENCE_MAX: usize = 20;

/// An open store.
pub(crate) struct Direct {
    config: Config,
    policy: Arc<Policy>,
    by: Arc<str>,
    store: Arc<dyn Store>,
    writer: OnceCell<(Runtime, Engine)>,
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let what = error.to_string();
        match error.kind() {
            StoreErrorKind::Usage => Self::usage(what, "pass `next` of the page before as --after"),
            StoreErrorKind::Corrupt | StoreErrorKind::Internal => {
                Self::new(what, "keep a copy of the store and report this")
            }
            _ => Self::unavailable(what, "check [store] in the configuration, and try again"),
        }
    }
}

impl From<SubmitError> for Failure {
    fn from(error: SubmitError) -> Self {
        Self::unavailable(
            error.to_string(),
            "check the store, and run the command again: it is done only once",
        )
    }
}

impl From<Mistakes> for Failure {
    fn from(mistakes: Mistakes) -> Self {
        Self::usage(mistakes.to_string(), "correct the arguments; see --help")
    }
}

fn id<T>(read: Result<T, IdError>, what: &str) -> Answer<T> {
    read.map_err(|error| Failure::usage(format!("{what}: {error}"), "correct the argument"))
}

fn optional<T: TryFrom<String, Error = IdError>>(text: Option<&String>, what: &str) -> Answer<Option<T>> {
    id(text.cloned().map(T::try_from).transpose(), what)
}

impl Direct {
    /// Opens the configured store.
    pub(crate) fn open(config: Config, by: Arc<str>) -> Answer<Self> {
        if config.store.url == StoreUrl::Memory {
            let what = "the configured store is in the memory of the server that runs on it";
            return Err(Failure::usage(
                what,
                "ask that server with --server, or configure a file in [store]",
            ));
        }
        let store = config.store.open()?;
        Ok(Self { policy: Arc::new(config.policy()), config, by, store, writer: OnceCell::new() })
    }

    /// The store, for questions that no other way offers.
    pub(crate) fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// The merchant's policy.
    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Submits a command and answers after its commit; a refusal is a failure.
    pub(crate) fn submit(&self, command: Command) -> Answer<Reply> {
        let (runtime, engine) = self.writer()?;
        match runtime.block_on(engine.submit(command))? {
            Reply::Refused(refusal) => {
                let failure =
                    Failure::new(refusal.to_string(), "look at it first, then decide; nothing was changed");
                Err(Failure { code: Some(refusal.code()), ..failure })
            }
            reply => Ok(reply),
        }
    }

    fn writer(&self) -> Answer<&(Runtime, Engine)> {
        if self.writer.get().is_none() {
            let failed = |error: std::io::Error| {
                Failure::unavailable(format!("no thread for the committer: {error}"), "try again")
            };
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
            let (store, policy) = (self.store.clone(), self.policy.clone());
            let engine = {
                let _inside = runtime.enter();
                Engine::start(store, Arc::new(SystemClock), policy, Settings::default()).map_err(failed)?
            };
            let _ = self.writer.set((runtime, engine));
        }
        Ok(self.writer.get().expect("it was set above"))
    }

    fn stamp(&self, reason: Option<&str>) -> Stamp {
        Stamp { id: fresh::command_id(), by: self.by.clone(), reason: reason.map(Arc::from) }
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        if let Some((runtime, engine)) = self.writer.take() {
            runtime.block_on(engine.stop());
        }
    }
}

impl Transport for Direct {
    fn place(&self, order: &OrderRequest) -> Answer<OrderPlaced> {
        let command = order.to_command(&self.config.accounts()?, self.stamp(None), None)?;
        match self.submit(Command::PlaceOrder(command))? {
            Reply::Placed { order: id, hint } => Ok(order.placed(&id, &hint)),
            other => unreachable!("an order is placed or refused, not {other:?}"),
        }
    }

    fn orders(&self, customer: Option<&str>, page: &Page) -> Answer<Listing<OrderSummary>> {
        let customer = id(customer.map(Customer::new).transpose(), "--customer")?;
        Ok(order_summaries(self.store(), &self.policy, &OrderFilter { customer }, page)?)
    }

    fn order(&self, order: &str) -> Answer<OrderShown> {
        let key = id(OrderId::new(order), "the order's id")?;
        let view = order_view(self.store(), &self.policy, &key)?;
        view.map(|view| OrderShown::of(&view)).ok_or_else(|| unknown("order", order, "orders list"))
    }

    fn register(&self, order: &str, reference: &ReferenceRequest) -> Answer<OrderShown> {
        let reference = reference.to_reference(&self.config.accounts()?)?;
        let key = id(OrderId::new(order), "the order's id")?;
        let stamp = self.stamp(None);
        self.submit(Command::RegisterReference(RegisterReference { stamp, order: key, reference }))?;
        self.order(order)
    }

    fn cancel(&self, order: &str, reason: &str) -> Answer<OrderShown> {
        let key = id(OrderId::new(order), "the order's id")?;
        self.submit(Command::CancelOrder(CancelOrder { stamp: self.stamp(Some(reason)), order: key }))?;
        self.order(order)
    }

    fn explain(&self, order: &str) -> Answer<ExplanationShown> {
        let key = id(OrderId::new(order), "the order's id")?;
        let view = order_view(self.store(), &self.policy, &key)?;
        let view = view.ok_or_else(|| unknown("order", order, "orders list"))?;
        Ok(ExplanationShown::of(&key, &explain(&view)))
    }

    fn events(&self, query: &EventQuery, page: &Page) -> Answer<Listing<EventShown>> {
        let filter = EventFilter {
            source: optional(query.source.as_ref(), "--source")?,
            outcome: query.outcome.clone(),
            id: optional(query.id.as_ref(), "the event's id")?,
            payment: None,
        };
        Ok(Listing::of(self.store.events(&filter, page)?, |(key, event)| EventShown::of(&key, &event)))
    }

    fn entitlements(&self, query: &EntitlementQuery, page: &Page) -> Answer<Listing<EntitlementShown>> {
        let filter = EntitlementFilter {
            order: optional(query.order.as_ref(), "--order")?,
            customer: optional(query.customer.as_ref(), "--customer")?,
            sku: optional(query.sku.as_ref(), "--sku")?,
            active: query.active,
        };
        let listed = self.store.entitlements(&filter, page)?;
        Ok(Listing::of(listed, |((order, unit), row)| EntitlementShown::of(&order, unit, &row)))
    }

    fn entitled(&self, customer: &str, sku: &str) -> Answer<EntitledAnswer> {
        let (of, thing) = (Some(customer.to_owned()), Some(sku.to_owned()));
        let query = EntitlementQuery { customer: of, sku: thing, active: true, order: None };
        let rows = self.entitlements(&query, &Page::first(EVIDENCE_MAX))?.rows;
        let (customer, sku) = (customer.to_owned(), sku.to_owned());
        Ok(EntitledAnswer { entitled: !rows.is_empty(), customer, sku, entitlements: rows })
    }

    fn cases(&self, query: &CaseQuery, page: &Page) -> Answer<Listing<CaseShown>> {
        let order = optional(query.order.as_ref(), "--order")?;
        let filter = CaseFilter { open: query.open, order };
        Ok(Listing::of(self.store.cases(&filter, page)?, |(key, case)| CaseShown::of(&key, &case)))
    }

    fn case(&self, handle: &str) -> Answer<CaseShown> {
        let mut page = Page::first(PAGE_MAX);
        loop {
            let listed = self.cases(&CaseQuery::default(), &page)?;
            if let Some(case) = listed.rows.into_iter().find(|case| case.handle == handle) {
                return Ok(case);
            }
            if listed.next.is_none() {
                return Err(unknown("case", handle, "cases list --all"));
            }
            page.after = listed.next;
        }
    }

    fn tasks(&self, query: &TaskQuery, page: &Page) -> Answer<Listing<TaskShown>> {
        let state = query.state.as_deref().map(|word| {
            TaskState::parse(word).ok_or_else(|| {
                Failure::usage(format!("{word:?} is no state of a task"), "write pending, done or cancelled")
            })
        });
        let order = optional(query.order.as_ref(), "--order")?;
        let filter = TaskFilter { state: state.transpose()?, order };
        Ok(Listing::of(self.store.tasks(&filter, page)?, |(key, task)| TaskShown::of(&key, &task)))
    }

    fn retry(&self, order: &str, unit: &str, reason: &str) -> Answer<()> {
        let order = id(OrderId::new(order), "the order's id")?;
        let unit = Unit::parse(unit)
            .ok_or_else(|| Failure::usage(format!("{unit:?} is no unit"), "write order, or line:1"))?;
        let task = TaskKey { order, unit, kind: TaskKind::Grant };
        self.submit(Command::RetryTask(RetryTask { stamp: self.stamp(Some(reason)), task })).map(|_| ())
    }
}
