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
    AuditFilter, Bodies, CaseFilter, Counts, Cursor, Due, EntitlementFilter, EventFilter, Listed, OldBodies,
    OrderFilter, Page, Stale, TaskFilter, cut,
};
use crate::listing::{self, Rest};
use crate::row::{Column, Reader, Stored, blob, key_columns, text};

/// The tables of events and of cases, as the search for old bodies names them.
const EVENTS: &str = "event AS e";
const CASES: &str = "cases";

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

    pub(super) fn old_bodies(&self, wanted: &Bodies) -> Result<OldBodies> {
        let edge = self.selected(listing::bodies_edge(EVENTS, wanted), |row| row.time())?;
        let edge = edge.first().copied().unwrap_or(wanted.by);
        let found = self.selected(listing::bodies((EVENTS, CASES), wanted, edge), listing::event_key)?;
        Ok(wanted.found(found, edge))
    }

    /// Each row of a whole statement.
    fn selected<R>(
        &self,
        (sql, values): Rest<'_>,
        read: impl Fn(&mut Reader<'_>) -> Result<R>,
    ) -> Result<Vec<R>> {
        let mut statement = self.connection.prepare_cached(&sql).map_err(sql_error)?;
        let mut rows = statement.query(rusqlite::params_from_iter(values)).map_err(sql_error)?;
        let mut all = Vec::new();
        while let Some(row) = rows.next().map_err(sql_error)? {
            all.push(read(&mut Reader::new(row))?);
        }
        Ok(all)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SqliteOptions;
    use crate::sqlite::open;
    use paidonce_ledger::PaymentKey;
    use paidonce_ledger::testing::{account, id};

    /// How SQLite would run a listing, by the table or index that it goes through.
    fn plan<T: Stored>(connection: &Connection, (rest, values): Rest<'_>) -> String {
        plan_of(connection, (format!("{} {rest}", sql::<T>().list), values))
    }

    fn plan_of(connection: &Connection, (sql, values): Rest<'_>) -> String {
        let sql = format!("EXPLAIN QUERY PLAN {sql}");
        let mut statement = connection.prepare(&sql).expect("it is understood");
        let details = statement.query_map(rusqlite::params_from_iter(&values), |row| row.get::<_, String>(3));
        details.expect("it is explained").map(|detail| detail.expect("a text")).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn what_is_asked_for_by_name_is_searched_by_a_key() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("paidonce.db");
        let connection = &open::writer(&path, &SqliteOptions::default()).expect("a file");
        let page = Page::first(10);
        let later = Page { after: Some("5~key".to_owned()), limit: 10 };
        let event = EventFilter { id: Some(id("evt_1")), ..EventFilter::default() };
        let payment = PaymentKey { account: account(), id: id("pi_1") };
        let of_payment = EventFilter { payment: Some(payment), ..EventFilter::default() };
        let (customer, order) = (OrderFilter { customer: Some(id("alice")) }, id("o_1"));
        let entitlement = EntitlementFilter { order: Some(order), ..EntitlementFilter::default() };
        let tasks = TaskFilter { order: entitlement.order.clone(), ..TaskFilter::default() };
        let audits = AuditFilter { order: entitlement.order.clone(), by: None };
        let of = |sql: (String, Vec<Column<'_>>)| plan::<Event>(connection, sql);
        let old = Bodies { after: Timestamp(1), by: Timestamp(9), walk: 4, limit: 3 };
        let bodies = plan_of(connection, listing::bodies((EVENTS, CASES), &old, Timestamp(9)));
        let case = "SEARCH c USING PRIMARY KEY (subject_kind=? AND subject_account=? AND subject_id=?)";
        assert!(bodies.contains(case), "{bodies}");
        let plans = [
            of(listing::events(&event, &page).expect("a page")),
            of(listing::events(&event, &later).expect("a page")),
            of(listing::events(&of_payment, &page).expect("a page")),
            plan::<Order>(connection, listing::orders(&customer, &page).expect("a page")),
            plan::<Entitlement>(connection, listing::entitlements(&entitlement, &page, "?").expect("a page")),
            plan::<Task>(connection, listing::tasks(&tasks, &page).expect("a page")),
            plan::<Audit>(connection, listing::audits(&audits, &page).expect("a page")),
            plan::<Task>(connection, listing::due(&Due::Grants, Timestamp(1), 10)),
            plan_of(connection, listing::bodies_edge(EVENTS, &old)),
            bodies,
        ];
        // The columns that each of them is searched by.
        let searched = [
            "(id=?)",
            "(id=?)",
            "(account=? AND payment=?)",
            "(customer=?)",
            "(order_id=?)",
            "(subject_kind=? AND subject_account=? AND subject_id=?)",
            "(order_id=?)",
            "(kind=? AND effect=? AND due_at<?)",
            "COVERING INDEX event_by_time (received_at>? AND received_at<?)",
            "INDEX event_by_time (received_at>? AND received_at<?)",
        ];
        for (plan, by) in plans.iter().zip(searched) {
            assert!(
                plan.starts_with("SEARCH") && plan.contains(by) && !plan.contains("SCAN"),
                "{by}: {plan}"
            );
        }
        // Non-vacuity: a walk is seen when there is one.
        let source = EventFilter { source: Some(id("shop")), ..EventFilter::default() };
        let walk = of(listing::events(&source, &page).expect("a page"));
        assert!(walk.starts_with("SCAN event"), "{walk}");
    }
}
