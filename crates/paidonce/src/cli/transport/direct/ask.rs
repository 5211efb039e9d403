//! What is asked of an open store, and what the merchant's own commands do.

use paidonce_engine::{explain, order_view};
use paidonce_ledger::{Command, Customer, OrderId, RegisterReference, Reply, TaskKind, TaskState};
use paidonce_store::{
    AuditFilter, CaseFilter, EntitlementFilter, EventFilter, OrderFilter, Page, TaskFilter,
};

use super::super::{
    Answer, AuditQuery, CaseQuery, EntitlementQuery, EventQuery, TaskQuery, Transport, unknown, unknown_case,
    unknown_task,
};
use super::{Direct, id, optional};
use crate::http::dto::{
    AuditShown, CaseShown, EntitledAnswer, EntitlementShown, EventShown, ExplanationShown, Listing,
    OrderPlaced, OrderRequest, OrderShown, OrderSummary, ProductRequest, ProductShown, ReferenceRequest,
    TaskShown, TaskStory,
};
use crate::http::order_summaries;
use crate::output::Failure;

/// As many entitlements as the API shows for a yes.
const EVIDENCE_MAX: usize = 20;

impl Transport for Direct {
    fn place(&self, order: &OrderRequest) -> Answer<OrderPlaced> {
        let (tokens, stamp) = (self.config.tokens()?, self.stamp(None));
        // There is no header here: the command's own id is the key.
        let key = stamp.id.clone();
        let kept = tokens.keep(&key, key.as_str());
        let command = order.to_command(&self.config.accounts()?, stamp, kept, None)?;
        match self.submit(Command::PlaceOrder(command))? {
            Reply::Placed { order: id, hint, token } => {
                let token = token.and_then(|secret| tokens.issue(&secret, &key, key.as_str(), &id));
                Ok(order.placed(&id, &hint, token))
            }
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
        let found = self.store.case(handle)?;
        found.map(|(key, case)| CaseShown::of(&key, &case)).ok_or_else(|| unknown_case(handle))
    }

    fn tasks(&self, query: &TaskQuery, page: &Page) -> Answer<Listing<TaskShown>> {
        let states = "write pending, calling, uncertain, done, cancelled, parked, held or stopped";
        let kinds = "write grant, lookup, sync or send";
        let filter = TaskFilter {
            state: word(query.state.as_deref(), TaskState::parse, "state", states)?,
            kind: word(query.kind.as_deref(), TaskKind::parse, "kind", kinds)?,
            effect: optional(query.effect.as_ref(), "--effect")?,
            order: optional(query.order.as_ref(), "--order")?,
        };
        Ok(Listing::of(self.store.tasks(&filter, page)?, |(key, task)| TaskShown::of(&key, &task)))
    }

    fn task(&self, handle: &str) -> Answer<TaskStory> {
        TaskStory::load(self.store(), handle)?.ok_or_else(|| unknown_task(handle))
    }

    fn set_product(&self, product: &ProductRequest) -> Answer<()> {
        self.submit(Command::SetProduct(product.to_command(self.stamp(None))?)).map(|_| ())
    }

    fn products(&self, page: &Page) -> Answer<Listing<ProductShown>> {
        Ok(Listing::of(self.store.products(page)?, |(sku, row)| ProductShown::of(&sku, &row)))
    }

    fn audits(&self, query: &AuditQuery, page: &Page) -> Answer<Listing<AuditShown>> {
        let order = optional(query.order.as_ref(), "--order")?;
        let filter = AuditFilter { order, by: query.by.clone() };
        Ok(Listing::of(self.store.audits(&filter, page)?, |(key, audit)| AuditShown::of(&key, &audit)))
    }
}

/// One of a few words, if one was given.
fn word<T>(
    text: Option<&str>,
    parse: impl Fn(&str) -> Option<T>,
    what: &str,
    write: &'static str,
) -> Answer<Option<T>> {
    let none = |text| Failure::usage(format!("{text:?} is no {what} of a task"), write);
    text.map(|text| parse(text).ok_or_else(|| none(text))).transpose()
}
