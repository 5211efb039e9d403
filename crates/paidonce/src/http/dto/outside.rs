//! Money that moved outside any provider, as it is asked and answered. A request becomes a command here.

use paidonce_ledger::{FactId, MarkOutside, Money, OrderId, Outside, PaymentId, PaymentKey, Stamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::amount::Amount;
use super::mistake::Mistakes;
use super::order::money;
use crate::source::Accounts;

/// What moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutsideWord {
    /// Money came: a payment of its own, under `id`.
    Paid,
    /// That payment was a mistake, or bounced.
    PaidReversed,
    /// Money of `payment` went back.
    Refunded,
}

/// A payment of the order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PaymentNamed {
    /// The source whose account it belongs to. Without it, a payment that was noted as paid outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The provider's id of it, or the one it was noted under.
    pub id: String,
}

/// Money to note for an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OutsideRequest {
    /// What moved.
    pub what: OutsideWord,
    /// The movement's own id: a receipt, a bank reference. Noted twice, it counts once.
    #[schema(example = "receipt-7")]
    pub id: String,
    /// How much.
    pub money: Amount,
    /// What lost the money, if it was refunded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment: Option<PaymentNamed>,
    /// For the audit.
    #[schema(example = "paid in cash at the counter")]
    pub reason: String,
}

/// Money that is noted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OutsideNoted {
    /// For which order.
    pub order: String,
    /// What moved.
    pub what: OutsideWord,
    /// Under which id.
    pub id: String,
    /// How much.
    pub money: Amount,
    /// What lost the money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment: Option<PaymentNamed>,
}

/// What moved, as far as it is known before the command is made.
enum Moved {
    Paid,
    PaidReversed,
    Refunded(PaymentKey),
    /// Of a payment that was noted under this id.
    RefundedOutside(FactId),
}

impl OutsideRequest {
    /// The command.
    ///
    /// # Errors
    /// All mistakes.
    pub fn to_command(
        &self,
        order: OrderId,
        accounts: &Accounts,
        stamp: Stamp,
    ) -> Result<MarkOutside, Mistakes> {
        let mut mistakes = Mistakes::default();
        let id = mistakes.noting("id", FactId::new(&self.id));
        let money = money(&self.money, "money", &mut mistakes);
        let money = money.filter(|money| mistakes.noting("money.amount", positive(money)).is_some());
        let moved = self.moved(accounts, &mut mistakes);
        let (Some(id), Some(money), Some(moved)) = (id, money, moved) else { return Err(mistakes) };
        let paid = MarkOutside { stamp, order, id, money, what: Outside::Paid };
        let what = match moved {
            Moved::Paid => Outside::Paid,
            Moved::PaidReversed => Outside::PaidReversed,
            Moved::Refunded(payment) => Outside::Refunded(payment),
            // The ledger alone knows which payment that was.
            Moved::RefundedOutside(id) => Outside::Refunded(MarkOutside { id, ..paid.clone() }.payment()),
        };
        Ok(MarkOutside { what, ..paid })
    }

    fn moved(&self, accounts: &Accounts, mistakes: &mut Mistakes) -> Option<Moved> {
        let problem = match (self.what, &self.payment) {
            (OutsideWord::Paid, None) => return Some(Moved::Paid),
            (OutsideWord::PaidReversed, None) => return Some(Moved::PaidReversed),
            (OutsideWord::Refunded, Some(payment)) => return payment.moved(accounts, mistakes),
            (OutsideWord::Refunded, None) => "say which payment lost the money",
            (OutsideWord::Paid | OutsideWord::PaidReversed, Some(_)) => "only what was refunded has one",
        };
        mistakes.add("payment", problem);
        None
    }

    /// What is answered once it is noted.
    #[must_use]
    pub fn noted(&self, order: String) -> OutsideNoted {
        let money = self.money.money().as_ref().map_or(self.money.clone(), Amount::of);
        OutsideNoted { order, what: self.what, id: self.id.clone(), money, payment: self.payment.clone() }
    }
}

fn positive(money: &Money) -> Result<(), &'static str> {
    if money.amount_minor() > 0 { Ok(()) } else { Err("it must be more than nothing") }
}

impl PaymentNamed {
    fn moved(&self, accounts: &Accounts, mistakes: &mut Mistakes) -> Option<Moved> {
        let Some(source) = &self.source else {
            return mistakes.noting("payment.id", FactId::new(&self.id)).map(Moved::RefundedOutside);
        };
        let account = mistakes.noting("payment.source", accounts.named(source).cloned());
        let id = mistakes.noting("payment.id", PaymentId::new(&self.id));
        Some(Moved::Refunded(PaymentKey { account: account?, id: id? }))
    }
}
