//! The rows that say who asked what: commands, audit, API keys.

use paidonce_ledger::{ApiKey, Audit, AuditKey, CommandId, CommandRecord, KeyName, Scope};

use super::Kind::{Blob, Int, Text};
use super::shape::in_tables;
use super::{Column, Reader, Shape, Stored, blob, json, maybe, text, time};
use crate::Result;

impl Stored for CommandRecord {
    type Key = CommandId;
    const SHAPE: Shape = Shape {
        table: "command",
        columns: &[("id", Text), ("fingerprint", Blob), ("reply", Text), ("at", Int)],
        keys: 1,
        fixed: &[],
    };

    in_tables!(commands);

    fn write<'a>(key: &'a CommandId, row: &'a Self) -> Result<Vec<Column<'a>>> {
        Ok(vec![text(key.as_str()), blob(&row.fingerprint.0), json(&row.reply)?, time(row.at)])
    }

    fn read(from: &mut Reader<'_>) -> Result<(CommandId, Self)> {
        Ok((from.id()?, Self { fingerprint: from.digest()?, reply: from.json()?, at: from.time()? }))
    }
}

impl Stored for Audit {
    type Key = AuditKey;
    const SHAPE: Shape = Shape {
        table: "audit",
        columns: &[
            ("at", Int),
            ("command", Text),
            ("by", Text),
            ("action", Text),
            ("subject", Text),
            ("order_id", Text),
            ("reason", Text),
        ],
        keys: 2,
        fixed: &[],
    };

    in_tables!(audits);

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
        let (subject, order) = (from.text()?.into_owned(), from.maybe_id()?);
        Ok((key, Self { by, action, subject, order, reason: from.trace()? }))
    }
}

impl Stored for ApiKey {
    type Key = KeyName;
    const SHAPE: Shape = Shape {
        table: "api_key",
        columns: &[
            ("name", Text),
            ("digest", Blob),
            ("scope", Text),
            ("created_at", Int),
            ("revoked_at", Int),
        ],
        keys: 1,
        fixed: &[],
    };

    in_tables!(api_keys);

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
