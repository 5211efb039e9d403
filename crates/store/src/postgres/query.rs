//! Listings and counts, each on its own snapshot.

use paidonce_ledger::{
    ApiKey, Audit, AuditKey, Case, CaseKey, Digest, Entitlement, Event, EventKey, KeyName, OrderId, Product,
    Sku, Task, TaskKey, Unit,
};

use super::encode::values;
use super::sql::numbered;
use super::table::{Rows, fetch, read};
use crate::Result;
use crate::list::{
    AuditFilter, CaseFilter, Counts, Cursor, EntitlementFilter, EventFilter, Listed, OrderFilter, Page,
    TaskFilter, cut,
};
use crate::listing::{self, Rest};
use crate::row::{Reader, Stored, blob, text};
use crate::server::Lists;

impl Lists for Rows<'_> {
    async fn listed<T: Stored>(&mut self, (rest, columns): Rest<'_>) -> Result<Vec<(T::Key, T)>> {
        let sql = numbered(&format!("{} {rest}", T::pick(self.sql).select[0]));
        read::<T>(&fetch(self.connection, sql.into(), values(&columns)?).await?)
    }

    async fn selected<R>(
        &mut self,
        (sql, columns): Rest<'_>,
        read: impl Fn(&mut Reader<'_>) -> Result<R>,
    ) -> Result<Vec<R>> {
        let rows = fetch(self.connection, numbered(&sql).into(), values(&columns)?).await?;
        rows.iter().map(|row| read(&mut Reader::new(row))).collect()
    }

    fn tables(&self) -> (String, String) {
        (format!("{} AS e", Event::pick(self.sql).table), Case::pick(self.sql).table.clone())
    }
}

impl Rows<'_> {
    async fn list<T: Stored>(
        &mut self,
        page: &Page,
        rest: Rest<'_>,
        cursor: impl Fn(&T::Key, &T) -> Cursor,
    ) -> Result<Listed<(T::Key, T)>> {
        let rows = self.listed::<T>(rest).await?;
        Ok(cut(rows.into_iter().map(|(key, row)| (cursor(&key, &row), (key, row))).collect(), page))
    }

    pub(super) async fn orders(
        &mut self,
        schema: &str,
        filter: &OrderFilter,
        page: &Page,
    ) -> Result<Listed<OrderId>> {
        let (rest, columns) = listing::orders(filter, page)?;
        let sql = numbered(&format!("SELECT id, placed_at FROM {schema}.orders {rest}"));
        let rows = fetch(self.connection, sql.into(), values(&columns)?).await?;
        let mut orders = Vec::new();
        for row in &rows {
            let mut from = Reader::new(row);
            let id: OrderId = from.id()?;
            orders.push((Cursor { at: from.time()?, key: id.to_string() }, id));
        }
        Ok(cut(orders, page))
    }

    pub(super) async fn events(
        &mut self,
        filter: &EventFilter,
        page: &Page,
    ) -> Result<Listed<(EventKey, Event)>> {
        self.list(page, listing::events(filter, page)?, listing::event_cursor).await
    }

    pub(super) async fn entitlements(
        &mut self,
        filter: &EntitlementFilter,
        page: &Page,
    ) -> Result<Listed<((OrderId, Unit), Entitlement)>> {
        let rest = listing::entitlements(filter, page, "position(? in lines) > 0")?;
        self.list(page, rest, listing::entitlement_cursor).await
    }

    pub(super) async fn cases(
        &mut self,
        filter: &CaseFilter,
        page: &Page,
    ) -> Result<Listed<(CaseKey, Case)>> {
        self.list(page, listing::cases(filter, page)?, listing::case_cursor).await
    }

    pub(super) async fn case(&mut self, handle: &str) -> Result<Option<(CaseKey, Case)>> {
        let rest = ("WHERE handle = ?".to_owned(), vec![text(handle)]);
        Ok(self.listed::<Case>(rest).await?.pop())
    }

    pub(super) async fn audits(
        &mut self,
        filter: &AuditFilter,
        page: &Page,
    ) -> Result<Listed<(AuditKey, Audit)>> {
        self.list(page, listing::audits(filter, page)?, listing::audit_cursor).await
    }

    pub(super) async fn tasks(
        &mut self,
        filter: &TaskFilter,
        page: &Page,
    ) -> Result<Listed<(TaskKey, Task)>> {
        self.list(page, listing::tasks(filter, page)?, listing::task_cursor).await
    }

    pub(super) async fn products(&mut self, page: &Page) -> Result<Listed<(Sku, Product)>> {
        self.list(page, listing::products(page)?, listing::product_cursor).await
    }

    pub(super) async fn api_keys(&mut self) -> Result<Vec<(KeyName, ApiKey)>> {
        self.listed::<ApiKey>(("ORDER BY name".to_owned(), Vec::new())).await
    }

    pub(super) async fn api_key(&mut self, digest: &Digest) -> Result<Option<(KeyName, ApiKey)>> {
        let rest = ("WHERE digest = ?".to_owned(), vec![blob(&digest.0)]);
        Ok(self.listed::<ApiKey>(rest).await?.pop())
    }

    pub(super) async fn counts(&mut self, schema: &str) -> Result<Counts> {
        let sql = format!(
            "SELECT (SELECT count(*) FROM {schema}.orders), (SELECT count(*) FROM {schema}.event),
            (SELECT count(*) FROM {schema}.entitlement),
            (SELECT count(*) FROM {schema}.cases WHERE resolved_at IS NULL),
            (SELECT count(*) FROM {schema}.task WHERE active = 1),
            (SELECT count(*) FROM {schema}.task WHERE state = 'parked'),
            (SELECT count(*) FROM {schema}.task WHERE state = 'held'),
            (SELECT min(due_at) FROM {schema}.task WHERE active = 1),
            (SELECT min(opened_at) FROM {schema}.cases WHERE resolved_at IS NULL AND reason = 'unreadable'),
            (SELECT count(*) FROM {schema}.payment WHERE order_id IS NULL)"
        );
        let rows = fetch(self.connection, sql.into(), values(&[])?).await?;
        let Some(row) = rows.first() else { return Ok(Counts::default()) };
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
}
