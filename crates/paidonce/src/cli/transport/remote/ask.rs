//! What is asked of a server, and what the merchant's own commands do.

use paidonce_store::Page;

use super::super::{Answer, AuditQuery, CaseQuery, EntitlementQuery, EventQuery, TaskQuery, Transport};
use super::{Remote, segment};
use crate::http::dto::{
    AuditShown, CaseShown, EntitledAnswer, EntitlementShown, EventShown, ExplanationShown, Listing,
    OrderPlaced, OrderRequest, OrderShown, OrderSummary, ProductRequest, ProductShown, ReferenceRequest,
    TaskShown, TaskStory,
};

impl Transport for Remote {
    fn place(&self, order: &OrderRequest) -> Answer<OrderPlaced> {
        self.post("/v1/orders", order)
    }

    fn orders(&self, customer: Option<&str>, page: &Page) -> Answer<Listing<OrderSummary>> {
        let limit = page.limit.to_string();
        let query = [("customer", customer), ("limit", Some(&limit)), ("after", page.after.as_deref())];
        self.get("/v1/orders", &query)
    }

    fn order(&self, id: &str) -> Answer<OrderShown> {
        self.get(&format!("/v1/orders/{}", segment(id)), &[])
    }

    fn register(&self, order: &str, reference: &ReferenceRequest) -> Answer<OrderShown> {
        let _: serde_json::Value =
            self.post(&format!("/v1/orders/{}/references", segment(order)), reference)?;
        self.order(order)
    }

    fn explain(&self, order: &str) -> Answer<ExplanationShown> {
        self.get(&format!("/v1/orders/{}/explain", segment(order)), &[])
    }

    fn events(&self, query: &EventQuery, page: &Page) -> Answer<Listing<EventShown>> {
        let limit = page.limit.to_string();
        let query = [
            ("source", query.source.as_deref()),
            ("outcome", query.outcome.as_deref()),
            ("id", query.id.as_deref()),
            ("limit", Some(limit.as_str())),
            ("after", page.after.as_deref()),
        ];
        self.get("/v1/events", &query)
    }

    fn entitlements(&self, query: &EntitlementQuery, page: &Page) -> Answer<Listing<EntitlementShown>> {
        let limit = page.limit.to_string();
        let query = [
            ("order", query.order.as_deref()),
            ("customer", query.customer.as_deref()),
            ("sku", query.sku.as_deref()),
            ("active", query.active.then_some("true")),
            ("limit", Some(limit.as_str())),
            ("after", page.after.as_deref()),
        ];
        self.get("/v1/entitlements", &query)
    }

    fn entitled(&self, customer: &str, sku: &str) -> Answer<EntitledAnswer> {
        self.get("/v1/entitlements/check", &[("customer", Some(customer)), ("sku", Some(sku))])
    }

    fn cases(&self, query: &CaseQuery, page: &Page) -> Answer<Listing<CaseShown>> {
        let limit = page.limit.to_string();
        let query = [
            ("open", query.open.then_some("true")),
            ("order", query.order.as_deref()),
            ("limit", Some(limit.as_str())),
            ("after", page.after.as_deref()),
        ];
        self.get("/v1/cases", &query)
    }

    fn case(&self, handle: &str) -> Answer<CaseShown> {
        self.get(&format!("/v1/cases/{}", segment(handle)), &[])
    }

    fn tasks(&self, query: &TaskQuery, page: &Page) -> Answer<Listing<TaskShown>> {
        let limit = page.limit.to_string();
        let query = [
            ("state", query.state.as_deref()),
            ("kind", query.kind.as_deref()),
            ("effect", query.effect.as_deref()),
            ("order", query.order.as_deref()),
            ("limit", Some(limit.as_str())),
            ("after", page.after.as_deref()),
        ];
        self.get("/v1/tasks", &query)
    }

    fn task(&self, handle: &str) -> Answer<TaskStory> {
        self.get(&format!("/v1/tasks/{}", segment(handle)), &[])
    }

    fn set_product(&self, product: &ProductRequest) -> Answer<()> {
        self.post::<serde_json::Value>("/v1/products", product).map(|_| ())
    }

    fn products(&self, page: &Page) -> Answer<Listing<ProductShown>> {
        let limit = page.limit.to_string();
        self.get("/v1/products", &[("limit", Some(limit.as_str())), ("after", page.after.as_deref())])
    }

    fn audits(&self, query: &AuditQuery, page: &Page) -> Answer<Listing<AuditShown>> {
        let limit = page.limit.to_string();
        let query = [
            ("order", query.order.as_deref()),
            ("by", query.by.as_deref()),
            ("limit", Some(limit.as_str())),
            ("after", page.after.as_deref()),
        ];
        self.get("/v1/audit", &query)
    }
}
