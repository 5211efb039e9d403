//! What is true about payments and orders, and what to do about it.
//!
//! [`Ledger::execute`] is the one place where anything is decided: a pure function of the ledger, a command, the
//! time it is given and the merchant's policy. Stores load the rows a batch of commands needs, execute, and flush
//! the net changes in one commit.
//!
//! This crate does not know the clock, files, sockets, threads, randomness or floating point; serde is an optional
//! derive for the stores' encodings.

mod case;
mod command;
mod decide;
mod digest;
mod fact;
mod id;
pub mod invariants;
mod key;
mod ledger;
mod money;
mod notice;
mod order;
mod policy;
mod product;
mod reply;
mod row;
mod standing;
mod table;
mod task;
#[cfg(feature = "testing")]
pub mod testing;
mod time;

pub use case::{Case, CaseKey, Reason, Resolution, Subject};
pub use command::{
    AddKey, AskLookup, CancelOrder, CancelTask, Claim, Command, Decision, GrantFailed, Import, MarkOutside,
    NewReference, Observe, Outcome, Outside, PlaceOrder, Prepare, Receive, RegisterReference, Renew,
    Reprocess, ResolveCase, RetryTask, ReviveOrder, RevokeKey, SetEntitlement, SetProduct, Settle, Stamp,
};
pub use digest::{Body, Digest};
pub use fact::{CaptureState, DisputeState, Ending, Fact, FactKey, FactValue, Facts, RefundState};
pub use id::{
    Account, CommandId, Customer, EffectName, EventId, EventKey, FactId, Hint, ID_BYTES_MAX, IdError,
    KeyName, Mode, Name, OrderId, Owner, PaymentId, PaymentKey, ReferenceId, ReferenceKey, SecretId, Sku,
    SourceName,
};
pub use key::{Key, Keys, Need};
pub use ledger::{Changes, Ledger, Row};
pub use money::{AMOUNT_MAX, DECIMALS_MAX, Money, MoneyError, MoneyUnit};
pub use notice::{Claims, Notice, Reading};
pub use order::{Fulfil, LINES_MAX, Line, Order, OrderState, OrderToken, Unit};
pub use policy::{
    AfterGrant, AfterGrants, Disputes, EffectRule, Hints, Late, LookupRule, Policy, RefundBlocks, Retries,
    SourcePolicy, Truth, Unmatched,
};
pub use product::{OrderStock, Product, StockState};
pub use reply::{Claimed, EventReply, Granted, Received, Refusal, Reply};
pub use row::{
    ApiKey, Audit, AuditKey, CommandRecord, Entitlement, Event, EventOutcome, Payment, Reference, Scope,
};
pub use standing::{Finding, Loss, Owed, PaymentAccount, Standing, Word};
pub use table::{Change, Table};
pub use task::{
    Attempt, AttemptKey, Happening, Lease, Occasion, Request, Task, TaskKey, TaskKind, TaskState, Work,
};
pub use time::Timestamp;
