//! The bodies of the API: one type per shape, serialised and deserialised by the same code, so that the command
//! line shows the same over a store and over HTTP. They hold words and decimal text; they decide nothing.

mod amount;
mod audit;
mod case;
mod entitlement;
mod event;
mod listing;
mod mine;
mod mistake;
mod order;
mod outside;
mod placed;
mod problem;
mod product;
mod reason;
mod reprocess;
mod shown;
mod story;
mod task;

pub use amount::{Amount, decimal};
pub use audit::AuditShown;
pub use case::{CaseShown, DecisionWord, ResolutionShown, ResolveRequest, Resolved};
pub use entitlement::{EntitledAnswer, EntitlementSet, EntitlementShown};
pub use event::{EventShown, InAnswer, InEvent};
pub use listing::Listing;
pub use mine::{BuyerStatus, MyEntitlement, MyOrder};
pub use mistake::{Mistake, Mistakes};
pub use order::{FulfilWord, LineBody, OrderRequest, ReferenceRequest};
pub use outside::{OutsideNoted, OutsideRequest, OutsideWord, PaymentNamed};
pub use placed::{OrderPlaced, OrderSet, OrderSummary, Registered};
pub use problem::Problem;
pub use product::{ProductRequest, ProductShown, StockShown, StockWord, Unlimited};
pub use reason::{ReasonRequest, reason};
pub use reprocess::{ReadAgain, ReprocessRequest, Reprocessed, StandingChange};
pub use shown::{FactShown, OrderShown, PaymentEvent, PaymentShown, ReferenceShown};
pub use story::{EntryShown, ExplanationShown};
pub use task::{AttemptShown, TaskSet, TaskShown, TaskStory};
