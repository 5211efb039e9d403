//! The rows that say who asked what: commands, audit, API keys.

use paidonce_ledger::{ApiKey, Audit, AuditKey, CommandId, CommandRecord, KeyName, Scope};

use super::{Sql, Stored};
use crate::Result;
use crate::sqlite::encode::{Column, Reader, blob, json, maybe, text, time};

impl Stored for CommandRecord {
    type Key = CommandId;
    const TABLE: &'static str = "command";
    const COLUMNS: &'static [&'static str] = &["id", "fingerprint", "reply", "at"];
    const KEY_COLUMNS: usize = 1;

    built_once!(CommandRecord);

    fn write<'a>(key: &'a CommandId, row: &'a Self) -> Result<Vec<Column<'a>>> {
        Ok(vec![text(key.as_str()), blob(&row.fingerprint.0), json(&row.reply)?, time(row.at)])
    }

    fn read(from: &mut Reader<'_>) -> Result<(CommandId, Self)> {
        Ok((from.id()?, Self { fingerprint: from.digest()?, reply: from.json()?, at: from.time()? }))
    }
}

impl Stored for Audit {
    type Key = AuditKey;
    const TABLE: &'static str = "audit";
    const COLUMNS: &'static [&'static str] =
        &["at", "command", "by", "action", "subject", "order_id", "reason"];
    const KEY_COLUMNS: usize = 2;

    built_once!(Audit);

    fn write<'a>(key: &'a AuditKey, row: &'a Self) -> Result<Vec<Column<'a>>> {
        Ok(vec![
            time(key.at),
            text(key.command.as_str()),
            text(&row.by),
            text(&row.action),
            text(&row.subject),
            maybe(row.order.as_ref(), |order| text(order.as_str())),
            maybe(row.reason.as_deref(), text),
        ])
    }

    fn read(from: &mut Reader<'_>) -> Result<(AuditKey, Self)> {
        let key = AuditKey { at: from.time()?, command: from.id()? };
        let (by, action) = (from.text()?.into(), from.text()?.into());
        let (subject, order) = (from.text()?.to_owned(), from.maybe_id()?);
        Ok((key, Self { by, action, subject, order, reason: from.trace()? }))
    }
}

impl Stored for ApiKey {
    type Key = KeyName;
    const TABLE: &'static str = "api_key";
    const COLUMNS: &'static [&'static str] = &["name", "digest", "scope", "created_at", "revoked_at"];
    const KEY_COLUMNS: usize = 1;

    built_once!(ApiKey);

    fn write<'a>(key: &'a KeyName, row: &'a Self) -> Result<Vec<Column<'a>>> {
        Ok(vec![
            text(key.as_str()),
            blob(&row.digest.0),
            text(row.scope.as_str()),
            time(row.created_at),
            maybe(row.revoked_at, time),
        ])
    }

    fn read(from: &mut Reader<'_>) -> Result<(KeyName, Self)> {
        let name = from.id()?;
        let (digest, scope) = (from.digest()?, from.parse(Scope::parse)?);
        Ok((name, Self { digest, scope, created_at: from.time()?, revoked_at: from.maybe_time()? }))
    }
}
