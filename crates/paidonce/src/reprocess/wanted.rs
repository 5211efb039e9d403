//! Which stored events are wanted, and finding them page by page.

use std::sync::Arc;

use paidonce_ledger::{Event, EventId, EventKey, EventOutcome, SourceName};
use paidonce_store::{EventFilter, Listed, PAGE_MAX, Page, Result, Store};

use crate::http::dto::{Mistakes, ReprocessRequest, reason};
use crate::source::Accounts;

/// Events in one answer, if the request does not say.
const LIMIT: usize = 50;

/// The outcome that may always change. Another one only if it is asked for.
const UNREADABLE: &str = "unreadable";

/// Which stored events, and what to do with them.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    source: Option<SourceName>,
    event: Option<EventId>,
    ignored: bool,
    pub(super) apply: bool,
    pub(super) reason: Option<Arc<str>>,
    limit: usize,
    after: Option<String>,
}

impl Wanted {
    /// What a request asks for.
    ///
    /// # Errors
    /// All mistakes.
    pub(crate) fn of(request: &ReprocessRequest, accounts: &Accounts) -> Result<Self, Mistakes> {
        let mut mistakes = Mistakes::default();
        let source = request.source.as_ref().map(|name| {
            let known = accounts.named(name).and_then(|_| SourceName::new(name).map_err(|e| e.to_string()));
            mistakes.noting("source", known)
        });
        let event = request.event.as_ref().map(|id| mistakes.noting("event", EventId::new(id)));
        let why = match (&request.reason, request.apply) {
            (Some(text), _) => mistakes.noting("reason", reason(text).map(Arc::from)),
            // To look changes nothing, and leaves no audit row that would need one.
            (None, false) => None,
            (None, true) => {
                mistakes.add("reason", "say why: what is applied stands in the audit");
                None
            }
        };
        let limit = request.limit.unwrap_or(LIMIT);
        if !(1..=PAGE_MAX).contains(&limit) {
            mistakes.add("limit", format_args!("it must be between 1 and {PAGE_MAX}"));
        }
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        let (source, event, after) = (source.flatten(), event.flatten(), request.after.clone());
        // Whoever names an event means it, however it stands.
        let ignored = request.ignored || event.is_some();
        Ok(Self { source, event, ignored, apply: request.apply, reason: why, limit, after })
    }

    /// One page of them; `None` if the one that is wanted is not stored at all.
    pub(super) fn find(&self, store: &dyn Store) -> Result<Option<Listed<(EventKey, Event)>>> {
        if self.event.is_some() {
            let any =
                EventFilter { source: self.source.clone(), id: self.event.clone(), ..EventFilter::default() };
            if store.events(&any, &Page::first(1))?.rows.is_empty() {
                return Ok(None);
            }
        }
        self.page(store).map(Some)
    }

    fn page(&self, store: &dyn Store) -> Result<Listed<(EventKey, Event)>> {
        // Both kinds in one sequence: which of them is newer matters to what is granted in between.
        let outcome = (!self.ignored).then(|| UNREADABLE.to_owned());
        let filter =
            EventFilter { source: self.source.clone(), outcome, payment: None, id: self.event.clone() };
        let listed = store.events(&filter, &Page { limit: self.limit, after: self.after.clone() })?;
        // One that is named and has lost its body is told so.
        let again = |event: &Event| {
            matches!(event.outcome, EventOutcome::Unreadable(_) | EventOutcome::Ignored)
                || (self.event.is_some() && event.dropped_at.is_some())
        };
        let rows = listed.rows.into_iter().filter(|(_, event)| again(event)).collect();
        Ok(Listed { rows, next: listed.next })
    }
}
