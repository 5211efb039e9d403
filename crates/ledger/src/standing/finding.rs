//! What in a standing a person has to see. Each finding becomes a case, and the case ends when the finding does.

use crate::case::{Reason, Subject};
use crate::digest::Digest;
use crate::id::{OrderId, PaymentKey};
use crate::order::Order;

use super::account::{Owed, PaymentAccount};
use super::{Standing, Word, show};

/// One thing that is wrong with an order's money.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The order, or the payment that it is about.
    pub subject: Subject,
    /// What is wrong.
    pub reason: Reason,
    /// Digest of the figures: other figures are another case.
    pub evidence: Digest,
    /// The sentence with the figures.
    pub detail: String,
}

impl Finding {
    pub(crate) fn new(subject: Subject, reason: Reason, detail: String) -> Self {
        // The sentence holds every figure, and nothing else that may vary.
        Self { subject, reason, evidence: Digest::of_bytes(detail.as_bytes()), detail }
    }
}

pub(super) fn findings(id: &OrderId, order: &Order, standing: &Standing) -> Vec<Finding> {
    let mut findings: Vec<_> =
        standing.payments.iter().flat_map(|(key, account)| of_payment(key, account, order)).collect();
    findings.extend(of_order(id, order, standing));
    findings
}

fn of_payment(key: &PaymentKey, account: &PaymentAccount, order: &Order) -> Vec<Finding> {
    let money = |minor| show(minor, order.total.unit());
    let mut findings = Vec::new();
    let mut find = |reason, detail: String| {
        findings.push(Finding::new(Subject::Payment(key.clone()), reason, detail));
    };
    for owed in &account.owed {
        match owed {
            Owed::NoTotal => {
                find(Reason::NoTotal, "a capture came without an amount or a currency".to_owned())
            }
            Owed::Contradiction => {
                find(Reason::Contradictory, "it ended as failed or expired, and it was captured".to_owned());
            }
            Owed::DisputeContradiction => {
                find(Reason::DisputeContradictory, "one stage of a dispute was both won and lost".to_owned());
            }
            Owed::CaptureTotal => find(
                Reason::NoTotal,
                "the provider reports more captured than is known capture by capture".to_owned(),
            ),
            Owed::RefundTotal => find(
                Reason::RefundUnclear,
                format!(
                    "the provider reports more refunded than is known refund by refund; {} counts as gone",
                    money(account.reversed_minor)
                ),
            ),
            // Its lookup is under way; if that keeps failing, its task becomes the case.
            Owed::Announced => {}
            Owed::RefundWithoutAmount => {
                find(Reason::RefundUnclear, "a refund came without an amount or a currency".to_owned());
            }
        }
    }
    for (unit, minor) in &account.foreign {
        let detail = format!("{} captured; the order is in {}", show(*minor, unit), order.total.unit());
        find(Reason::WrongMoneyUnit, detail);
    }
    if account.foreign_reversal {
        find(Reason::RefundUnclear, format!("money went back in another unit than {}", order.total.unit()));
    }
    if account.refund_ahead_minor > 0 && account.captured_minor > 0 {
        let (back, came) = (account.reversed_minor + account.refund_ahead_minor, account.captured_minor);
        find(Reason::RefundAhead, format!("{} went back, {} came", money(back), money(came)));
    }
    findings
}

fn of_order(id: &OrderId, order: &Order, standing: &Standing) -> Option<Finding> {
    let money = |minor| show(minor, order.total.unit());
    let (covering, total) = (money(standing.covering_minor), money(order.total.amount_minor()));
    if standing.sold_out {
        let pieces = order.stock.iter().flat_map(|stock| &stock.pieces);
        let pieces: Vec<_> = pieces.map(|(sku, n)| format!("{n} of {sku}")).collect();
        let detail = format!("{covering} came, and there are no longer {}", pieces.join(", "));
        return Some(Finding::new(Subject::Order(id.clone()), Reason::SoldOut, detail));
    }
    let (reason, detail) = match standing.word {
        Word::PartPaid => (Reason::AmountShort, format!("{covering} of {total} came")),
        Word::Overpaid => (Reason::Overpaid, format!("{covering} came for {total}")),
        Word::PaidTwice => {
            (Reason::PaidTwice, format!("{covering} came for {total}, in payments that each cover it"))
        }
        Word::Late => {
            let left = money(standing.captured_minor - standing.reversed_minor);
            (Reason::PaidLate, format!("{left} came; the order is {}", order.state.as_str()))
        }
        _ => return None,
    };
    Some(Finding::new(Subject::Order(id.clone()), reason, detail))
}
