//! The conditions and order of each listing as SQL that every SQL store takes: `?` for values, `||` to join texts.
//! What stands before it, and how it is run, is each store's own.

use paidonce_ledger::{
    Audit, AuditKey, Case, CaseKey, EffectName, Entitlement, Event, EventKey, OrderId, Product, Sku, Task,
    TaskKey, Timestamp, Unit,
};

use crate::Result;
use crate::list::{
    AuditFilter, Bodies, CaseFilter, Cursor, Due, EntitlementFilter, EventFilter, OrderFilter, Page,
    TaskFilter,
};
use crate::row::{Column, Reader, account_text, int, owned, text, time};

/// What stands after the table's name, and its values.
pub(crate) type Rest<'a> = (String, Vec<Column<'a>>);

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
    fn finish(mut self, page: &Page, (at, key): (&str, &str)) -> Result<Rest<'a>> {
        let mut sql: Vec<_> = self.sql.iter().map(|sql| (*sql).to_owned()).collect();
        if let Some(after) = page.after.as_deref().map(Cursor::parse).transpose()? {
            sql.push(format!("{at} <= ? AND ({at} < ? OR {key} < ?)"));
            self.values.extend([time(after.at), time(after.at), owned(after.key)]);
        }
        let filter = if sql.is_empty() { "1 = 1".to_owned() } else { sql.join(" AND ") };
        let limit = i64::try_from(page.limit() + 1).unwrap_or(i64::MAX);
        self.values.push(int(limit));
        Ok((format!("WHERE {filter} ORDER BY {at} DESC, {key} DESC LIMIT ?"), self.values))
    }
}

pub(crate) fn orders<'a>(filter: &'a OrderFilter, page: &Page) -> Result<Rest<'a>> {
    let mut conditions = Conditions::default();
    conditions.add("customer = ?", filter.customer.as_ref().map(|customer| text(customer.as_str())));
    conditions.finish(page, ("placed_at", "id"))
}

pub(crate) fn events<'a>(filter: &'a EventFilter, page: &Page) -> Result<Rest<'a>> {
    let mut conditions = Conditions::default();
    let payment = filter.payment.as_ref();
    conditions.add("account = ?", payment.map(|key| owned(key.account.to_string())));
    conditions.add("payment = ?", payment.map(|key| text(key.id.as_str())));
    conditions.add("source = ?", filter.source.as_ref().map(|source| text(source.as_str())));
    conditions.add("outcome = ?", filter.outcome.as_deref().map(text));
    conditions.add("id = ?", filter.id.as_ref().map(|id| text(id.as_str())));
    conditions.finish(page, ("received_at", "account || ' ' || id"))
}

pub(crate) fn event_cursor(key: &EventKey, row: &Event) -> Cursor {
    Cursor { at: row.received_at, key: key.to_string() }
}

/// `has_sku` is the store's condition that its JSON of lines holds a sku; its value is [`sku_in_json`].
pub(crate) fn entitlements<'a>(
    filter: &'a EntitlementFilter,
    page: &Page,
    has_sku: &'static str,
) -> Result<Rest<'a>> {
    let mut conditions = Conditions::default();
    conditions.add("order_id = ?", filter.order.as_ref().map(|order| text(order.as_str())));
    conditions.add("customer = ?", filter.customer.as_ref().map(|customer| text(customer.as_str())));
    conditions.add(has_sku, filter.sku.as_ref().map(|sku| sku_in_json(sku.as_str())));
    if filter.active {
        conditions.sql.push("revoked_at IS NULL");
    }
    conditions.finish(page, ("granted_at", "order_id || ' ' || unit"))
}

/// A sku as our own JSON of lines spells it. Inside a JSON text every quote is escaped, so that this stands nowhere
/// but where a line's sku does, and no server's idea of JSON is asked.
fn sku_in_json(sku: &str) -> Column<'static> {
    owned(format!("\"sku\":{}", serde_json::Value::from(sku)))
}

pub(crate) fn entitlement_cursor((order, unit): &(OrderId, Unit), row: &Entitlement) -> Cursor {
    Cursor { at: row.granted_at, key: format!("{order} {unit}") }
}

pub(crate) fn cases<'a>(filter: &'a CaseFilter, page: &Page) -> Result<Rest<'a>> {
    let mut conditions = Conditions::default();
    conditions.add("order_id = ?", filter.order.as_ref().map(|order| text(order.as_str())));
    if filter.open {
        conditions.sql.push("resolved_at IS NULL");
    }
    conditions.finish(page, ("opened_at", "handle"))
}

pub(crate) fn case_cursor(key: &CaseKey, row: &Case) -> Cursor {
    Cursor { at: row.opened_at, key: key.handle() }
}

pub(crate) fn audits<'a>(filter: &'a AuditFilter, page: &Page) -> Result<Rest<'a>> {
    let mut conditions = Conditions::default();
    conditions.add("order_id = ?", filter.order.as_ref().map(|order| text(order.as_str())));
    conditions.add("\"by\" = ?", filter.by.as_deref().map(text));
    conditions.finish(page, ("at", "command"))
}

pub(crate) fn audit_cursor(key: &AuditKey, _: &Audit) -> Cursor {
    Cursor { at: key.at, key: key.command.to_string() }
}

pub(crate) fn tasks<'a>(filter: &'a TaskFilter, page: &Page) -> Result<Rest<'a>> {
    let mut conditions = Conditions::default();
    if let Some(order) = &filter.order {
        // The whole beginning of the key, although orders have no account: one search, not all tasks of all orders.
        conditions.add("subject_kind = ?", Some(text("order")));
        conditions.add("subject_account = ?", Some(text("")));
        conditions.add("subject_id = ?", Some(text(order.as_str())));
    }
    conditions.add("kind = ?", filter.kind.map(|kind| text(kind.as_str())));
    conditions.add("effect = ?", filter.effect.as_ref().map(|effect| text(effect.as_str())));
    conditions.add("state = ?", filter.state.map(|state| text(state.as_str())));
    conditions.finish(page, ("created_at", "handle"))
}

pub(crate) fn task_cursor(key: &TaskKey, row: &Task) -> Cursor {
    Cursor { at: row.created_at, key: key.handle() }
}

pub(crate) fn products<'a>(page: &Page) -> Result<Rest<'a>> {
    Conditions::default().finish(page, ("set_at", "sku"))
}

pub(crate) fn product_cursor(sku: &Sku, row: &Product) -> Cursor {
    Cursor { at: row.set_at, key: sku.to_string() }
}

/// What one worker may try now. (`active` is written beside the state, so that one small index finds it.)
pub(crate) fn due<'a>(what: &'a Due, now: Timestamp, limit: usize) -> Rest<'a> {
    let (narrow, mut values) = match what {
        Due::Grants => ("", vec![text("grant"), text("")]),
        Due::Lookups(account) => {
            (" AND subject_account = ?", vec![text("lookup"), text(""), owned(account_text(account))])
        }
        Due::Syncs(effect) => ("", vec![text("sync"), text(effect.as_str())]),
        Due::Sends(effect) => ("", vec![text("send"), text(effect.as_str())]),
    };
    values.extend([time(now), rows(limit)]);
    // Not by key as well: the index ends with the time, and a thousand that became due at one moment would be sorted whole
    // for each page.
    let sql = format!(
        "WHERE active = 1 AND kind = ? AND effect = ?{narrow} AND due_at <= ? ORDER BY due_at LIMIT ?"
    );
    (sql, values)
}

/// Open orders whose time is over.
pub(crate) fn expiring(now: Timestamp, limit: usize) -> Rest<'static> {
    let sql = "WHERE state = 'open' AND expires_at <= ? ORDER BY expires_at, id LIMIT ?";
    (sql.to_owned(), vec![time(now), rows(limit)])
}

/// Payments that found no order, by when they were first heard of.
pub(crate) fn unbound((from, to): (Timestamp, Timestamp), limit: usize) -> Rest<'static> {
    let sql =
        "WHERE order_id IS NULL AND first_at > ? AND first_at <= ? ORDER BY first_at, account, id LIMIT ?";
    (sql.to_owned(), vec![time(from), time(to), rows(limit)])
}

/// Tasks that wait for an effect to be configured.
pub(crate) fn parked(effect: &EffectName, limit: usize) -> Rest<'_> {
    let sql = "WHERE state = 'parked' AND effect = ? ORDER BY handle LIMIT ?";
    (sql.to_owned(), vec![text(effect.as_str()), rows(limit)])
}

/// When the event came at which a search for old bodies ends, if it comes that far: a whole statement. `events` is the table
/// of events, named `e`.
pub(crate) fn bodies_edge(events: &str, wanted: &Bodies) -> Rest<'static> {
    let sql = format!(
        "SELECT e.received_at FROM {events} WHERE e.received_at > ? AND e.received_at <= ? ORDER BY e.received_at \
         LIMIT 1 OFFSET ?"
    );
    (sql, vec![time(wanted.after), time(wanted.by), rows(wanted.walk)])
}

/// The account and id of events whose bodies may be dropped: a whole statement. It walks the events by their time, and
/// `dropped_at` needs no index, which each admission would have to write. (`+ 0`, so that the cases of one event are found
/// by their key, and not all open ones for each event.)
pub(crate) fn bodies((events, cases): (&str, &str), wanted: &Bodies, edge: Timestamp) -> Rest<'static> {
    let sql = format!(
        "SELECT e.account, e.id FROM {events} WHERE e.received_at > ? AND e.received_at <= ? \
         AND e.dropped_at IS NULL AND e.outcome IN ('applied', 'held') AND NOT EXISTS (SELECT 1 FROM {cases} AS c \
         WHERE c.subject_kind = 'event' AND c.subject_account = e.account AND c.subject_id = e.id \
         AND c.resolved_at + 0 IS NULL) ORDER BY e.received_at, e.id, e.account LIMIT ?"
    );
    (sql, vec![time(wanted.after), time(edge), rows(wanted.limit)])
}

/// Reads what [`bodies`] gives.
pub(crate) fn event_key(from: &mut Reader<'_>) -> Result<EventKey> {
    Ok(EventKey { account: from.account()?, id: from.id()? })
}

fn rows(limit: usize) -> Column<'static> {
    int(i64::try_from(limit).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use paidonce_ledger::Line;

    #[test]
    fn a_sku_is_found_where_a_line_has_it_and_nowhere_else() {
        let id = |text: &str| text.parse().expect("an id");
        for sku in ["a", "quoted \"a\"", "back\\slash", "\"sku\":\"a\""] {
            let lines = [Line { sku: id(sku), quantity: 1 }, Line { sku: id("z"), quantity: 2 }];
            let json = serde_json::to_string(&lines).expect("JSON");
            let found = |wanted: &str| {
                let Column::Text(needle) = sku_in_json(wanted) else { panic!("a text") };
                json.contains(&*needle)
            };
            assert!(found(sku) && found("z"), "{json}");
            assert!(!found("b") && (sku == "a" || !found("a")), "{json}");
        }
    }
}
