//! API keys: rows like any other, made and stopped by commands.

use crate::command::{AddKey, RevokeKey};
use crate::key::Need;
use crate::ledger::Ledger;
use crate::reply::{Refusal, Reply};
use crate::row::ApiKey;

use super::Context;

pub(super) fn add(ledger: &mut Ledger, command: &AddKey, context: Context<'_>) -> Result<Reply, Need> {
    if ledger.api_key(&command.name)?.is_some() {
        return Ok(Reply::Refused(Refusal::KeyExists));
    }
    let AddKey { digest, scope, .. } = *command;
    let key = ApiKey { digest, scope, created_at: context.now, revoked_at: None };
    ledger.api_keys.put(command.name.clone(), key);
    Ok(Reply::KeyChanged)
}

/// A revoked key's name stays taken, so that an audit row's `by` means one key for ever.
pub(super) fn revoke(ledger: &mut Ledger, command: &RevokeKey, context: Context<'_>) -> Result<Reply, Need> {
    let Some(key) = ledger.api_key(&command.name)?.cloned() else {
        return Ok(Reply::Refused(Refusal::UnknownKey));
    };
    if key.revoked_at.is_none() {
        ledger.api_keys.put(command.name.clone(), ApiKey { revoked_at: Some(context.now), ..key });
    }
    Ok(Reply::KeyChanged)
}
