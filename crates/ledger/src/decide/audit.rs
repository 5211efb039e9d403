//! Which order a command concerned, for its audit row: "what was done about this order?" is one question.

use crate::case::{CaseKey, Subject};
use crate::command::{CancelTask, Claim, Command, Decision, GrantFailed, Prepare, Renew, RetryTask, Settle};
use crate::id::{EventKey, OrderId, PaymentKey};
use crate::key::Need;
use crate::ledger::Ledger;

/// Asked after the command ran, so that what it has just bound counts.
pub(super) fn order(ledger: &Ledger, command: &Command) -> Result<Option<OrderId>, Need> {
    Ok(match command {
        Command::PlaceOrder(c) => Some(c.order.clone()),
        Command::RegisterReference(c) => Some(c.order.clone()),
        Command::CancelOrder(c) => Some(c.order.clone()),
        Command::ReviveOrder(c) => Some(c.order.clone()),
        Command::SetEntitlement(c) => Some(c.order.clone()),
        Command::MarkOutside(c) => Some(c.order.clone()),
        Command::RetryTask(RetryTask { task, .. })
        | Command::CancelTask(CancelTask { task, .. })
        | Command::Claim(Claim { task, .. })
        | Command::Renew(Renew { task, .. })
        | Command::Prepare(Prepare { task, .. })
        | Command::Settle(Settle { task, .. })
        | Command::GrantFailed(GrantFailed { task, .. })
        | Command::Grant(task) => of_subject(ledger, &task.subject)?,
        Command::ResolveCase(c) => match &c.decision {
            Decision::Bind(order) => Some(order.clone()),
            Decision::Accept | Decision::Reject | Decision::Note => of_case(ledger, &c.case)?,
        },
        Command::Reprocess(c) => {
            of_event(ledger, &EventKey { account: c.account.clone(), id: c.notice.id.clone() })?
        }
        Command::AskLookup(c) => of_payment(ledger, &c.payment)?,
        Command::Observe(c) => of_payment(ledger, &c.payment)?,
        // A delivery is about many orders; a key about none; nobody asked for a sweep.
        Command::Receive(_)
        | Command::Sweep(_)
        | Command::Import(_)
        | Command::SetProduct(_)
        | Command::AddKey(_)
        | Command::RevokeKey(_) => None,
    })
}

fn of_case(ledger: &Ledger, key: &CaseKey) -> Result<Option<OrderId>, Need> {
    if let Some(order) = ledger.case(key)?.and_then(|case| case.order.clone()) {
        return Ok(Some(order));
    }
    of_subject(ledger, &key.subject)
}

fn of_subject(ledger: &Ledger, subject: &Subject) -> Result<Option<OrderId>, Need> {
    match subject {
        Subject::Order(order) => Ok(Some(order.clone())),
        Subject::Payment(payment) => of_payment(ledger, payment),
        Subject::Event(event) => of_event(ledger, event),
    }
}

fn of_event(ledger: &Ledger, key: &EventKey) -> Result<Option<OrderId>, Need> {
    let Some(id) = ledger.event(key)?.and_then(|event| event.payment.clone()) else { return Ok(None) };
    of_payment(ledger, &PaymentKey { account: key.account.clone(), id })
}

fn of_payment(ledger: &Ledger, key: &PaymentKey) -> Result<Option<OrderId>, Need> {
    Ok(ledger.payment(key)?.and_then(|payment| payment.order.clone()))
}
