//! One admission by hand: what a careful developer writes for the first notification of a paid order.
//!
//! The schema is paidonce's own, and so are the rows: event with its body, payment, captured fact, the order with its
//! payment and next revision, the task. Three reads, five writes, one transaction. The statements are here once, for
//! rusqlite and for sqlx.

use serde::Deserialize;
use sha2::{Digest, Sha256};

use paidonce_workload::ACCOUNT;

/// The schema, for a database that is new.
pub const SCHEMA: &str = include_str!("../../crates/store/src/sqlite/migrations/0001_ledger.sql");

/// Was this event seen before? (account, id)
pub const EVENT: &str = "SELECT digest FROM event WHERE account = ?1 AND id = ?2";
/// Which order is it about? (account, id)
pub const REFERENCE: &str =
    "SELECT order_id FROM reference WHERE kind = 'provider' AND account = ?1 AND id = ?2";
/// What is due, and what was paid? (id)
pub const ORDER: &str = "SELECT total, money_unit, state, revision, payments FROM orders WHERE id = ?1";
/// A duplicate. (last at, account, id)
pub const REPEATED: &str =
    "UPDATE event SET duplicates = duplicates + 1, last_at = ?1 WHERE account = ?2 AND id = ?3";
/// (account, id, source, kind, payment, content, digest, body, received at = last at)
pub const INSERT_EVENT: &str = "INSERT INTO event
    (account, id, source, kind, outcome, payment, content, digest, body, received_at, duplicates, last_at)
    VALUES (?1, ?2, ?3, ?4, 'applied', ?5, ?6, ?7, ?8, ?9, 0, ?9)";
/// (account, id, order, mentions, first at)
pub const INSERT_PAYMENT: &str =
    "INSERT INTO payment (account, id, order_id, mentions, first_at, asked, listing)
    VALUES (?1, ?2, ?3, ?4, ?5, 0, 0)";
/// (account, payment, unit, amount)
pub const INSERT_FACT: &str = "INSERT INTO fact
    (account, payment, kind, fact_id, stage, money_unit, rank, amount, asked)
    VALUES (?1, ?2, 'captured', ?2, 0, ?3, 1, ?4, 0)";
/// (payments, revision, id)
pub const UPDATE_ORDER: &str = "UPDATE orders SET payments = ?1, revision = ?2 WHERE id = ?3";
/// (order, created at = due at, revision)
pub const INSERT_TASK: &str = "INSERT INTO task
    (order_id, unit, kind, state, created_at, due_at, attempts, order_revision)
    VALUES (?1, 'order', 'grant', 'pending', ?2, ?2, 0, ?3)";

/// A notification that was read, with the values of its rows.
#[derive(Debug, Clone)]
pub struct Notification {
    /// Its id.
    pub id: String,
    /// Its type.
    pub kind: String,
    /// The payment intent.
    pub intent: String,
    /// What the payment names, as JSON.
    pub mentions: String,
    /// The order's payments once this one is among them, as JSON.
    pub payments: String,
    /// The unit of money.
    pub unit: String,
    /// Minor units.
    pub amount: i64,
    /// SHA-256 of the body.
    pub digest: [u8; 32],
    /// The body.
    pub body: Vec<u8>,
}

#[derive(Deserialize)]
struct Event<'a> {
    id: &'a str,
    r#type: &'a str,
    #[serde(borrow)]
    data: Data<'a>,
}

#[derive(Deserialize)]
struct Data<'a> {
    #[serde(borrow)]
    object: Intent<'a>,
}

#[derive(Deserialize)]
struct Intent<'a> {
    id: &'a str,
    amount_received: i64,
    currency: &'a str,
    latest_charge: Option<&'a str>,
    #[serde(borrow)]
    metadata: Metadata<'a>,
}

#[derive(Deserialize)]
struct Metadata<'a> {
    order_id: Option<&'a str>,
}

impl Notification {
    /// Reads a body with serde_json.
    ///
    /// # Errors
    /// It is not such a notification.
    pub fn read(body: &[u8]) -> serde_json::Result<Self> {
        let event: Event<'_> = serde_json::from_slice(body)?;
        let intent = event.data.object;
        let account = account_json();
        let named = intent.latest_charge.into_iter().chain([intent.id]);
        let mut mentions: Vec<_> = named.map(|id| format!(r#"{{"Provider":[{account},"{id}"]}}"#)).collect();
        mentions.extend(intent.metadata.order_id.map(|id| format!(r#"{{"Issued":"{id}"}}"#)));
        Ok(Self {
            id: event.id.to_owned(),
            kind: event.r#type.to_owned(),
            intent: intent.id.to_owned(),
            mentions: format!("[{}]", mentions.join(",")),
            payments: format!(r#"[{{"account":{account},"id":"{}"}}]"#, intent.id),
            unit: intent.currency.to_ascii_uppercase(),
            amount: intent.amount_received,
            digest: Sha256::digest(body).into(),
            body: body.to_vec(),
        })
    }

    /// Whether what was received settles an order in this state.
    #[must_use]
    pub fn covers(&self, total: &str, unit: &str, state: &str) -> bool {
        state == "open" && unit == self.unit && total.parse().is_ok_and(|total: i64| self.amount >= total)
    }
}

fn account_json() -> String {
    let mut parts = ACCOUNT.split('/').map(|part| format!("\"{part}\""));
    let mut next = || parts.next().unwrap_or_default();
    format!(r#"{{"provider":{},"name":{},"mode":{}}}"#, next(), next(), next())
}

/// Milliseconds since the Unix epoch.
#[must_use]
pub fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
}
