//! Stored events, read again by the contract as it is now: after a contract was mended, or learnt a type.
//!
//! The one way past the verifier, and it takes no bytes from anybody: only the row of an event that was verified when
//! it came in. The header lines of that delivery are not kept, so nothing here asks for one.

use std::sync::Arc;

use paidonce_ledger::{Body, Event, EventId, EventKey, Notice, Reading};

use super::scalar::Unreadable;
use super::{Received, id_of_bytes, identity, is_test, kind, nameless, notice_of};
use crate::contract::Contract;
use crate::contract::plan::{IdRule, KindRule, Plan};
use crate::json::{Document, Kind, Value};
use crate::pointer::Scope;

/// The body of an event that is in a store, and was proved genuine before it came there.
#[derive(Debug, Clone, Copy)]
pub struct Stored<'a> {
    id: &'a EventId,
    kind: &'a Arc<str>,
    body: &'a Body,
}

impl<'a> Stored<'a> {
    /// A row of the ledger, as its store gave it. Rows are made of notices, and those of verified deliveries.
    #[must_use]
    pub fn of(key: &'a EventKey, event: &'a Event) -> Self {
        Self { id: &key.id, kind: &event.kind, body: &event.body }
    }
}

impl Contract {
    /// Reads a stored event as if it came now. It keeps the id that it is stored under, whatever the contract would
    /// call it today; of a batch the stored body is the item.
    ///
    /// Never fails: what still cannot be read is a notice that says so.
    #[must_use]
    pub fn read_stored(&self, stored: &Stored<'_>) -> Notice {
        let (plan, body) = (self.plan(), stored.body);
        let notice = match plan.syntax.json(body.bytes()) {
            Err(problem) => nameless(body.bytes(), format!("body: {problem}")),
            Ok(text) => match Document::parse(&text) {
                Ok(document) => of_object(plan, document.root(), stored),
                Err(error) => nameless(body.bytes(), format!("body: {error}")),
            },
        };
        Notice { id: stored.id.clone(), body: body.clone(), ..notice }
    }
}

fn of_object(plan: &Plan, event: Value<'_>, stored: &Stored<'_>) -> Notice {
    if *event.kind() != Kind::Object {
        return nameless(stored.body.bytes(), "body: not an object".to_owned());
    }
    let kind = match &plan.kind {
        // The header is not kept; the type that it said is.
        KindRule::Header(_) => Ok(stored.kind.clone()),
        _ => kind(plan, Scope { event, item: None }, &[]),
    };
    let notice = notice_of(plan, event, stored.body.clone(), (id(plan, event, stored), kind));
    // Had it come now, it would have been answered and forgotten.
    if plan.items.is_none() && is_test(plan, event) {
        return Notice { reading: Reading::Ignored, ..notice };
    }
    notice
}

/// The stored id, if the contract of today finds one as well: what has no identity of its own is not applied.
fn id(plan: &Plan, event: Value<'_>, stored: &Stored<'_>) -> Result<EventId, Unreadable> {
    let scope = Scope { event, item: None };
    let nameless = *stored.id == id_of_bytes(stored.body);
    let whole = plan
        .items
        .as_ref()
        .filter(|items| nameless && items.find(scope).is_some_and(|list| *list.kind() == Kind::List));
    if let Some(items) = whole {
        // One row cannot become several. The provider's next delivery of it can.
        return Err(Unreadable(format!("{}: a whole delivery is stored here, not one event", items.text())));
    }
    match &plan.id {
        IdRule::Header { .. } if nameless => {
            // Its boundary in the signed text may have been moved, and nobody can look at it any more.
            Err(Unreadable("the id's header: it could not be read when the event came".to_owned()))
        }
        IdRule::Header { .. } | IdRule::Body | IdRule::None => Ok(stored.id.clone()),
        IdRule::Member(_) | IdRule::Derived(..) => {
            let received = Received { headers: &[], at_unix_s: 0 };
            identity::id(&plan.id, scope, stored.body, received).map(|_| stored.id.clone())
        }
    }
}
