//! Listings and counts, each on its own snapshot.

use paidonce_ledger::{
    ApiKey, Attempt, Audit, AuditKey, Case, CaseKey, Digest, Entitlement, Event, EventKey, Key, KeyName,
    Keys, Order, OrderId, Payment, Product, Sku, Task, TaskKey, Timestamp, Unit,
};
use rusqlite::Connection;

use super::load::Rows;
use super::sql::sql;
use super::sql_error;
use crate::Result;
use crate::list::{
    AuditFilter, CaseFilter, Counts, Cursor, Due, EntitlementFilter, EventFilter, Listed, OrderFilter, Page,
    Stale, TaskFilter, cut,
};
use crate::listing::{self, Rest};
use crate::row::{Column, Reader, Stored, blob, key_columns, text};

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

    pub(super) fn products(&self, page: &Page) -> Result<Listed<(Sku, Product)>> {
        list(self, page, listing::products(page)?, listing::product_cursor)
    }

    fn listed<T: Stored>(&self, (rest, values): Rest<'_>) -> Result<Vec<(T::Key, T)>> {
        self.read::<T>(&format!("{} {rest}", sql::<T>().list), &values)
    }

    pub(super) fn due(&self, what: &Due, now: Timestamp, limit: usize) -> Result<Vec<TaskKey>> {
        Ok(self.listed::<Task>(listing::due(what, now, limit))?.into_iter().map(|(key, _)| key).collect())
    }

    pub(super) fn stale(&self, stale: &Stale) -> Result<Keys> {
        let orders = self.listed::<Order>(listing::expiring(stale.expired_by, stale.limit))?;
        let mut keys: Keys = orders.into_iter().map(|(id, _)| Key::Order(id)).collect();
        if let Some(between) = stale.unbound {
            let payments = self.listed::<Payment>(listing::unbound(between, stale.limit))?;
            keys.extend(payments.into_iter().map(|(key, _)| Key::Payment(key)));
        }
        for effect in &stale.configured {
            let tasks = self.listed::<Task>(listing::parked(effect, stale.limit))?;
            keys.extend(tasks.into_iter().map(|(key, _)| key.key()));
        }
        Ok(keys)
    }

    pub(super) fn attempts(&self, task: &TaskKey) -> Result<Vec<(u64, Attempt)>> {
        let mut rows = self.select::<Attempt>(&key_columns(task))?;
        rows.sort_by(|(one, _), (two, _)| two.cmp(one));
        Ok(rows.into_iter().map(|(key, row)| (key.version, row)).collect())
    }

    pub(super) fn task(&self, handle: &str) -> Result<Option<(TaskKey, Task)>> {
        Ok(self.listed::<Task>(("WHERE handle = ?".to_owned(), vec![text(handle)]))?.pop())
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
        (SELECT count(*) FROM task WHERE active = 1),
            (SELECT count(*) FROM task WHERE state = 'parked'),
            (SELECT count(*) FROM task WHERE state = 'held'), (SELECT min(due_at) FROM task WHERE active = 1),
            (SELECT min(opened_at) FROM cases WHERE resolved_at IS NULL AND reason = 'unreadable'),
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
        parked_tasks: from.number()?,
        held_tasks: from.number()?,
        oldest_pending_task: from.maybe_time()?,
        oldest_pending_event: from.maybe_time()?,
        unbound_payments: from.number()?,
    })
}
