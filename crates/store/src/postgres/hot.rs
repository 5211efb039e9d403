//! Listings that are asked for by name, with values in place of their marks: for a test to ask the server how it would
//! run them.

use paidonce_ledger::{Audit, Entitlement, Event, Order, Task, Timestamp};

use super::PostgresTables;
use super::sql::statements;
use crate::list::{AuditFilter, Due, EntitlementFilter, EventFilter, OrderFilter, Page, TaskFilter};
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
        Ok(vec![
            filled::<Event>(schema, listing::events(&event, &page)?),
            filled::<Order>(schema, listing::orders(&orders, &page)?),
            filled::<Entitlement>(schema, listing::entitlements(&entitlements, &page, "?")?),
            filled::<Task>(schema, listing::tasks(&tasks, &page)?),
            filled::<Audit>(schema, listing::audits(&audits, &page)?),
            filled::<Task>(schema, listing::due(&Due::Grants, Timestamp(1), 10)),
        ])
    }
}

fn filled<T: Stored>(schema: &str, (rest, values): Rest<'_>) -> String {
    let mut pieces = rest.split('?');
    let mut sql = format!("{} {}", T::pick(&statements(schema)).select[0], pieces.next().unwrap_or_default());
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
