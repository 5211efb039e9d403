//! What each command does. One file per family; pure, and nothing is read but through the ledger's own accessors.

mod audit;
mod bind;
mod case;
mod effect;
mod grant;
mod import;
mod key;
mod lookup;
mod observe;
mod operator;
mod order;
mod outbox;
mod outside;
mod receive;
mod settle;
mod stock;
mod sweep;

use crate::command::Command;
use crate::key::Need;
use crate::ledger::Ledger;
use crate::policy::Policy;
use crate::reply::{Refusal, Reply};
use crate::row::{Audit, AuditKey, CommandRecord};
use crate::time::Timestamp;

/// What every decision is given besides the ledger.
#[derive(Clone, Copy)]
struct Context<'a> {
    now: Timestamp,
    policy: &'a Policy,
}

/// Runs one command. On [`Need`] the caller takes everything back.
pub(crate) fn run(
    ledger: &mut Ledger,
    command: &Command,
    now: Timestamp,
    policy: &Policy,
) -> Result<Reply, Need> {
    let context = Context { now, policy };
    let Some(stamp) = command.stamp() else { return dispatch(ledger, command, context) };
    // P2: on every attempt, because the writer that won may have been this request's own twin.
    if let Some(record) = ledger.command(&stamp.id)? {
        let same = record.fingerprint == command.fingerprint();
        return Ok(if same { record.reply.clone() } else { Reply::Refused(Refusal::CommandReused) });
    }
    let start = ledger.savepoint();
    let reply = dispatch(ledger, command, context)?;
    if matches!(reply, Reply::Refused(_)) {
        ledger.undo_to_savepoint(&start);
    } else {
        // P16: in the same commit as what it did.
        let order = audit::order(ledger, command)?;
        ledger.audits.put(
            AuditKey { at: now, command: stamp.id.clone() },
            Audit {
                by: stamp.by.clone(),
                action: command.name().into(),
                subject: command.subject(),
                order,
                reason: stamp.reason.clone(),
            },
        );
    }
    let record = CommandRecord { fingerprint: command.fingerprint(), reply: reply.clone(), at: now };
    ledger.commands.put(stamp.id.clone(), record);
    Ok(reply)
}

fn dispatch(ledger: &mut Ledger, command: &Command, context: Context<'_>) -> Result<Reply, Need> {
    match command {
        Command::PlaceOrder(command) => order::place(ledger, command, context),
        Command::RegisterReference(command) => order::register(ledger, command, context),
        Command::CancelOrder(command) => order::cancel(ledger, command, context),
        Command::Receive(command) => receive::receive(ledger, command, context),
        Command::Grant(task) => grant::grant(ledger, task, context),
        Command::GrantFailed(command) => grant::failed(ledger, command, context),
        Command::RetryTask(command) => grant::retry(ledger, command, context),
        Command::SetProduct(command) => stock::set(ledger, command, context),
        Command::AddKey(command) => key::add(ledger, command, context),
        Command::RevokeKey(command) => key::revoke(ledger, command, context),
        Command::AskLookup(command) => observe::ask(ledger, command),
        Command::Observe(command) => observe::observe(ledger, command, context),
        Command::ResolveCase(command) => operator::resolve(ledger, command, context),
        Command::CancelTask(command) => operator::cancel_task(ledger, command, context),
        Command::SetEntitlement(command) => operator::set_entitlement(ledger, command, context),
        Command::MarkOutside(command) => outside::mark(ledger, command, context),
        Command::ReviveOrder(command) => operator::revive(ledger, command, context),
        Command::Reprocess(command) => receive::reprocess(ledger, command, context),
        Command::Claim(command) => outbox::claim(ledger, command, context),
        Command::Renew(command) => outbox::renew(ledger, command, context),
        Command::Prepare(command) => outbox::prepare(ledger, command, context),
        Command::Settle(command) => outbox::record(ledger, command, context),
        Command::Sweep(key) => sweep::sweep(ledger, key, context),
        Command::Import(command) => import::import(ledger, command),
    }
}
