//! Listings: filters, pages, and cursors that mean the same on every store.

use paidonce_ledger::{
    Account, Customer, EffectName, EventKey, OrderId, PaymentKey, Sku, SourceName, TaskKind, TaskState,
    Timestamp,
};

use crate::error::{StoreError, StoreErrorKind};

/// The most rows one page may have.
pub const PAGE_MAX: usize = 500;

/// Which part of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// At most this many rows, and at most [`PAGE_MAX`].
    pub limit: usize,
    /// The `next` of the page before.
    pub after: Option<String>,
}

impl Page {
    /// The first `limit` rows.
    #[must_use]
    pub fn first(limit: usize) -> Self {
        Self { limit, after: None }
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit.clamp(1, PAGE_MAX)
    }
}

/// One page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed<T> {
    /// Newest first.
    pub rows: Vec<T>,
    /// What to pass as `after` for the next page; `None` at the end.
    pub next: Option<String>,
}

/// Where a page ended: the row's time, and its key as text to tell rows of one millisecond apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cursor {
    pub(crate) at: Timestamp,
    pub(crate) key: String,
}

impl Cursor {
    pub(crate) fn parse(text: &str) -> Result<Self, StoreError> {
        let parsed = text
            .split_once('~')
            .and_then(|(at, key)| Some(Self { at: Timestamp(at.parse().ok()?), key: key.to_owned() }));
        parsed.ok_or_else(|| {
            StoreError::new(
                StoreErrorKind::Usage,
                "the cursor is none of this listing: pass `next` as it came",
            )
        })
    }

    pub(crate) fn to_text(&self) -> String {
        format!("{}~{}", self.at.0, self.key)
    }
}

/// Cuts a page out of candidates that are sorted newest first and may be one longer than the page.
pub(crate) fn cut<T>(mut rows: Vec<(Cursor, T)>, page: &Page) -> Listed<T> {
    let more = rows.len() > page.limit();
    rows.truncate(page.limit());
    let next = if more { rows.last().map(|(cursor, _)| cursor.to_text()) } else { None };
    Listed { rows: rows.into_iter().map(|(_, row)| row).collect(), next }
}

/// Which orders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OrderFilter {
    /// Of this customer.
    pub customer: Option<Customer>,
}

/// Which events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Received by this source first.
    pub source: Option<SourceName>,
    /// With this outcome's word.
    pub outcome: Option<String>,
    /// About this payment.
    pub payment: Option<PaymentKey>,
    /// With this event id, at any account.
    pub id: Option<paidonce_ledger::EventId>,
}

/// Which entitlements.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntitlementFilter {
    /// Of this order.
    pub order: Option<OrderId>,
    /// Of this customer.
    pub customer: Option<Customer>,
    /// For this sku.
    pub sku: Option<Sku>,
    /// Only those that were not taken back.
    pub active: bool,
}

/// Which cases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CaseFilter {
    /// Only open ones.
    pub open: bool,
    /// That concern this order.
    pub order: Option<OrderId>,
}

/// Which tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskFilter {
    /// In this state.
    pub state: Option<TaskState>,
    /// Of this kind.
    pub kind: Option<TaskKind>,
    /// Carried out by this effect.
    pub effect: Option<EffectName>,
    /// Of this order.
    pub order: Option<OrderId>,
}

/// Which audit rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// That concerned this order.
    pub order: Option<OrderId>,
    /// Done by this key, user or program.
    pub by: Option<String>,
}

/// What one worker looks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Due {
    /// Grants.
    Grants,
    /// Lookups at one account.
    Lookups(Account),
    /// Copies that one effect keeps.
    Syncs(EffectName),
    /// What one effect tells.
    Sends(EffectName),
}

/// What a sweep looks for: aggregates that time has made due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stale {
    /// Open orders whose time was over by then.
    pub expired_by: Timestamp,
    /// Payments that found no order and were first heard of after the one and by the other moment.
    pub unbound: Option<(Timestamp, Timestamp)>,
    /// Tasks that were parked while these were not configured.
    pub configured: Vec<EffectName>,
    /// At most so many of each.
    pub limit: usize,
}

/// Which bodies are looked for: those that nothing needs any more, of events that no open case is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bodies {
    /// Of events received after this moment ..
    pub after: Timestamp,
    /// .. and by this one.
    pub by: Timestamp,
    /// After about so many events, of whatever kind, the search ends.
    pub walk: usize,
    /// At most so many.
    pub limit: usize,
}

/// Bodies that may be dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldBodies {
    /// Their events, oldest first.
    pub events: Vec<EventKey>,
    /// Once these are dropped, none is left that came by then: where the next search goes on.
    pub to: Timestamp,
}

impl Bodies {
    /// What was found up to `edge`, where the walk ended.
    pub(crate) fn found(&self, events: Vec<EventKey>, edge: Timestamp) -> OldBodies {
        let to = if events.len() < self.limit { edge } else { self.after };
        OldBodies { events, to }
    }
}

/// How much there is of what an operator watches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// All orders.
    pub orders: u64,
    /// All events.
    pub events: u64,
    /// All entitlements.
    pub entitlements: u64,
    /// Open cases.
    pub open_cases: u64,
    /// Tasks that workers have to do.
    pub pending_tasks: u64,
    /// Tasks that wait for something to be configured.
    pub parked_tasks: u64,
    /// Tasks that became cases.
    pub held_tasks: u64,
    /// When the oldest of those that workers have to do became due.
    pub oldest_pending_task: Option<Timestamp>,
    /// When the oldest event came that could not be read and waits for a person. (One that waits for a lookup is
    /// among the tasks.)
    pub oldest_pending_event: Option<Timestamp>,
    /// Payments that found no order.
    pub unbound_payments: u64,
}
