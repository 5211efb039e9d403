//! One order with everything that hangs on it.

use paidonce_engine::{OrderView, PaymentView};
use paidonce_ledger::{
    CaptureState, DisputeState, FactKey, FactValue, Owed, Reference, ReferenceKey, RefundState,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::amount::{Amount, decimal};
use super::case::CaseShown;
use super::entitlement::EntitlementShown;
use super::order::{FulfilWord, LineBody};
use super::task::TaskShown;
use crate::clock::rfc3339;

/// Something that is known about a payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FactShown {
    /// The kind of fact.
    #[schema(example = "captured")]
    pub kind: String,
    /// The id of the capture, refund or dispute.
    pub id: Option<String>,
    /// How far it has come.
    pub state: Option<String>,
    /// How much; null if the provider did not say.
    pub money: Option<Amount>,
    /// All of that in words.
    #[schema(example = "captured 19.90 EUR, settled")]
    pub words: String,
}

/// An event of a payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PaymentEvent {
    /// The provider's id.
    pub id: String,
    /// The provider's word for its type.
    pub kind: String,
    /// What became of it.
    pub outcome: String,
    /// When it was first received.
    pub received_at: String,
    /// How many more times it came.
    pub duplicates: u32,
}

/// A payment that serves an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PaymentShown {
    /// Whose id it has.
    pub provider: String,
    /// The merchant's account there.
    pub account: String,
    /// `live` or `test`.
    pub mode: String,
    /// The provider's id.
    pub id: String,
    /// When it was first heard of.
    pub first_at: String,
    /// What was settled, in the order's unit.
    pub captured: String,
    /// What of it went back.
    pub reversed: String,
    /// What it owes a lookup for; it is not granted on until that is settled.
    pub owes: Vec<String>,
    /// What is known of it.
    pub facts: Vec<FactShown>,
    /// What told it, newest first.
    pub events: Vec<PaymentEvent>,
}

/// A way that leads from a payment to the order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReferenceShown {
    /// provider/account/mode.
    pub account: String,
    /// The object's id.
    pub id: String,
    /// What was expected when it was issued.
    pub expected: Option<Amount>,
}

/// An order with everything that hangs on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OrderShown {
    /// Its id.
    pub id: String,
    /// Leads a payment's events back to it.
    pub hint: String,
    /// Who gets it.
    pub customer: Option<String>,
    /// What is sold.
    pub lines: Vec<LineBody>,
    /// How it is cut into units.
    pub fulfil: FulfilWord,
    /// `open`, `cancelled` or `expired`.
    pub state: String,
    /// Where it stands, in one word.
    #[schema(example = "paid")]
    pub standing: String,
    /// Why it stands so.
    pub why: Vec<String>,
    /// Whether what counts reaches the total.
    pub covered: bool,
    /// Whether its units may be granted now.
    pub eligible: bool,
    /// Whether it was closed, and money that came after that lets it live again.
    pub revived: bool,
    /// What must be paid.
    pub total: Amount,
    /// What was settled.
    pub captured: String,
    /// What of it went back.
    pub reversed: String,
    /// What counts towards the total now.
    pub covering: String,
    /// What is missing.
    pub outstanding: String,
    /// When it was placed.
    pub placed_at: String,
    /// When it may be closed unpaid.
    pub expires_at: Option<String>,
    /// Rises with every change.
    pub revision: u64,
    /// The payments bound to it.
    pub payments: Vec<PaymentShown>,
    /// The provider objects registered for it.
    pub references: Vec<ReferenceShown>,
    /// Its work.
    pub tasks: Vec<TaskShown>,
    /// What was granted.
    pub entitlements: Vec<EntitlementShown>,
    /// What is or was held for a person.
    pub cases: Vec<CaseShown>,
}

impl OrderShown {
    /// Writes an order's view.
    #[must_use]
    pub fn of(view: &OrderView) -> Self {
        let (order, standing) = (&view.order, &view.standing);
        let money = |minor| decimal(minor, order.total.unit());
        let text = |value: &dyn ToString| value.to_string();
        Self {
            id: text(&view.id),
            hint: text(&order.hint),
            customer: order.customer.as_ref().map(|customer| text(customer)),
            lines: order.lines.iter().map(LineBody::of).collect(),
            fulfil: order.fulfil.into(),
            state: order.state.as_str().to_owned(),
            standing: standing.word.as_str().to_owned(),
            why: standing.why(&view.order),
            covered: standing.covered,
            eligible: standing.eligible,
            revived: standing.revived,
            total: Amount::of(&order.total),
            captured: money(standing.captured_minor),
            reversed: money(standing.reversed_minor),
            covering: money(standing.covering_minor),
            outstanding: money(standing.outstanding_minor(order)),
            placed_at: rfc3339(order.placed_at),
            expires_at: order.expires_at.map(rfc3339),
            revision: order.revision,
            payments: view.payments.iter().map(|payment| PaymentShown::of(payment, &money)).collect(),
            references: view.references.iter().filter_map(ReferenceShown::of).collect(),
            tasks: view.tasks.iter().map(|(key, task)| TaskShown::of(key, task)).collect(),
            entitlements: view
                .entitlements
                .iter()
                .map(|(unit, row)| EntitlementShown::of(&view.id, *unit, row))
                .collect(),
            cases: view.cases.iter().map(|(key, case)| CaseShown::of(key, case)).collect(),
        }
    }
}

impl PaymentShown {
    fn of(view: &PaymentView, money: &dyn Fn(i128) -> String) -> Self {
        let account = &view.key.account;
        let events = view.events.iter().map(|(key, event)| PaymentEvent {
            id: key.id.to_string(),
            kind: event.kind.to_string(),
            outcome: event.outcome.as_str().to_owned(),
            received_at: rfc3339(event.received_at),
            duplicates: event.duplicates,
        });
        Self {
            provider: account.provider.to_string(),
            account: account.name.to_string(),
            mode: account.mode.to_string(),
            id: view.key.id.to_string(),
            first_at: rfc3339(view.payment.first_at),
            captured: money(view.account.captured_minor),
            reversed: money(view.account.reversed_minor),
            owes: view.account.owed.iter().map(|owed| owed_word(*owed).to_owned()).collect(),
            facts: view.facts.iter().map(|(key, value)| FactShown::of(key, *value)).collect(),
            events: events.collect(),
        }
    }
}

fn owed_word(owed: Owed) -> &'static str {
    match owed {
        Owed::NoTotal => "a capture's amount",
        Owed::RefundWithoutAmount => "a refund's amount",
        Owed::RefundTotal => "refunds that are not known one by one",
        Owed::CaptureTotal => "captures that are not known one by one",
        Owed::Contradiction => "whether it ended or was captured",
        Owed::DisputeContradiction => "whether a dispute was won or lost",
        Owed::Announced => "what was announced",
    }
}

impl ReferenceShown {
    /// Hints and own ids are ways too, but not registered objects.
    fn of((key, row): &(ReferenceKey, Reference)) -> Option<Self> {
        let ReferenceKey::Provider(account, id) = key else { return None };
        let expected = row.expected.as_ref().map(Amount::of);
        Some(Self { account: account.to_string(), id: id.to_string(), expected })
    }
}

impl FactShown {
    fn of(key: &FactKey, value: FactValue) -> Self {
        let id = match key {
            FactKey::Captured { id, .. } | FactKey::Refunded { id, .. } | FactKey::Disputed { id, .. } => {
                Some(id.to_string())
            }
            FactKey::AttemptFailed(event) => Some(event.to_string()),
            _ => None,
        };
        let state = state(key, value.rank).map(str::to_owned);
        let money = key.unit().zip(value.amount_minor).map(|(unit, minor)| Amount::of_minor(minor, unit));
        let mut words = key.kind().replace('_', " ");
        if let Some(Amount { amount, unit }) = &money {
            words.push_str(&format!(" {amount} {unit}"));
        }
        if let Some(state) = &state {
            words.push_str(&format!(", {state}"));
        }
        Self { kind: key.kind().to_owned(), id, state, money, words }
    }
}

fn state(key: &FactKey, rank: u8) -> Option<&'static str> {
    Some(match key {
        FactKey::Captured { .. } => match CaptureState::of_rank(rank) {
            CaptureState::Pending => "pending",
            CaptureState::Settled => "settled",
            CaptureState::Reversed => "reversed",
        },
        FactKey::Refunded { .. } => match RefundState::of_rank(rank) {
            RefundState::Pending => "pending",
            RefundState::Succeeded => "succeeded",
            RefundState::Failed => "failed",
        },
        FactKey::Disputed { .. } => match DisputeState::of_rank(rank) {
            DisputeState::Warning => "warning",
            DisputeState::Open => "open",
            DisputeState::Closed => "closed",
            DisputeState::Won => "won",
            DisputeState::Lost => "lost",
            DisputeState::WonAndLost => "won and lost",
        },
        _ => return None,
    })
}
