//! What is asked about orders. A request becomes a command here, or a list of mistakes.

use std::sync::Arc;

use paidonce_ledger::{
    Customer, Fulfil, Hint, LINES_MAX, Line, Money, NewReference, OrderId, OrderToken, PlaceOrder,
    ReferenceId, Sku, Stamp, Timestamp,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::amount::Amount;
use super::mistake::Mistakes;
use super::placed::OrderPlaced;
use crate::clock::parse_rfc3339;
use crate::fresh;
use crate::source::Accounts;

/// How an order is cut into units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FulfilWord {
    /// The whole order at once.
    #[default]
    Order,
    /// Each line by itself.
    Line,
}

/// One position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LineBody {
    /// What is sold.
    #[schema(example = "ebook-1")]
    pub sku: String,
    /// How many, at least 1.
    #[serde(default = "one")]
    pub quantity: u32,
}

fn one() -> u32 {
    1
}

/// A provider's object to register for an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReferenceRequest {
    /// The source whose account the object belongs to.
    #[schema(example = "stripe")]
    pub source: String,
    /// The object's id: a session, an intent, an invoice, an address.
    #[schema(example = "cs_test_a1b2")]
    pub id: String,
    /// What was asked for with it, if that is less than the order's total.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Amount>,
}

/// An order to place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OrderRequest {
    /// Your own id, 1 to 255 bytes. Without it one is generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Who gets it, in your own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub customer: Option<String>,
    /// What is sold.
    pub lines: Vec<LineBody>,
    /// What must be paid, all in.
    pub total: Amount,
    /// How it is cut into units; the whole order is one unit if this is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fulfil: Option<FulfilWord>,
    /// When it may be closed unpaid: RFC 3339 with an offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "2027-01-01T00:00:00Z")]
    pub expires_at: Option<String>,
    /// Provider objects that were already made for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<ReferenceRequest>,
}

impl LineBody {
    /// Writes a line.
    #[must_use]
    pub fn of(line: &Line) -> Self {
        Self { sku: line.sku.to_string(), quantity: line.quantity }
    }
}

impl From<FulfilWord> for Fulfil {
    fn from(word: FulfilWord) -> Self {
        match word {
            FulfilWord::Order => Self::Order,
            FulfilWord::Line => Self::Line,
        }
    }
}

impl From<Fulfil> for FulfilWord {
    fn from(fulfil: Fulfil) -> Self {
        match fulfil {
            Fulfil::Order => Self::Order,
            Fulfil::Line => Self::Line,
        }
    }
}

impl ReferenceRequest {
    /// The reference, or what is wrong with it.
    ///
    /// # Errors
    /// All mistakes.
    pub fn to_reference(&self, accounts: &Accounts) -> Result<NewReference, Mistakes> {
        let mut mistakes = Mistakes::default();
        let reference = self.checked("", accounts, &mut mistakes);
        reference.ok_or(mistakes)
    }

    fn checked(&self, path: &str, accounts: &Accounts, mistakes: &mut Mistakes) -> Option<NewReference> {
        let account = mistakes.noting(&format!("{path}source"), accounts.named(&self.source).cloned());
        let id = mistakes.noting(&format!("{path}id"), ReferenceId::new(&self.id));
        let expected = match &self.expected {
            Some(amount) => Some(money(amount, &format!("{path}expected"), mistakes)?),
            None => None,
        };
        Some(NewReference { account: account?, id: id?, expected })
    }
}

pub(super) fn money(amount: &Amount, path: &str, mistakes: &mut Mistakes) -> Option<Money> {
    amount.money().map_err(|(member, error)| mistakes.add(format!("{path}.{member}"), error)).ok()
}

impl OrderRequest {
    /// The command. Its id, if there is none, and its hint are made here.
    ///
    /// # Errors
    /// All mistakes.
    pub fn to_command(
        &self,
        accounts: &Accounts,
        stamp: Stamp,
        token: Option<OrderToken>,
        trace: Option<Arc<str>>,
    ) -> Result<PlaceOrder, Mistakes> {
        let mut mistakes = Mistakes::default();
        let id = self.id.as_ref().map(|id| mistakes.noting("id", OrderId::new(id)));
        let customer = self.customer.as_ref().map(|name| mistakes.noting("customer", Customer::new(name)));
        let lines = lines(&self.lines, &mut mistakes);
        let total = money(&self.total, "total", &mut mistakes);
        let expires_at = self.expires_at.as_ref().map(|text| moment(text, &mut mistakes));
        let references = references(&self.references, accounts, &mut mistakes);
        let Some(total) = total.filter(|_| mistakes.is_empty()) else { return Err(mistakes) };
        Ok(PlaceOrder {
            stamp,
            generated: id.is_none(),
            order: id.flatten().unwrap_or_else(fresh::order_id),
            hint: fresh::hint(),
            customer: customer.flatten(),
            lines,
            total,
            fulfil: self.fulfil.unwrap_or_default().into(),
            expires_at: expires_at.flatten(),
            references,
            token,
            trace,
        })
    }

    /// What is answered once the order stands.
    #[must_use]
    pub fn placed(&self, id: &OrderId, hint: &Hint, token: Option<String>) -> OrderPlaced {
        let exact = |amount: &Amount| amount.money().as_ref().map_or(amount.clone(), Amount::of);
        OrderPlaced {
            id: id.to_string(),
            hint: hint.to_string(),
            token,
            customer: self.customer.clone(),
            lines: self.lines.clone(),
            total: exact(&self.total),
            fulfil: self.fulfil.unwrap_or_default(),
            references: self.references.clone(),
        }
    }
}

fn lines(lines: &[LineBody], mistakes: &mut Mistakes) -> Vec<Line> {
    if lines.is_empty() || lines.len() > LINES_MAX {
        mistakes
            .add("lines", format_args!("an order has 1 to {LINES_MAX} lines, this one has {}", lines.len()));
        return Vec::new();
    }
    let mut checked = Vec::with_capacity(lines.len());
    for (index, line) in lines.iter().enumerate() {
        if line.quantity == 0 {
            mistakes.add(format!("lines[{index}].quantity"), "it must be at least 1");
        }
        let sku = mistakes.noting(&format!("lines[{index}].sku"), Sku::new(&line.sku));
        checked.extend(sku.map(|sku| Line { sku, quantity: line.quantity }));
    }
    checked
}

/// The most references one request may bring.
const REFERENCES_MAX: usize = 100;

fn references(all: &[ReferenceRequest], accounts: &Accounts, mistakes: &mut Mistakes) -> Vec<NewReference> {
    if all.len() > REFERENCES_MAX {
        mistakes.add("references", format_args!("at most {REFERENCES_MAX} at once, there are {}", all.len()));
        return Vec::new();
    }
    let checked = |(index, reference): (usize, &ReferenceRequest)| {
        reference.checked(&format!("references[{index}]."), accounts, mistakes)
    };
    all.iter().enumerate().filter_map(checked).collect()
}

fn moment(text: &str, mistakes: &mut Mistakes) -> Option<Timestamp> {
    let problem = "write RFC 3339 with an offset, for example 2027-01-01T00:00:00Z";
    mistakes.noting("expires_at", parse_rfc3339(text).ok_or(problem))
}
