//! Listings and counts, each on its own snapshot.

use paidonce_ledger::{
    ApiKey, Audit, AuditKey, Case, CaseKey, Digest, Entitlement, Event, EventKey, KeyName, OrderId, Task,
    TaskKey, TaskKind, Timestamp, Unit,
};
use rusqlite::Connection;

use super::load::Rows;
use super::sql::sql;
use super::sql_error;
use crate::Result;
use crate::list::{
    AuditFilter, CaseFilter, Counts, Cursor, EntitlementFilter, EventFilter, Listed, OrderFilter, Page,
    TaskFilter, cut,
};
use crate::listing;
use crate::row::{Column, Reader, Stored, blob, text};

fn list<T: Stored>(
    rows: &Rows<'_>,
    page: &Page,
    (filter, values): (String, Vec<Column<'_>>),
    cursor: impl Fn(&T::Key, &T) -> Cursor,
) -> Result<Listed<(T::Key, T)>> {
    let sql = format!("{} {filter}", sql::<T>().list);
    let rows = rows.read::<T>(&sql, &values)?;
    Ok(cut(rows.into_iter().map(|(key, row)| (cursor(&key, &row), (key, row))).collect(), page))
}

impl Rows<'_> {
    pub(super) fn orders(&self, filter: &OrderFilter, page: &Page) -> Result<Listed<OrderId>> {
        let (sql, values) = listing::orders(filter, page)?;
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
        list(self, page, listing::events(filter, page)?, listing::event_cursor)
    }

    pub(super) fn entitlements(
        &self,
        filter: &EntitlementFilter,
        page: &Page,
    ) -> Result<Listed<((OrderId, Unit), Entitlement)>> {
        let rest = listing::entitlements(filter, page, "instr(lines, ?) > 0")?;
        list(self, page, rest, listing::entitlement_cursor)
    }

    pub(super) fn cases(&self, filter: &CaseFilter, page: &Page) -> Result<Listed<(CaseKey, Case)>> {
        list(self, page, listing::cases(filter, page)?, listing::case_cursor)
    }

    pub(super) fn case(&self, handle: &str) -> Result<Option<(CaseKey, Case)>> {
        let sql = format!("{} WHERE handle = ?", sql::<Case>().list);
        Ok(self.read::<Case>(&sql, &[text(handle)])?.pop())
    }

    pub(super) fn audits(&self, filter: &AuditFilter, page: &Page) -> Result<Listed<(AuditKey, Audit)>> {
        list(self, page, listing::audits(filter, page)?, listing::audit_cursor)
    }

    pub(super) fn tasks(&self, filter: &TaskFilter, page: &Page) -> Result<Listed<(TaskKey, Task)>> {
        list(self, page, listing::tasks(filter, page)?, listing::task_cursor)
    }

    pub(super) fn due(&self, kind: TaskKind, now: Timestamp, limit: usize) -> Result<Vec<TaskKey>> {
        let (rest, values) = listing::due(kind.as_str(), now, limit);
        let rows = self.read::<Task>(&format!("{} {rest}", sql::<Task>().list), &values)?;
        Ok(rows.into_iter().map(|(key, _)| key).collect())
    }

    pub(super) fn api_keys(&self) -> Result<Vec<(KeyName, ApiKey)>> {
        self.read::<ApiKey>(&format!("{} ORDER BY name", sql::<ApiKey>().list), &[])
    }

    pub(super) fn api_key(&self, digest: &Digest) -> Result<Option<(KeyName, ApiKey)>> {
        let sql = format!("{} WHERE digest = ?", sql::<ApiKey>().list);
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
