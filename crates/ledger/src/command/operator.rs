//! What a person decides, and what a lookup brings: the commands that repair.

use crate::case::CaseKey;
use crate::fact::Fact;
use crate::id::{Account, FactId, Mode, Name, OrderId, PaymentId, PaymentKey, SourceName};
use crate::money::Money;
use crate::notice::Notice;
use crate::order::Unit;
use crate::task::TaskKey;

use super::{Receive, Stamp};

/// Ask a provider for a payment's account: gives the lookup its number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AskLookup {
    /// Which payment.
    pub payment: PaymentKey,
}

/// A lookup's answer: the complete list of the payment's captures, refunds and disputes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Observe {
    /// Which payment.
    pub payment: PaymentKey,
    /// The number that [`AskLookup`] gave.
    pub number: u32,
    /// The provider's own revision of its object, where it has one.
    pub provider_revision: Option<u64>,
    /// Everything the provider says of it.
    pub facts: Vec<Fact>,
}

/// What a person decides about a case.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Decision {
    /// It is right as it is.
    Accept,
    /// It is wrong, and is dealt with elsewhere.
    Reject,
    /// Its payment serves this order.
    Bind(OrderId),
    /// It stays open; the reason is a note.
    Note,
}

/// Decide about a case.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ResolveCase {
    /// Who, under which id, why.
    pub stamp: Stamp,
    /// Which case.
    pub case: CaseKey,
    /// What.
    pub decision: Decision,
}

/// Stop a task.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CancelTask {
    /// Who, under which id, why.
    pub stamp: Stamp,
    /// Which task.
    pub task: TaskKey,
}

/// Take an entitlement back, or give it back.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SetEntitlement {
    /// Who, under which id, why.
    pub stamp: Stamp,
    /// Of which order.
    pub order: OrderId,
    /// Which unit.
    pub unit: Unit,
    /// Whether it is to be there.
    pub granted: bool,
}

/// Money that moved outside any provider, or that was found to have.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Outside {
    /// Money came: a payment of its own, under this id.
    Paid,
    /// That payment was a mistake, or bounced.
    PaidReversed,
    /// Money of this payment went back.
    Refunded(PaymentKey),
}

/// Note money that moved outside.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MarkOutside {
    /// Who, under which id, why.
    pub stamp: Stamp,
    /// For which order.
    pub order: OrderId,
    /// The movement's own id: a receipt, a bank reference.
    pub id: FactId,
    /// How much.
    pub money: Money,
    /// What moved.
    pub what: Outside,
}

/// Open a closed order again.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReviveOrder {
    /// Who, under which id, why.
    pub stamp: Stamp,
    /// Which order.
    pub order: OrderId,
}

/// Read a stored event again, under the current contract.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reprocess {
    /// Who, under which id, why.
    pub stamp: Stamp,
    /// The source whose choices count.
    pub source: SourceName,
    /// That source's account.
    pub account: Account,
    /// The event under its stored id, as it reads now.
    pub notice: Notice,
}

impl MarkOutside {
    /// The payment that the movement is a fact of: one of its own, or the one that lost money.
    #[must_use]
    pub fn payment(&self) -> PaymentKey {
        if let Outside::Refunded(payment) = &self.what {
            return payment.clone();
        }
        let name = |text| Name::new(text).expect("the constant is a name");
        let account = Account { provider: name("outside"), name: name("operator"), mode: Mode::Live };
        let id = PaymentId::new(self.id.as_str()).expect("the rules of ids are the same for all");
        PaymentKey { account, id }
    }
}

impl Reprocess {
    /// The delivery in which the event would have come.
    #[must_use]
    pub fn receive(&self) -> Receive {
        let (source, account) = (self.source.clone(), self.account.clone());
        Receive { source, account, notices: vec![self.notice.clone()], trace: None }
    }
}
