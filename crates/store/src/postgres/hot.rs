//! Listings that are asked for by name, with values in place of their marks: for a test to ask the server how it would
//! run them.

use paidonce_ledger::{Audit, Entitlement, Event, Order, Task, Timestamp};

use super::PostgresTables;
use super::sql::statements;
use crate::list::{AuditFilter, Bodies, Due, EntitlementFilter, EventFilter, OrderFilter, Page, TaskFilter};
use crate::listing::{self, Rest};
use crate::row::{Column, Stored};
use crate::{Result, StoreError, StoreErrorKind};

impl PostgresTables {
    /// Each statement, ready to be explained.
    ///
    /// # Errors
    /// None; listings could refuse a cursor, and there is none.
    pub fn hot_statements(schema: &str) -> Result<Vec<String>> {
        let unfit = |_| StoreError::new(StoreErrorKind::Internal, "a word that is no id");
        let page = Page::first(10);
        let event = EventFilter { id: Some("evt_1".parse().map_err(unfit)?), ..EventFilter::default() };
        let orders = OrderFilter { customer: Some("customer_1".parse().map_err(unfit)?) };
        let order = Some("o_1".parse().map_err(unfit)?);
        let entitlements = EntitlementFilter { order, ..EntitlementFilter::default() };
        let tasks = TaskFilter { order: entitlements.order.clone(), ..TaskFilter::default() };
        let audits = AuditFilter { order: entitlements.order.clone(), by: None };
        let old = Bodies { after: Timestamp(1), by: Timestamp(9), walk: 4, limit: 3 };
        let tables = statements(schema);
        let events = format!("{} AS e", tables.events.table);
        Ok(vec![
            filled::<Event>(schema, listing::events(&event, &page)?),
            filled::<Order>(schema, listing::orders(&orders, &page)?),
            filled::<Entitlement>(schema, listing::entitlements(&entitlements, &page, "?")?),
            filled::<Task>(schema, listing::tasks(&tasks, &page)?),
            filled::<Audit>(schema, listing::audits(&audits, &page)?),
            filled::<Task>(schema, listing::due(&Due::Grants, Timestamp(1), 10)),
            with_values(listing::bodies_edge(&events, &old)),
            with_values(listing::bodies((&events, &tables.cases.table), &old, Timestamp(9))),
        ])
    }
}

fn filled<T: Stored>(schema: &str, (rest, values): Rest<'_>) -> String {
    with_values((format!("{} {rest}", T::pick(&statements(schema)).select[0]), values))
}

fn with_values((sql, values): Rest<'_>) -> String {
    let mut pieces = sql.split('?');
    let mut sql = pieces.next().unwrap_or_default().to_owned();
    for (value, piece) in values.iter().zip(pieces) {
        match value {
            Column::Int(n) => sql.push_str(&n.to_string()),
            Column::Text(text) => sql.push_str(&format!("'{text}'")),
            Column::Null | Column::Blob(_) => sql.push_str("NULL"),
        }
        sql.push_str(piece);
    }
    sql
}
