//! The statements of everything that is done often: for tests to ask a database how it would run them. It knows no
//! dialect: a store says how it reads and writes a table.

use paidonce_ledger::{
    Audit, Case, CommandRecord, Entitlement, Event, FactValue, Order, Payment, Reference, Task, Timestamp,
};

use crate::list::{
    AuditFilter, CaseFilter, Due, EntitlementFilter, EventFilter, OrderFilter, Page, TaskFilter,
};
use crate::listing;
use crate::row::Stored;
use crate::{Result, StoreError, StoreErrorKind};

/// A store's own texts.
pub(crate) trait Texts {
    /// Reads of a table by its first `given` key columns, and updates of its rows.
    fn by_keys<T: Stored>(given: usize) -> Vec<String>;

    /// Everything up to the table's name, for listings.
    fn list<T: Stored>() -> String;
}

/// Each statement, with marks for its values.
pub(crate) fn statements<S: Texts>() -> Result<Vec<String>> {
    let mut all = [
        S::by_keys::<Reference>(Reference::SHAPE.keys),
        S::by_keys::<Order>(Order::SHAPE.keys),
        S::by_keys::<Payment>(Payment::SHAPE.keys),
        // What hangs on something is read by whatever it hangs on.
        S::by_keys::<FactValue>(2),
        S::by_keys::<Event>(Event::SHAPE.keys),
        S::by_keys::<Task>(3),
        S::by_keys::<Entitlement>(1),
        S::by_keys::<Case>(3),
        S::by_keys::<CommandRecord>(CommandRecord::SHAPE.keys),
    ]
    .concat();
    listings::<S>(&mut all)?;
    Ok(all)
}

fn listings<S: Texts>(all: &mut Vec<String>) -> Result<()> {
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
    let mut add = |list: String, (rest, _): listing::Rest<'_>| all.push(format!("{list} {rest}"));
    add(S::list::<Order>(), listing::orders(&orders, &page)?);
    add(S::list::<Order>(), listing::orders(&everything, &page)?);
    add(S::list::<Event>(), listing::events(&event, &page)?);
    add(S::list::<Entitlement>(), listing::entitlements(&entitlements, &page, has_sku)?);
    add(S::list::<Case>(), listing::cases(&cases, &page)?);
    add(S::list::<Task>(), listing::tasks(&tasks, &page)?);
    add(S::list::<Audit>(), listing::audits(&audits, &page)?);
    add(S::list::<Task>(), listing::due(&Due::Grants, Timestamp(1), 10));
    Ok(())
}
