//! The bodies of the API: one type per shape, serialised and deserialised by the same code, so that the command
//! line shows the same over a store and over HTTP. They hold words and decimal text; they decide nothing.

mod amount;
mod case;
mod entitlement;
mod event;
mod listing;
mod mistake;
mod order;
mod placed;
mod problem;
mod shown;
mod story;
mod task;

pub use amount::{Amount, decimal};
pub use case::{CaseShown, ResolutionShown};
pub use entitlement::{EntitledAnswer, EntitlementShown};
pub use event::{EventShown, InAnswer, InEvent};
pub use listing::Listing;
pub use mistake::{Mistake, Mistakes};
pub use order::{CancelRequest, FulfilWord, LineBody, OrderRequest, ReferenceRequest};
pub use placed::{Cancelled, OrderPlaced, OrderSummary, Registered};
pub use problem::Problem;
pub use shown::{FactShown, OrderShown, PaymentEvent, PaymentShown, ReferenceShown};
pub use story::{EntryShown, ExplanationShown};
pub use task::{Retried, RetryRequest, TaskShown};
