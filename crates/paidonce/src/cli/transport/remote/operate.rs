//! What a person does through a server.

use serde::Serialize;

use super::super::{Answer, Operate, Transport};
use super::{Remote, segment};
use crate::http::dto::{
    CaseShown, OrderShown, OutsideRequest, ReasonRequest, ReprocessRequest, Reprocessed, ResolveRequest,
};

impl Remote {
    /// Does something of which the answer says no more than the request.
    fn act(&self, path: &str, body: &impl Serialize) -> Answer<()> {
        self.post::<serde_json::Value>(path, body).map(|_| ())
    }
}

fn why(reason: &str) -> ReasonRequest {
    ReasonRequest { reason: reason.to_owned() }
}

impl Operate for Remote {
    fn cancel(&self, order: &str, reason: &str) -> Answer<OrderShown> {
        self.act(&format!("/v1/orders/{}/cancel", segment(order)), &why(reason))?;
        self.order(order)
    }

    fn revive(&self, order: &str, reason: &str) -> Answer<OrderShown> {
        self.act(&format!("/v1/orders/{}/revive", segment(order)), &why(reason))?;
        self.order(order)
    }

    fn outside(&self, order: &str, moved: &OutsideRequest) -> Answer<OrderShown> {
        self.act(&format!("/v1/orders/{}/outside", segment(order)), moved)?;
        self.order(order)
    }

    fn resolve(&self, handle: &str, decided: &ResolveRequest) -> Answer<CaseShown> {
        self.act(&format!("/v1/cases/{}/resolve", segment(handle)), decided)?;
        self.case(handle)
    }

    fn retry(&self, handle: &str, reason: &str) -> Answer<()> {
        self.act(&format!("/v1/tasks/{}/retry", segment(handle)), &why(reason))
    }

    fn stop(&self, handle: &str, reason: &str) -> Answer<()> {
        self.act(&format!("/v1/tasks/{}/cancel", segment(handle)), &why(reason))
    }

    fn set_entitlement(&self, order: &str, unit: &str, granted: bool, reason: &str) -> Answer<()> {
        let verb = if granted { "reinstate" } else { "revoke" };
        let path = format!("/v1/entitlements/{}/{}/{verb}", segment(order), segment(unit));
        self.act(&path, &why(reason))
    }

    fn reprocess(&self, request: &ReprocessRequest) -> Answer<Reprocessed> {
        self.post("/v1/events/reprocess", request)
    }
}
