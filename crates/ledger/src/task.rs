//! The outbox: the committed intent to do one thing, who may try it now, and what came of the tries.

use std::fmt;
use std::sync::Arc;

use crate::case::Subject;
use crate::digest::{Body, Digest};
use crate::id::{EffectName, OrderId, Owner};
use crate::key::Key;
use crate::order::Unit;
use crate::time::Timestamp;

/// What happened to an order, an entitlement or a case that somebody outside may want to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Happening {
    /// The order's money is there: it became eligible for the first time.
    OrderPaid,
    /// Money of the order went back.
    OrderRefunded,
    /// A payment of the order is disputed, or a dispute came to its end.
    OrderDisputed,
    /// The order was cancelled.
    OrderCancelled,
    /// The order ran out of time.
    OrderExpired,
    /// A unit was granted, for the first time.
    EntitlementGranted,
    /// A unit was taken back.
    EntitlementRevoked,
    /// A unit was given back.
    EntitlementReinstated,
    /// Something waits for a person.
    CaseOpened,
}

impl Happening {
    /// Everything that can happen.
    pub const ALL: [Self; 9] = [
        Self::OrderPaid,
        Self::OrderRefunded,
        Self::OrderDisputed,
        Self::OrderCancelled,
        Self::OrderExpired,
        Self::EntitlementGranted,
        Self::EntitlementRevoked,
        Self::EntitlementReinstated,
        Self::CaseOpened,
    ];

    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OrderPaid => "order_paid",
            Self::OrderRefunded => "order_refunded",
            Self::OrderDisputed => "order_disputed",
            Self::OrderCancelled => "order_cancelled",
            Self::OrderExpired => "order_expired",
            Self::EntitlementGranted => "entitlement_granted",
            Self::EntitlementRevoked => "entitlement_revoked",
            Self::EntitlementReinstated => "entitlement_reinstated",
            Self::CaseOpened => "case_opened",
        }
    }

    /// Reads what [`Happening::as_str`] writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|happening| happening.as_str() == text)
    }
}

impl fmt::Display for Happening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One time that something happened: a retry never makes another, only another happening does.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Occasion {
    /// What happened.
    pub what: Happening,
    /// Which time: empty for what happens once, else a revision, an amount or a handle.
    pub which: Arc<str>,
}

impl fmt::Display for Occasion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.which.is_empty() {
            write!(f, "{}", self.what)
        } else {
            write!(f, "{}@{}", self.what, self.which)
        }
    }
}

impl Occasion {
    /// Reads what `Display` writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (what, which) = text.split_once('@').unwrap_or((text, ""));
        Some(Self { what: Happening::parse(what)?, which: which.into() })
    }
}

/// The kinds of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum TaskKind {
    /// Write an entitlement.
    Grant,
    /// Ask a provider.
    Lookup,
    /// Keep a destination's copy of an entitlement.
    Sync,
    /// Say one thing once.
    Send,
}

impl TaskKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Grant, Self::Lookup, Self::Sync, Self::Send];

    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Grant => "grant",
            Self::Lookup => "lookup",
            Self::Sync => "sync",
            Self::Send => "send",
        }
    }

    /// Reads what [`TaskKind::as_str`] writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// What a task does.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Work {
    /// Write the entitlement of one unit.
    Grant(Unit),
    /// Ask the provider for the payment's present account.
    Lookup,
    /// Keep a destination's copy of one unit's entitlement up to date: one row, whatever was desired meanwhile.
    Sync {
        /// Which unit.
        unit: Unit,
        /// Which destination.
        effect: EffectName,
    },
    /// Say one thing once.
    Send {
        /// Which unit it is about; the whole order where it is about that.
        unit: Unit,
        /// Through which effect.
        effect: EffectName,
        /// What is said.
        occasion: Occasion,
    },
}

/// A task's identity: it is unique, so the commit that makes it necessary twice inserts it once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TaskKey {
    /// Whose work: the aggregate that the task is loaded with.
    pub subject: Subject,
    /// What work.
    pub work: Work,
}

impl TaskKey {
    /// The grant of one unit.
    #[must_use]
    pub fn grant(order: OrderId, unit: Unit) -> Self {
        Self { subject: Subject::Order(order), work: Work::Grant(unit) }
    }

    /// The aggregate it is loaded with.
    #[must_use]
    pub fn key(&self) -> Key {
        self.subject.key()
    }

    /// The order it is about, if it is an order's.
    #[must_use]
    pub fn order(&self) -> Option<&OrderId> {
        match &self.subject {
            Subject::Order(order) => Some(order),
            Subject::Payment(_) | Subject::Event(_) => None,
        }
    }

    /// The kind of work.
    #[must_use]
    pub fn kind(&self) -> TaskKind {
        match &self.work {
            Work::Grant(_) => TaskKind::Grant,
            Work::Lookup => TaskKind::Lookup,
            Work::Sync { .. } => TaskKind::Sync,
            Work::Send { .. } => TaskKind::Send,
        }
    }

    /// The unit it is about; `None` for a lookup.
    #[must_use]
    pub fn unit(&self) -> Option<Unit> {
        match &self.work {
            Work::Grant(unit) | Work::Sync { unit, .. } | Work::Send { unit, .. } => Some(*unit),
            Work::Lookup => None,
        }
    }

    /// The effect that carries it out; `None` for grants and lookups.
    #[must_use]
    pub fn effect(&self) -> Option<&EffectName> {
        match &self.work {
            Work::Sync { effect, .. } | Work::Send { effect, .. } => Some(effect),
            Work::Grant(_) | Work::Lookup => None,
        }
    }

    /// What is said, if it says one thing once.
    #[must_use]
    pub fn occasion(&self) -> Option<&Occasion> {
        match &self.work {
            Work::Send { occasion, .. } => Some(occasion),
            Work::Grant(_) | Work::Lookup | Work::Sync { .. } => None,
        }
    }

    /// The parts that tell it from every other task, as texts.
    fn parts(&self) -> [String; 5] {
        let text = |part: Option<String>| part.unwrap_or_default();
        [
            self.subject.to_string(),
            self.kind().as_str().to_owned(),
            text(self.unit().map(|unit| unit.to_string())),
            text(self.effect().map(ToString::to_string)),
            text(self.occasion().map(ToString::to_string)),
        ]
    }

    /// Digest of the identity: evidence of the cases about it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let parts = self.parts();
        Digest::of_parts(parts.iter().map(String::as_bytes))
    }

    /// A short name for people: 12 hexadecimal digits of its digest.
    #[must_use]
    pub fn handle(&self) -> String {
        self.digest().to_hex()[..12].to_owned()
    }

    /// The `Idempotency-Key` of what is sent: from (subject, unit, effect, revision or occasion), each part with its
    /// length, so that ("a:b", "c") and ("a", "b:c") differ (P11).
    #[must_use]
    pub fn idempotency_key(&self, revision: u64) -> String {
        let mut parts = self.parts().to_vec();
        if self.kind() == TaskKind::Sync {
            parts.push(revision.to_string());
        }
        let digest = Digest::of_parts(parts.iter().map(String::as_bytes)).to_hex();
        format!("po_{}", &digest[..40])
    }
}

impl fmt::Display for TaskKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.subject)?;
        if let Some(unit) = self.unit() {
            write!(f, " {unit}")?;
        }
        write!(f, " {}", self.kind().as_str())?;
        if let Some(effect) = self.effect() {
            write!(f, " {effect}")?;
        }
        if let Some(occasion) = self.occasion() {
            write!(f, " {occasion}")?;
        }
        Ok(())
    }
}

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum TaskState {
    /// To be tried when due.
    Pending,
    /// Its request may be on its way.
    Calling,
    /// A request may have arrived, and nobody knows: tried again under the same key, or looked up, or held.
    Uncertain,
    /// Done.
    Done,
    /// No longer wanted: what made it necessary is no more. It comes back if that changes.
    Cancelled,
    /// What would carry it out is not configured. It waits in plain view.
    Parked,
    /// It became a case: a person decides.
    Held,
    /// Stopped by a person. It comes back only if a person retries it.
    Stopped,
}

impl TaskState {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Pending,
        Self::Calling,
        Self::Uncertain,
        Self::Done,
        Self::Cancelled,
        Self::Parked,
        Self::Held,
        Self::Stopped,
    ];

    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Calling => "calling",
            Self::Uncertain => "uncertain",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Parked => "parked",
            Self::Held => "held",
            Self::Stopped => "stopped",
        }
    }

    /// Reads what [`TaskState::as_str`] writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// Whether a worker has it to do.
    #[must_use]
    pub fn active(self) -> bool {
        matches!(self, Self::Pending | Self::Calling | Self::Uncertain)
    }
}

/// The right to try a task, for a while. Safety rests on the task's version alone.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Lease {
    /// Whose: another text for every claim.
    pub owner: Owner,
    /// Until when.
    pub until: Timestamp,
}

/// What is sent: rendered once, and the same bytes at every try (P11).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Request {
    /// The revision that it was rendered for.
    pub revision: u64,
    /// Its bytes, in the effect's own form.
    pub body: Body,
    /// When it first may have left: the receiver's key window counts from here.
    pub first_at: Timestamp,
    /// Whether the outcome of some try is unknown. It stays so whatever a later try answers, unless the receiver was asked
    /// and does not have it.
    pub uncertain: bool,
}

/// An outbox row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Task {
    /// Where it stands.
    pub state: TaskState,
    /// When it was (last) needed anew.
    pub created_at: Timestamp,
    /// Not before this moment; while it is leased, the lease's end.
    pub due_at: Timestamp,
    /// How often it was tried.
    pub attempts: u32,
    /// The revision that is desired: of the order that made it necessary, or of the entitlement.
    pub order_revision: u64,
    /// For sync: the newest revision that arrived.
    pub delivered: u64,
    /// The fencing number: it only grows (P9).
    pub version: u64,
    /// Who may try it now.
    pub lease: Option<Lease>,
    /// What is being sent.
    pub request: Option<Request>,
    /// Trace context of the event that made it necessary.
    pub trace: Option<Arc<str>>,
}

impl Task {
    /// A task that is due at once.
    #[must_use]
    pub fn due(now: Timestamp, order_revision: u64, trace: Option<Arc<str>>) -> Self {
        Self {
            state: TaskState::Pending,
            created_at: now,
            due_at: now,
            attempts: 0,
            order_revision,
            delivered: 0,
            version: 0,
            lease: None,
            request: None,
            trace,
        }
    }
}

/// One try's identity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AttemptKey {
    /// Of which task.
    pub task: TaskKey,
    /// The version of the lease under which it was tried.
    pub version: u64,
}

/// What came of one try.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Attempt {
    /// Who tried.
    pub owner: Owner,
    /// When the outcome was recorded.
    pub at: Timestamp,
    /// How long it took; 0 where nobody came back to say.
    pub took_ms: u64,
    /// `done`, `retry`, `uncertain`, `refused`, `not_configured`.
    pub outcome: Arc<str>,
    /// What was answered, capped, for people.
    pub detail: Arc<str>,
}
