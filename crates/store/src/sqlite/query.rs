//! Listings and counts, each on its own snapshot.

use paidonce_ledger::{
    ApiKey, Audit, AuditKey, Case, CaseKey, Digest, Entitlement, Event, EventKey, KeyName, OrderId, Task,
    TaskKey, TaskKind, Timestamp, Unit,
};
use rusqlite::Connection;

use super::encode::{Column, Reader, blob, int, owned, text, time};
use super::load::Rows;
use super::row::Stored;
use super::sql_error;
use crate::Result;
use crate::list::{
    AuditFilter, CaseFilter, Counts, Cursor, EntitlementFilter, EventFilter, Listed, OrderFilter, Page,
    TaskFilter, cut,
};

/// The conditions of a listing and their values.
#[derive(Default)]
struct Conditions<'a> {
    sql: Vec<&'static str>,
    values: Vec<Column<'a>>,
}

impl<'a> Conditions<'a> {
    fn add(&mut self, sql: &'static str, value: Option<Column<'a>>) {
        if let Some(value) = value {
            self.sql.push(sql);
            self.values.push(value);
        }
    }

    /// Newest first by (time, key), after the page's cursor, one row more than the page holds.
    fn finish(mut self, page: &Page, (at, key): (&str, &str)) -> Result<(String, Vec<Column<'a>>)> {
        let mut sql: Vec<_> = self.sql.iter().map(|sql| (*sql).to_owned()).collect();
        if let Some(after) = page.after.as_deref().map(Cursor::parse).transpose()? {
            sql.push(format!("{at} <= ? AND ({at} < ? OR {key} < ?)"));
            self.values.extend([time(after.at), time(after.at), owned(after.key)]);
        }
        let filter = if sql.is_empty() { "1".to_owned() } else { sql.join(" AND ") };
        let limit = i64::try_from(page.limit() + 1).unwrap_or(i64::MAX);
        self.values.push(int(limit));
        Ok((format!("WHERE {filter} ORDER BY {at} DESC, {key} DESC LIMIT ?"), self.values))
    }
}

fn list<T: Stored>(
    rows: &Rows<'_>,
    page: &Page,
    (filter, values): (String, Vec<Column<'_>>),
    cursor: impl Fn(&T::Key, &T) -> Cursor,
) -> Result<Listed<(T::Key, T)>> {
    let sql = format!("{} {filter}", T::sql().list);
    let rows = rows.read::<T>(&sql, &values)?;
    Ok(cut(rows.into_iter().map(|(key, row)| (cursor(&key, &row), (key, row))).collect(), page))
}

impl Rows<'_> {
    pub(super) fn orders(&self, filter: &OrderFilter, page: &Page) -> Result<Listed<OrderId>> {
        let mut conditions = Conditions::default();
        conditions.add("customer = ?", filter.customer.as_ref().map(|customer| text(customer.as_str())));
        let (sql, values) = conditions.finish(page, ("placed_at", "id"))?;
        let sql = format!("SELECT id, placed_at FROM orders {sql}");
        let mut statement = self.connection.prepare_cached(&sql).map_err(sql_error)?;
        let mut rows = statement.query(rusqlite::params_from_iter(values)).map_err(sql_error)?;
        let mut orders = Vec::new();
        while let Some(row) = rows.next().map_err(sql_error)? {
            let mut from = Reader::new(row);
            let id: OrderId = from.id()?;
            orders.push((Cursor { at: from.time()?, key: id.to_string() }, id));
        }
        Ok(cut(orders, page))
    }

    pub(super) fn events(&self, filter: &EventFilter, page: &Page) -> Result<Listed<(EventKey, Event)>> {
        let mut conditions = Conditions::default();
        let payment = filter.payment.as_ref();
        conditions.add("account = ?", payment.map(|key| owned(key.account.to_string())));
        conditions.add("payment = ?", payment.map(|key| text(key.id.as_str())));
        conditions.add("source = ?", filter.source.as_ref().map(|source| text(source.as_str())));
        conditions.add("outcome = ?", filter.outcome.as_deref().map(text));
        conditions.add("id = ?", filter.id.as_ref().map(|id| text(id.as_str())));
        let filter = conditions.finish(page, ("received_at", "account || ' ' || id"))?;
        list(self, page, filter, |key, row: &Event| Cursor { at: row.received_at, key: key.to_string() })
    }

    pub(super) fn entitlements(
        &self,
        filter: &EntitlementFilter,
        page: &Page,
    ) -> Result<Listed<((OrderId, Unit), Entitlement)>> {
        let mut conditions = Conditions::default();
        conditions.add("order_id = ?", filter.order.as_ref().map(|order| text(order.as_str())));
        conditions.add("customer = ?", filter.customer.as_ref().map(|customer| text(customer.as_str())));
        let sku = filter.sku.as_ref().map(|sku| text(sku.as_str()));
        conditions.add("EXISTS (SELECT 1 FROM json_each(lines) WHERE value ->> 'sku' = ?)", sku);
        if filter.active {
            conditions.sql.push("revoked_at IS NULL");
        }
        let filter = conditions.finish(page, ("granted_at", "order_id || ' ' || unit"))?;
        list(self, page, filter, |(order, unit), row: &Entitlement| Cursor {
            at: row.granted_at,
            key: format!("{order} {unit}"),
        })
    }

    pub(super) fn cases(&self, filter: &CaseFilter, page: &Page) -> Result<Listed<(CaseKey, Case)>> {
        let mut conditions = Conditions::default();
        conditions.add("order_id = ?", filter.order.as_ref().map(|order| text(order.as_str())));
        if filter.open {
            conditions.sql.push("resolved_at IS NULL");
        }
        let filter = conditions.finish(page, ("opened_at", "handle"))?;
        list(self, page, filter, |key: &CaseKey, row: &Case| Cursor { at: row.opened_at, key: key.handle() })
    }

    pub(super) fn case(&self, handle: &str) -> Result<Option<(CaseKey, Case)>> {
        let sql = format!("{} WHERE handle = ?", Case::sql().list);
        Ok(self.read::<Case>(&sql, &[text(handle)])?.pop())
    }

    pub(super) fn audits(&self, filter: &AuditFilter, page: &Page) -> Result<Listed<(AuditKey, Audit)>> {
        let mut conditions = Conditions::default();
        conditions.add("order_id = ?", filter.order.as_ref().map(|order| text(order.as_str())));
        conditions.add("by = ?", filter.by.as_deref().map(text));
        let filter = conditions.finish(page, ("at", "command"))?;
        list(self, page, filter, |key: &AuditKey, _: &Audit| Cursor {
            at: key.at,
            key: key.command.to_string(),
        })
    }

    pub(super) fn tasks(&self, filter: &TaskFilter, page: &Page) -> Result<Listed<(TaskKey, Task)>> {
        let mut conditions = Conditions::default();
        conditions.add("order_id = ?", filter.order.as_ref().map(|order| text(order.as_str())));
        conditions.add("state = ?", filter.state.map(|state| text(state.as_str())));
        let filter = conditions.finish(page, ("created_at", "order_id || ' ' || unit || ' ' || kind"))?;
        list(self, page, filter, |key: &TaskKey, row: &Task| Cursor {
            at: row.created_at,
            key: format!("{} {} {}", key.order, key.unit, key.kind.as_str()),
        })
    }

    pub(super) fn due(&self, kind: TaskKind, now: Timestamp, limit: usize) -> Result<Vec<TaskKey>> {
        let sql = format!(
            "{} WHERE state = 'pending' AND kind = ? AND due_at <= ? ORDER BY due_at, order_id, unit LIMIT ?",
            Task::sql().list
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = self.read::<Task>(&sql, &[text(kind.as_str()), time(now), int(limit)])?;
        Ok(rows.into_iter().map(|(key, _)| key).collect())
    }

    pub(super) fn api_keys(&self) -> Result<Vec<(KeyName, ApiKey)>> {
        self.read::<ApiKey>(&format!("{} ORDER BY name", ApiKey::sql().list), &[])
    }

    pub(super) fn api_key(&self, digest: &Digest) -> Result<Option<(KeyName, ApiKey)>> {
        let sql = format!("{} WHERE digest = ?", ApiKey::sql().list);
        Ok(self.read::<ApiKey>(&sql, &[blob(&digest.0)])?.pop())
    }
}

pub(super) fn counts(connection: &Connection) -> Result<Counts> {
    let sql = "SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM event),
        (SELECT count(*) FROM entitlement), (SELECT count(*) FROM cases WHERE resolved_at IS NULL),
        (SELECT count(*) FROM task WHERE state = 'pending'), (SELECT min(due_at) FROM task WHERE state = 'pending'),
        (SELECT count(*) FROM payment WHERE order_id IS NULL)";
    let mut statement = connection.prepare_cached(sql).map_err(sql_error)?;
    let mut rows = statement.query([]).map_err(sql_error)?;
    let Some(row) = rows.next().map_err(sql_error)? else { return Ok(Counts::default()) };
    let mut from = Reader::new(row);
    Ok(Counts {
        orders: from.number()?,
        events: from.number()?,
        entitlements: from.number()?,
        open_cases: from.number()?,
        pending_tasks: from.number()?,
        oldest_pending_task: from.maybe_time()?,
        unbound_payments: from.number()?,
    })
}
