//! The statements of everything that is done often, with values in place of their marks: for a test to ask the server
//! how it would run them.

use paidonce_ledger::{
    Case, CommandRecord, Entitlement, Event, FactValue, Order, Payment, Reference, Task, Timestamp,
};

use super::MysqlTables;
use super::query::events_and_cases;
use super::sql::{CHUNKS, sql};
use crate::list::{
    AuditFilter, Bodies, CaseFilter, Due, EntitlementFilter, EventFilter, OrderFilter, Page, TaskFilter,
};
use crate::listing;
use crate::row::Stored;
use crate::server::Lock;
use crate::{Result, StoreError, StoreErrorKind};

impl MysqlTables {
    /// Each statement, ready to be explained.
    ///
    /// # Errors
    /// None; listings could refuse a cursor, and there is none.
    pub fn hot_statements() -> Result<Vec<String>> {
        let mut all = Vec::new();
        by_keys::<Reference>(&mut all, Reference::SHAPE.keys);
        by_keys::<Order>(&mut all, Order::SHAPE.keys);
        by_keys::<Payment>(&mut all, Payment::SHAPE.keys);
        by_keys::<FactValue>(&mut all, 2);
        by_keys::<Event>(&mut all, Event::SHAPE.keys);
        by_keys::<Task>(&mut all, 1);
        by_keys::<Entitlement>(&mut all, 1);
        by_keys::<Case>(&mut all, 3);
        by_keys::<CommandRecord>(&mut all, CommandRecord::SHAPE.keys);
        listings(&mut all)?;
        Ok(all.iter().map(|sql| filled(sql)).collect())
    }
}

/// Reads by the key columns that loading gives, in every size; locked where they are the whole key; and the update
/// of one row.
fn by_keys<T: Stored>(all: &mut Vec<String>, given: usize) {
    let sql = sql::<T>();
    for at in 0..CHUNKS.len() {
        all.push(sql.by(given, Lock::None)[at].to_string());
        if given == T::SHAPE.keys {
            all.push(sql.by(given, Lock::Wait)[at].to_string());
        }
    }
    all.push(sql.update.to_string());
}

fn listings(all: &mut Vec<String>) -> Result<()> {
    let page = Page::first(10);
    let unfit = |_| StoreError::new(StoreErrorKind::Internal, "a word that is no id");
    let order = "o_1".parse().map_err(unfit)?;
    let customer = "customer_1".parse().map_err(unfit)?;
    let event = EventFilter { id: Some("evt_1".parse().map_err(unfit)?), ..EventFilter::default() };
    let orders = OrderFilter { customer: Some(customer) };
    let entitlements =
        EntitlementFilter { customer: orders.customer.clone(), ..EntitlementFilter::default() };
    let cases = CaseFilter { open: true, order: Some(order) };
    let tasks = TaskFilter { order: cases.order.clone(), ..TaskFilter::default() };
    let audits = AuditFilter { order: cases.order.clone(), by: None };
    let (everything, has_sku) = (OrderFilter::default(), "1 = ?");
    let mut add = |list: &str, (rest, _): listing::Rest<'_>| all.push(format!("{list} {rest}"));
    add(&sql::<Order>().list, listing::orders(&orders, &page)?);
    add(&sql::<Order>().list, listing::orders(&everything, &page)?);
    add(&sql::<Event>().list, listing::events(&event, &page)?);
    add(&sql::<Entitlement>().list, listing::entitlements(&entitlements, &page, has_sku)?);
    add(&sql::<Case>().list, listing::cases(&cases, &page)?);
    add(&sql::<Task>().list, listing::tasks(&tasks, &page)?);
    add(&sql::<paidonce_ledger::Audit>().list, listing::audits(&audits, &page)?);
    add(&sql::<Task>().list, listing::due(&Due::Grants, Timestamp(1), 10));
    let old = Bodies { after: Timestamp(1), by: Timestamp(9), walk: 4, limit: 3 };
    let (events, cases) = events_and_cases();
    add("", listing::bodies_edge(&events, &old));
    add("", listing::bodies((&events, &cases), &old, Timestamp(9)));
    Ok(())
}

/// Marks as values: a limit is a number, and what is compared with a time may be one too.
fn filled(sql: &str) -> String {
    let numbers = [
        ("LIMIT ?", "LIMIT 10"),
        ("OFFSET ?", "OFFSET 4"),
        ("due_at <= ?", "due_at <= 10"),
        ("received_at > ?", "received_at > 1"),
        ("received_at <= ?", "received_at <= 9"),
    ];
    let sql = numbers.iter().fold(sql.to_owned(), |sql, (mark, number)| sql.replace(mark, number));
    let mut pieces = sql.split('?');
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    for (n, piece) in pieces.enumerate() {
        filled.push_str(&format!("'{n}'{piece}"));
    }
    filled
}
