//! What a command answers. An expected business outcome is a reply, never an error.

use std::fmt;

use crate::case::Reason;
use crate::id::{EventId, Hint, OrderId, SecretId, Sku};
use crate::key::Keys;
use crate::task::{Request, TaskState};
use crate::time::Timestamp;

/// What became of one event of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Received {
    /// New, and applied to an order.
    Accepted,
    /// New, applied, and its payment belongs to no order yet.
    Unbound,
    /// Seen before, with the same content.
    Duplicate,
    /// Seen before, with other content: a case is open.
    Conflict,
    /// New, and not a type that matters.
    Ignored,
    /// New, genuine, and not readable: a case is open.
    Unreadable,
    /// New, genuine, and not for this source: a case is open.
    Held(Reason),
    /// Not stored: the payment finds no order, and the source says to refuse it.
    Rejected,
}

impl Received {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Unbound => "unbound",
            Self::Duplicate => "duplicate",
            Self::Conflict => "conflict",
            Self::Ignored => "ignored",
            Self::Unreadable => "unreadable",
            Self::Held(_) => "held",
            Self::Rejected => "rejected",
        }
    }
}

/// One event's reply.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EventReply {
    /// Which event.
    pub event: EventId,
    /// What became of it.
    pub received: Received,
    /// The order that its payment serves.
    pub order: Option<OrderId>,
}

/// The right to try a task.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Claimed {
    /// The fencing number: every further step names it (P9).
    pub version: u64,
    /// Until when. No send may begin that could end later.
    pub until: Timestamp,
    /// Which try this is, from 1.
    pub attempt: u32,
    /// The revision that is desired now.
    pub revision: u64,
    /// The key under which it is sent.
    pub idempotency_key: String,
    /// What was rendered before: it is sent again as it is.
    pub request: Option<Request>,
    /// The receiver is to be asked what became of the request; sending it again could do it twice.
    pub ask: bool,
    /// For a lookup: its number.
    pub number: u32,
}

/// Why a command was refused. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Refusal {
    /// The same command id with another request.
    CommandReused,
    /// The same order id with other content.
    OrderExists,
    /// There is no such order.
    UnknownOrder,
    /// The reference belongs to another order.
    ReferenceTaken {
        /// That order.
        by: OrderId,
    },
    /// The reference is registered for this order with another expected amount.
    ReferenceDiffers,
    /// Something was granted already: a cancelled order must not have been served.
    AlreadyGranted,
    /// Other lines are in the catalogue, this one is not.
    NotForSale {
        /// What.
        sku: Sku,
    },
    /// The catalogue has no price for it in the order's unit of money.
    NoPrice {
        /// What.
        sku: Sku,
    },
    /// The catalogue comes to another total.
    PriceDiffers {
        /// Which.
        total: String,
    },
    /// There are fewer left than are wanted.
    OutOfStock {
        /// Of what.
        sku: Sku,
        /// How many are left.
        free: u64,
    },
    /// More than that is reserved or sold.
    StockTaken {
        /// How many.
        taken: u64,
    },
    /// Money has come or is on its way: only the merchant may cancel it now.
    NotUnpaid,
    /// There is no such task.
    UnknownTask,
    /// The task stands where it cannot be retried.
    TaskNotRetryable {
        /// Where it stands.
        state: TaskState,
    },
    /// The lease is over, or somebody else has the task by now.
    LeaseLost,
    /// Something newer is desired than what was rendered: render again.
    Superseded,
    /// What was to be sent is no longer wanted.
    NotWanted,
    /// A key of this name exists.
    KeyExists,
    /// There is no such key.
    UnknownKey,
    /// There is no such payment.
    UnknownPayment,
    /// There is no such case.
    UnknownCase,
    /// The case was ended before.
    CaseEnded,
    /// Only a case about a payment can end by binding it.
    NotAPayment,
    /// The lookup's answer is older than one that was taken in.
    OlderSnapshot {
        /// The number of that one.
        have: u32,
    },
    /// The lookup was never asked.
    NeverAsked,
    /// Nothing is granted for that unit.
    NotGranted,
    /// There is no such event.
    UnknownEvent,
    /// The bytes are not the stored ones.
    OtherBytes,
    /// The event was read and applied before.
    AlreadyApplied,
    /// The payment belongs to another order.
    NotOfThisOrder,
    /// A row to be imported is there with other content.
    RowDiffers,
}

impl Refusal {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::CommandReused => "idempotency_key_reused",
            Self::OrderExists => "order_exists",
            Self::UnknownOrder => "unknown_order",
            Self::ReferenceTaken { .. } => "reference_taken",
            Self::ReferenceDiffers => "reference_differs",
            Self::AlreadyGranted => "already_granted",
            Self::NotForSale { .. } => "not_for_sale",
            Self::NoPrice { .. } => "no_price",
            Self::PriceDiffers { .. } => "price_differs",
            Self::OutOfStock { .. } => "out_of_stock",
            Self::StockTaken { .. } => "stock_taken",
            Self::NotUnpaid => "not_unpaid",
            Self::UnknownTask => "unknown_task",
            Self::TaskNotRetryable { .. } => "task_not_retryable",
            Self::LeaseLost => "lease_lost",
            Self::Superseded => "superseded",
            Self::NotWanted => "not_wanted",
            Self::KeyExists => "key_exists",
            Self::UnknownKey => "unknown_key",
            Self::UnknownPayment => "unknown_payment",
            Self::UnknownCase => "unknown_case",
            Self::CaseEnded => "case_ended",
            Self::NotAPayment => "not_a_payment",
            Self::OlderSnapshot { .. } => "older_snapshot",
            Self::NeverAsked => "never_asked",
            Self::NotGranted => "not_granted",
            Self::UnknownEvent => "unknown_event",
            Self::OtherBytes => "other_bytes",
            Self::AlreadyApplied => "already_applied",
            Self::NotOfThisOrder => "not_of_this_order",
            Self::RowDiffers => "row_differs",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CommandReused => write!(f, "this idempotency key was used for another request"),
            Self::OrderExists => write!(f, "an order with this id and other content exists"),
            Self::UnknownOrder => write!(f, "there is no such order"),
            Self::ReferenceTaken { by } => write!(f, "the reference is registered for order {by}"),
            Self::ReferenceDiffers => {
                write!(f, "the reference is registered for this order with another expected amount")
            }
            Self::AlreadyGranted => {
                write!(f, "something was granted for this order: take that back first")
            }
            Self::NotForSale { sku } => {
                write!(
                    f,
                    "{sku} is not in the catalogue, and other lines are: an order is of one or the other"
                )
            }
            Self::NoPrice { sku } => write!(f, "{sku} has no price in the order's unit of money"),
            Self::PriceDiffers { total } => write!(f, "the catalogue's total is {total}"),
            Self::OutOfStock { sku, free } => write!(f, "of {sku} only {free} are left"),
            Self::StockTaken { taken } => write!(f, "{taken} are reserved or sold: there cannot be fewer"),
            Self::NotUnpaid => write!(f, "money has come or is on its way: only the shop can cancel it now"),
            Self::UnknownTask => write!(f, "there is no such task"),
            Self::TaskNotRetryable { state } => {
                write!(f, "the task is {}: there is nothing to retry", state.as_str())
            }
            Self::LeaseLost => write!(f, "the lease is over, or somebody else has the task by now"),
            Self::Superseded => write!(f, "something newer is to be sent"),
            Self::NotWanted => write!(f, "that is no longer to be sent"),
            Self::KeyExists => write!(f, "a key of this name exists"),
            Self::UnknownKey => write!(f, "there is no such key"),
            Self::UnknownPayment => write!(f, "there is no such payment"),
            Self::UnknownCase => write!(f, "there is no such case"),
            Self::CaseEnded => write!(f, "the case was ended before"),
            Self::NotAPayment => {
                write!(f, "the case is not about a payment: only a payment can be bound to an order")
            }
            Self::OlderSnapshot { have } => {
                write!(f, "an older snapshot: the answer of lookup {have} is known")
            }
            Self::NeverAsked => write!(f, "that lookup was never asked"),
            Self::NotGranted => write!(f, "nothing is granted for that unit"),
            Self::UnknownEvent => write!(f, "there is no such event"),
            Self::OtherBytes => write!(f, "these are not the bytes that are stored for that event"),
            Self::AlreadyApplied => {
                write!(f, "that event was worked off before: it is applied, or held as not for its source")
            }
            Self::NotOfThisOrder => write!(f, "that payment does not serve this order"),
            Self::RowDiffers => write!(f, "a row to be imported is there with other content"),
        }
    }
}

/// What became of a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Granted {
    /// The entitlement was written.
    Now,
    /// It stood already, or another worker was faster.
    Before,
    /// The order is not eligible: nothing was granted, and the task is cancelled.
    NotEligible,
}

/// A command's answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Reply {
    /// Nothing was decided, and nothing changed: load these as well and ask again.
    Need(Keys),
    /// The order stands, now or since its first request.
    Placed {
        /// Its id.
        order: OrderId,
        /// Its issued hint.
        hint: Hint,
        /// The secret that this request's token is derived with: the token itself is in no reply. `None` if it got
        /// none, and where the order stood before under another command.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        token: Option<SecretId>,
    },
    /// The reference is registered.
    Registered,
    /// The order is cancelled.
    Cancelled,
    /// One reply per event, in the delivery's order.
    Received(Vec<EventReply>),
    /// A grant's outcome.
    Granted(Granted),
    /// The task is pending again.
    Retried,
    /// The key stands, or stands no more.
    KeyChanged,
    /// The lookup may be made, under this number.
    Asked(u32),
    /// The lookup's answer was taken in.
    Observed,
    /// The task may be tried. (Never a stored answer, as are the next three: workers' commands leave other traces.)
    #[cfg_attr(feature = "serde", serde(skip))]
    Claimed(Claimed),
    /// There is nothing to try: it is done, waits, is held, or somebody else has it.
    NotClaimed(TaskState),
    /// The lease runs until then.
    Renewed(Timestamp),
    /// This is to be sent, and nothing else.
    #[cfg_attr(feature = "serde", serde(skip))]
    Prepared(Request),
    /// The try's outcome is recorded; the task stands so.
    Settled(TaskState),
    /// What time had made due is done.
    Swept,
    /// The operator's command was carried out.
    Done,
    /// Refused; nothing changed.
    Refused(Refusal),
}
